import Formats
public import Foundation

/// The reason why stored data could not be used.
public enum PersistenceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A row of the table contains a value that no version of Doorstep writes.
    case unreadable(String)
    /// A row of the table was sealed with a secret that this server does not have.
    case sealed(String)
    /// Users other than the owner could have written the file.
    case exposedFile(String)
    /// The file is too old.
    case outdatedFile(String, asOf: Date)

    public var code: String {
        switch self {
        case .unreadable: "unreadable_row"
        case .sealed: "sealed_row"
        case .exposedFile: "exposed_file"
        case .outdatedFile: "outdated_file"
        }
    }

    public var description: String {
        switch self {
        case .unreadable(let table): "a row of \(table) cannot be read"
        case .sealed(let table):
            "a row of \(table) was encrypted with a secret that this program does not have"
        case .exposedFile(let path):
            "\(path) is not used: other users can write it, or it belongs to another account. Run 'chmod 600' or remove it"
        case .outdatedFile(let path, let asOf):
            "\(path) is not used: it was written at \(asOf.rfc3339), which is older than --table-max-age"
        }
    }

    /// Runs `body`. Any error is replaced by the error for an unreadable row of the table.
    static func reading<Value>(_ table: String, _ body: () throws -> Value) throws(PersistenceError) -> Value
    {
        do {
            return try body()
        } catch {
            throw .unreadable(table)
        }
    }
}

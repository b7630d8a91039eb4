import Encodings
public import Foundation

/// Why what is stored could not be used.
public enum PersistenceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A row of the table holds what no version of Doorstep writes.
    case unreadable(String)
    /// A row of the table was sealed with a secret that this server does not have.
    case sealed(String)
    /// Others than its owner could have written what is in the file.
    case exposedFile(String)
    /// The file tells of a time too long ago.
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
        case .sealed(let table): "a row of \(table) was sealed with a secret that is not known here"
        case .exposedFile(let path):
            "\(path) is not served from: others may write it, or it is not this account's. 'chmod 600' or remove it"
        case .outdatedFile(let path, let asOf):
            "\(path) is not served from: it is of \(asOf.rfc3339), longer ago than --table-max-age allows"
        }
    }

    /// Runs `body`; whatever it throws means that the table's row is unreadable.
    static func reading<Value>(_ table: String, _ body: () throws -> Value) throws(PersistenceError) -> Value
    {
        do {
            return try body()
        } catch {
            throw .unreadable(table)
        }
    }
}

/// Why what is stored could not be used.
public enum PersistenceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A row of the table holds what no version of Doorstep writes.
    case unreadable(String)
    /// A row of the table was sealed with a secret that this server does not have.
    case sealed(String)

    public var code: String {
        switch self {
        case .unreadable: "unreadable_row"
        case .sealed: "sealed_row"
        }
    }

    public var description: String {
        switch self {
        case .unreadable(let table): "a row of \(table) cannot be read"
        case .sealed(let table): "a row of \(table) was sealed with a secret that is not known here"
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

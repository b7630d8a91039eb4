/// How a transaction is isolated, and what it may do.
public struct TransactionMode: Sendable, Hashable {
    public enum Isolation: String, Sendable, Hashable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        case serializable = "SERIALIZABLE"
    }

    public var isolation: Isolation
    public var isReadOnly: Bool
    /// How long each statement may take; `nil` is the pool's `statementTimeout`.
    public var statementTimeout: Duration?

    public init(
        isolation: Isolation = .readCommitted, isReadOnly: Bool = false, statementTimeout: Duration? = nil
    ) {
        self.isolation = isolation
        self.isReadOnly = isReadOnly
        self.statementTimeout = statementTimeout
    }

    public static let readWrite = TransactionMode()
    public static let readOnly = TransactionMode(isReadOnly: true)
    public static let serializable = TransactionMode(isolation: .serializable)
    /// One snapshot for all its statements.
    public static let snapshot = TransactionMode(isolation: .repeatableRead, isReadOnly: true)

    var beginStatement: String {
        var sql = "BEGIN ISOLATION LEVEL \(isolation.rawValue) READ \(isReadOnly ? "ONLY" : "WRITE")"
        if let statementTimeout {
            // A second beyond our own deadline: for the server to stop by itself when we are no more there.
            sql += "; SET LOCAL statement_timeout = \(statementTimeout.components.seconds * 1000 + 1000)"
        }
        return sql
    }
}

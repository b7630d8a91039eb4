/// The isolation and rights of a transaction.
public struct TransactionMode: Sendable, Hashable {
    public enum Isolation: String, Sendable, Hashable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        case serializable = "SERIALIZABLE"
    }

    public var isolation: Isolation
    public var isReadOnly: Bool
    /// The timeout of each statement; nil for the pool's `statementTimeout`.
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

    /// Resets settings and roles to those of the connection string.
    ///
    /// The encoding by its name: behind PgBouncer the session was made by the pooler, perhaps with another one.
    static let resetSettings =
        "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; SET client_encoding = 'UTF8'"

    /// One round trip; none of it reads a table, so `SET TRANSACTION` can still follow.
    var beginStatement: String {
        var sql = "BEGIN ISOLATION LEVEL \(isolation.rawValue) READ \(isReadOnly ? "ONLY" : "WRITE")"
        // A login may hide warnings; COMMIT's must be seen.
        sql += "; \(Self.resetSettings); SET LOCAL client_min_messages = notice"
        if let statementTimeout {
            // A second beyond our own deadline: for the server to stop by itself when we are no more there.
            // The server counts milliseconds in 31 bits.
            let seconds = min(max(statementTimeout, .zero), .seconds(2_147_482)).components.seconds
            sql += "; SET LOCAL statement_timeout = \(seconds * 1000 + 1000)"
        }
        return sql
    }
}

/// The reason why a request to PostgreSQL failed.
///
/// `description` is safe to log: names of constraints, tables and columns, never values.
public enum PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The connection string is not one libpq can parse, or names no possible host, port or database.
    case connectionString
    /// No host could be connected to; the reason is libpq's, with host and user names but no password.
    case connectFailed(reason: String)
    /// The database stores text in an encoding other than UTF8, such as `LATIN1` or `SQL_ASCII`.
    case databaseEncoding(String)
    /// The connection broke; the transaction it was in is rolled back.
    case connectionLost
    /// The connection broke while a COMMIT, or a statement outside any transaction, was under way: it may
    /// have been done or not.
    case outcomeUnknown
    /// A deadline passed.
    case timeout(Phase)
    /// The task was cancelled.
    case cancelled
    /// As many tasks wait for a connection as the pool allows.
    case poolExhausted
    /// The pool is closed, or closing.
    case poolClosed
    /// A connection or transaction was used after its closure had returned.
    case leaseEnded
    /// The server refused.
    case server(ServerError)
    /// The closure returned normally, but a statement in it had failed, so the server rolled back.
    case rolledBack
    /// A statement such as COMMIT or ROLLBACK ended the transaction that the closure should end.
    case transactionEnded
    /// A value cannot be bound.
    case encoding(reason: String)
    /// A column does not contain the requested type.
    case decoding(column: String, expected: String, found: String)
    case columnCount(expected: Int, found: Int)
    case noColumn(name: String)
    /// One row was expected.
    case rowCount(found: Int)
    /// A statement began a COPY unexpectedly, or did not begin the expected COPY.
    case unexpectedCopy
    /// The data of a COPY is not in PostgreSQL's binary format, or has another number of columns.
    case malformedCopy
    /// A statement was run inside the closure of a COPY; nothing was sent, and the COPY continues.
    case notSent
    /// The migrations given are not numbered from 1 without gaps.
    case migrationNumbering
    /// The database has a migration that this program does not know, and that is not compatible with it.
    case databaseIsNewer(database: Int, binary: Int)
    /// A migration that was applied differs from the one given.
    case migrationChanged(version: Int)
    /// A later migration was applied, this one was not.
    case migrationGap(version: Int)
    /// A migration failed, and nothing of it was kept; those before it stay.
    case migrationFailed(version: Int, name: String, error: ServerError)

    /// The purpose of a deadline.
    public enum Phase: String, Sendable, Hashable {
        case acquiring, connecting, statement
    }

    /// A stable name.
    public var code: String {
        switch self {
        case .connectionString: "connection_string"
        case .connectFailed: "connect_failed"
        case .databaseEncoding: "database_encoding"
        case .connectionLost: "connection_lost"
        case .outcomeUnknown: "outcome_unknown"
        case .timeout(let phase): "timeout_\(phase.rawValue)"
        case .cancelled: "cancelled"
        case .poolExhausted: "pool_exhausted"
        case .poolClosed: "pool_closed"
        case .leaseEnded: "lease_ended"
        case .server: "server"
        case .rolledBack: "rolled_back"
        case .transactionEnded: "transaction_ended"
        case .encoding: "encoding"
        case .decoding: "decoding"
        case .columnCount: "column_count"
        case .noColumn: "no_column"
        case .rowCount: "row_count"
        case .unexpectedCopy: "unexpected_copy"
        case .malformedCopy: "malformed_copy"
        case .notSent: "not_sent"
        case .migrationNumbering: "migration_numbering"
        case .databaseIsNewer: "database_is_newer"
        case .migrationChanged: "migration_changed"
        case .migrationGap: "migration_gap"
        case .migrationFailed: "migration_failed"
        }
    }

    public var description: String {
        switch self {
        case .connectionString: "The database connection string cannot be parsed"
        case .connectFailed(let reason): "No connection to the database: \(reason)"
        case .databaseEncoding(let encoding):
            "The database's encoding must be UTF8; got \(encoding). Create a database with ENCODING 'UTF8' TEMPLATE template0"
        case .connectionLost: "The connection to the database was lost"
        case .outcomeUnknown:
            "The connection was lost during COMMIT: it is unknown whether the change was made"
        case .timeout(.acquiring): "No database connection became free in time"
        case .timeout(.connecting): "The database did not accept a new connection in time"
        case .timeout(.statement): "A statement took longer than allowed"
        case .cancelled: "The task was cancelled"
        case .poolExhausted: "Too many tasks wait for a database connection"
        case .poolClosed: "The connection pool is closed"
        case .leaseEnded: "A database connection was used after its return to the pool"
        case .server(let error) where error.sqlState == "42501":
            "The database login lacks a privilege: \(error)"
        case .server(let error): "The database refused a statement: \(error)"
        case .rolledBack: "The transaction was rolled back because a statement in it had failed"
        case .transactionEnded: "A statement ended the transaction it was run in"
        case .encoding(let reason): "A value cannot be sent to the database: \(reason)"
        case .decoding(let column, let expected, let found):
            "Column \(column) holds \(found), not \(expected)"
        case .columnCount(let expected, let found): "The result has \(found) columns, not \(expected)"
        case .noColumn(let name): "The result has no column \(name)"
        case .rowCount(let found): "The result has \(found) rows, not 1"
        case .malformedCopy: "A COPY of the database cannot be read"
        case .unexpectedCopy: "A COPY was run as a statement, or a statement as a COPY"
        case .notSent: "A statement was run while a COPY was under way"
        case .migrationNumbering: "The migrations are not numbered from 1 without gaps"
        case .databaseIsNewer(let database, let binary):
            "The database is at migration \(database), which is incompatible with this program (\(binary)): install a newer version"
        case .migrationChanged(let version): "Migration \(version) differs from the applied one"
        case .migrationGap(let version): "Migration \(version) was never applied, but a later one was"
        case .migrationFailed(let version, let name, let error):
            "Migration \(version) (\(name)) failed and was undone: \(error)"
        }
    }

    /// The server's report, when the server refused.
    public var serverError: ServerError? {
        switch self {
        case .server(let error), .migrationFailed(_, _, let error): error
        default: nil
        }
    }

    /// The server's five-character code, when the server refused.
    public var sqlState: String? { serverError?.sqlState }

    /// Whether a unique constraint, this one if it is named, refused a row.
    public func isUniqueViolation(_ constraint: String? = nil) -> Bool {
        guard let error = serverError, error.sqlState == "23505" else { return false }
        return constraint == nil || error.constraint == constraint
    }

    /// Whether the server ended a statement before its completion: its time was over, by the clock of the day, so that setting
    /// the clock can end it too soon; or it was cancelled. Nothing of its transaction was kept.
    public var isCancelledStatement: Bool { serverError?.sqlState == "57014" }

    /// Whether a lock was not available within `lock_timeout`.
    public var isLockTimeout: Bool { serverError?.sqlState == "55P03" }

    /// Whether a row pointed to one that does not exist, or was still pointed to.
    public func isForeignKeyViolation(_ constraint: String? = nil) -> Bool {
        guard let error = serverError, error.sqlState == "23503" else { return false }
        return constraint == nil || error.constraint == constraint
    }

    /// Whether a CHECK, this one if it is named, refused a row.
    public func isCheckViolation(_ constraint: String? = nil) -> Bool {
        guard let error = serverError, error.sqlState == "23514" else { return false }
        return constraint == nil || error.constraint == constraint
    }

    /// Whether the same transaction, run again from its start, may succeed; nothing of it was kept.
    public var isRetryable: Bool {
        switch self {
        case .connectionLost: true
        case .server(let error): error.isTransient
        default: false
        }
    }

    /// Whether the database did not respond, or not as the primary, rather than refusing the request.
    public var isNoResponse: Bool {
        switch self {
        case .connectFailed, .connectionLost, .outcomeUnknown, .timeout, .poolExhausted, .poolClosed: true
        default: isRetryable || isCancelledStatement
        }
    }
}

extension ServerError {
    /// Serialization failure, deadlock, a demoted primary, a server going down or coming up, a full disk, no memory (its
    /// own or that of locks), too many connections, a prepared statement that a pooler or a schema change took away.
    var isTransient: Bool {
        ["40001", "40P01", "57P01", "57P02", "57P03", "53100", "53200", "53300"].contains(sqlState)
            || isMissingStatement || isStalePlan || isOfStandby
    }

    /// Whether a write reached a read-only server, which is not the primary yet or any longer.
    var isOfStandby: Bool { sqlState == "25006" || isRefusedBegin }

    /// "cannot set transaction read-write mode during recovery", "cannot use serializable mode in a hot standby": BEGIN at a
    /// standby, known by the function.
    private var isRefusedBegin: Bool {
        sqlState == "0A000" && ["call_bool_check_hook", "call_enum_check_hook"].contains(sourceFunction)
    }

    /// "prepared statement … does not exist": a pooler has given the transaction another session of the server.
    var isMissingStatement: Bool { sqlState == "26000" }

    /// "cached plan must not change result type". The function identifies the error, because the text is translated.
    var isStalePlan: Bool {
        sqlState == "0A000" && sourceFunction == "RevalidateCachedQuery"
    }
}

/// The database of a pool, its number of connections, and its timeouts.
public struct PoolConfiguration: Sendable {
    /// A libpq connection string or URI: several hosts, `target_session_attrs`, `sslmode` and the rest included.
    public var conninfo: String
    public var maximumConnections: Int
    /// The maximum number of tasks that wait for a connection. Further tasks are refused at once.
    public var maximumWaiters: Int
    /// The time for which a task waits for a connection.
    public var acquireTimeout: Duration
    /// The time for connecting to all hosts together. Each remaining host gets an equal share.
    public var connectTimeout: Duration
    /// The timeout of a statement. After it, the connection is closed.
    public var statementTimeout: Duration
    /// After this long without use a connection is closed.
    public var idleTimeout: Duration
    /// The maximum number of prepared statements of a connection. 0 prepares none. A pool that detects a pooler prepares none
    /// either.
    public var preparedStatements: Int
    /// Shown in `pg_stat_activity`, unless the connection string or PGAPPNAME sets another name.
    public var applicationName: String
    /// Receives the server's notices and warnings, on a connection's own thread.
    public var onNotice: @Sendable (ServerError) -> Void
    /// Called once, on a connection's own thread, when the pool stops preparing statements because a prepared statement was
    /// missing.
    public var onUnprepared: @Sendable () -> Void
    /// Observes statements and waits for a connection, in the task that runs them; nil for no observation.
    public var observer: Observer?

    /// Called when an operation begins. The returned closure, if any, is called when the operation ends, with its error.
    public typealias Observer = @Sendable (Operation) -> (@Sendable (PostgreSQLError?) -> Void)?

    /// An observed operation.
    public enum Operation: Sendable {
        case waitForConnection
        /// A statement; `Query.summary` names it without its values.
        case statement(Query)
        case script
        case commit
    }

    public init(
        conninfo: String, maximumConnections: Int = 8, maximumWaiters: Int = 1024,
        acquireTimeout: Duration = .seconds(5), connectTimeout: Duration = .seconds(5),
        statementTimeout: Duration = .seconds(30), idleTimeout: Duration = .seconds(300),
        preparedStatements: Int = 256, applicationName: String = "",
        onNotice: @escaping @Sendable (ServerError) -> Void = { _ in },
        onUnprepared: @escaping @Sendable () -> Void = {}, observer: Observer? = nil
    ) {
        self.conninfo = conninfo
        self.maximumConnections = maximumConnections
        self.maximumWaiters = maximumWaiters
        self.acquireTimeout = acquireTimeout
        self.connectTimeout = connectTimeout
        self.statementTimeout = statementTimeout
        self.idleTimeout = idleTimeout
        self.preparedStatements = preparedStatements
        self.applicationName = applicationName
        self.onNotice = onNotice
        self.onUnprepared = onUnprepared
        self.observer = observer
    }
}

extension PoolConfiguration {
    /// Whether the connection string itself contains a password. False for an invalid one.
    public var holdsPassword: Bool { (try? ConnectionString(conninfo))?.holdsPassword ?? false }
}

/// Leaves out the connection string, which may contain a password.
extension PoolConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String {
        "PoolConfiguration(maximumConnections: \(maximumConnections), applicationName: \(applicationName))"
    }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "maximumConnections": maximumConnections, "maximumWaiters": maximumWaiters,
                "acquireTimeout": acquireTimeout, "connectTimeout": connectTimeout,
                "statementTimeout": statementTimeout, "idleTimeout": idleTimeout,
                "preparedStatements": preparedStatements, "applicationName": applicationName,
            ])
    }
}

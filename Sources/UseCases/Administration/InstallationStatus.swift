public import Foundation

/// The state of a deployment: its servers, its schema, its database connections and its queues.
public struct InstallationStatus: Sendable, Hashable {
    /// The release, as the database names it.
    public let databaseRelease: String
    /// The last applied migration.
    public let schemaVersion: Int
    /// The last migration that the program knows.
    public let knownSchemaVersion: Int
    /// Sorted by login.
    public let connections: [Connections]
    public let queues: [Queue]
    /// The last seen server first.
    public let servers: [Server]

    /// A server (`doorstep serve`), by its own records. Times are the database's.
    public struct Server: Sendable, Hashable {
        public let host: String
        public let version: String
        public let startedAt: Date
        public let seenAt: Date
        /// Nil unless the server stopped in an orderly way.
        public let endedAt: Date?
        public let isRunning: Bool

        /// The number of seconds without a record after which a server counts as stopped: two records are missing. [ours]
        public static let maximumSilence = 35

        public init(
            host: String, version: String, startedAt: Date, seenAt: Date, endedAt: Date?, isRunning: Bool
        ) {
            self.host = host
            self.version = version
            self.startedAt = startedAt
            self.seenAt = seenAt
            self.endedAt = endedAt
            self.isRunning = isRunning
        }
    }

    /// The number of connections of one login and one program (`application_name`).
    public struct Connections: Sendable, Hashable {
        public let login: String
        public let program: String
        public let count: Int

        public init(login: String, program: String, count: Int) {
            self.login = login
            self.program = program
            self.count = count
        }
    }

    /// The waiting messages of all tenants, of one kind.
    public struct Queue: Sendable, Hashable {
        public enum Kind: String, Sendable, CaseIterable {
            case deliveries
            case webhookMessages
        }

        public let kind: Kind
        /// At most ``countLimit``.
        public let count: Int
        /// The due time of the first message; nil if none waits.
        public let firstDueAt: Date?

        public init(kind: Kind, count: Int, firstDueAt: Date?) {
            self.kind = kind
            self.count = count
            self.firstDueAt = firstDueAt
        }
    }

    /// The number at which counting stops, because counting reads each message. [ours]
    public static let countLimit = 100_000

    public init(
        databaseRelease: String, schemaVersion: Int, knownSchemaVersion: Int, connections: [Connections],
        queues: [Queue], servers: [Server]
    ) {
        self.databaseRelease = databaseRelease
        self.schemaVersion = schemaVersion
        self.knownSchemaVersion = knownSchemaVersion
        self.connections = connections
        self.queues = queues
        self.servers = servers
    }
}

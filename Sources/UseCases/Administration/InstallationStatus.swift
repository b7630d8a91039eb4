public import Foundation

/// The state of a deployment: its schema, its database connections and its queues.
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
        queues: [Queue]
    ) {
        self.databaseRelease = databaseRelease
        self.schemaVersion = schemaVersion
        self.knownSchemaVersion = knownSchemaVersion
        self.connections = connections
        self.queues = queues
    }
}

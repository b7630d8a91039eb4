public import Foundation

/// The state of a deployment: its schema, its database connections and its queues.
public struct InstallationStatus: Sendable, Hashable {
    /// The database's own name of its release.
    public let databaseRelease: String
    /// The last migration that was applied, and the last that the program knows.
    public let schemaVersion: Int
    public let knownSchemaVersion: Int
    /// By login.
    public let connections: [Connections]
    public let queues: [Queue]

    /// So many connections of one login to the database, by what their program calls itself.
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

    /// What waits to be sent, of all tenants.
    public struct Queue: Sendable, Hashable {
        public enum Kind: String, Sendable, CaseIterable {
            case deliveries
            case webhookMessages
        }

        public let kind: Kind
        /// Up to ``countLimit``.
        public let count: Int
        /// The due time of the first one; nil if none waits.
        public let firstDueAt: Date?

        public init(kind: Kind, count: Int, firstDueAt: Date?) {
            self.kind = kind
            self.count = count
            self.firstDueAt = firstDueAt
        }
    }

    /// How many of what waits are counted, at most: counting reads each. [ours]
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

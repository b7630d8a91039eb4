public import struct Foundation.Date

/// One step of a schema: once it is merged it never changes.
public struct Migration: Sendable, Hashable {
    /// From 1, without gaps.
    public let version: Int
    public let name: String
    /// Statements separated by semicolons, none of them ending the transaction they run in.
    public let sql: String

    public init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}

/// A migration that the database has.
public struct AppliedMigration: Sendable, Hashable {
    public let version: Int
    public let name: String
    /// The SHA-256 of its text, in hexadecimal.
    public let checksum: String
    public let appliedAt: Date
}

/// How far a database is.
public struct MigrationStatus: Sendable, Hashable {
    public let applied: [AppliedMigration]
    public let pending: [Migration]

    /// The last version that was applied; 0 for none.
    public var version: Int { applied.last?.version ?? 0 }

    public var isCurrent: Bool { pending.isEmpty }
}

public import struct Foundation.Date

/// One step of a schema: once it is merged it never changes.
public struct Migration: Sendable, Hashable {
    /// From 1, without gaps.
    public let version: Int
    public let name: String
    /// Statements separated by semicolons, none of them ending the transaction they run in.
    public let sql: String
    /// The oldest version whose programs work with a database that has this migration, for a migration that only adds
    /// something: old servers run while others are upgraded, and again after a rollback. The migration's own version if it
    /// removes something or was not tried.
    public let compatibleFrom: Int

    /// - Parameter compatibleFrom: Nil for its own version.
    public init(version: Int, name: String, sql: String, compatibleFrom: Int? = nil) {
        self.version = version
        self.name = name
        self.sql = sql
        self.compatibleFrom = compatibleFrom ?? version
    }
}

/// A migration that the database has.
public struct AppliedMigration: Sendable, Hashable {
    public let version: Int
    public let name: String
    /// The SHA-256 of its text, in hexadecimal.
    public let checksum: String
    public let appliedAt: Date
    /// See ``Migration/compatibleFrom``; nil for one that was applied before this was written down.
    public let compatibleFrom: Int?
}

/// How far a database is.
public struct MigrationStatus: Sendable, Hashable {
    public let applied: [AppliedMigration]
    public let pending: [Migration]

    /// The last version that was applied; 0 for none.
    public var version: Int { applied.last?.version ?? 0 }

    /// Whether no migration is pending. A database may have later migrations, if they are compatible.
    public var isCurrent: Bool { pending.isEmpty }
}

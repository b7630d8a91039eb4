public import struct Foundation.Date

/// One step of a schema. A merged migration never changes.
public struct Migration: Sendable, Hashable {
    /// From 1, without gaps.
    public let version: Int
    public let name: String
    /// Statements separated by semicolons. None of them may end the transaction.
    public let sql: String
    /// The oldest version whose programs work with a database that has this migration. Old servers run during an upgrade, and again
    /// after a rollback.
    ///
    /// If the migration removes something, or was not tested with older servers, this is the migration's own version.
    public let compatibleFrom: Int

    /// - Parameter compatibleFrom: Nil for the migration's own version.
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

/// The applied and pending migrations of a database.
public struct MigrationStatus: Sendable, Hashable {
    public let applied: [AppliedMigration]
    public let pending: [Migration]

    /// The last version that was applied; 0 for none.
    public var version: Int { applied.last?.version ?? 0 }

    /// Whether no migration is pending. A database may have later migrations, if they are compatible.
    public var isCurrent: Bool { pending.isEmpty }
}

import struct Foundation.Date

/// Brings a database's schema up to date.
///
/// All pending migrations are applied in one transaction under an advisory lock: another process that migrates
/// at the same moment waits and then finds nothing to do, and a migration that fails leaves nothing behind.
public struct MigrationRunner: Sendable {
    private let migrations: [Migration]
    private let schema: String
    private let lockKey: Int64
    private let role: String?
    private let prelude: String?
    private let statementTimeout: Duration
    private let lockTimeout: Duration

    /// - Parameters:
    ///   - migrations: in order, numbered from 1 without gaps.
    ///   - schema: where the table `schema_migrations` is kept; made when it is missing.
    ///   - lockKey: the advisory lock's key, the same in every program that migrates this schema.
    ///   - role: made the current role before the first migration, so that it owns what they make.
    ///   - prelude: statements run before everything else, each time, without that role.
    ///   - statementTimeout: for each migration, and for the wait for another process.
    ///   - lockTimeout: for each lock on what is migrated: whoever comes later queues behind a migration that waits.
    public init(
        _ migrations: [Migration], schema: String, lockKey: Int64, role: String? = nil,
        prelude: String? = nil, statementTimeout: Duration = .seconds(600),
        lockTimeout: Duration = .seconds(10)
    ) throws(PostgreSQLError) {
        guard migrations.map(\.version) == Array(1..<migrations.count + 1) else { throw .migrationNumbering }
        self.migrations = migrations
        self.schema = schema
        self.lockKey = lockKey
        self.role = role
        self.prelude = prelude
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
    }

    /// Applies what is pending and returns it; nothing when the database is up to date.
    ///
    /// Throws `databaseIsNewer`, `migrationChanged` or `migrationGap` when the database is not one this list
    /// can be applied to, and `migrationFailed` when the server refuses a migration.
    @discardableResult
    public func migrate(on pool: ConnectionPool) async throws -> [Migration] {
        try await pool.withTransaction(TransactionMode(statementTimeout: statementTimeout)) { transaction in
            // A migration may leave settings of its session behind.
            transaction.lease.spend()
            try await transaction.execute("SELECT pg_advisory_xact_lock(\(lockKey))")
            let milliseconds = Int(lockTimeout / .milliseconds(1))
            try await transaction.execute("SELECT set_config('lock_timeout', \("\(milliseconds)ms"), true)")
            if let prelude { try await transaction.execute(script: prelude) }
            if let role { try await transaction.execute("SET LOCAL ROLE \(identifier: role)") }
            try await createTable(transaction)
            let pending = try await status(transaction).pending
            for migration in pending {
                try await apply(migration, transaction)
            }
            return pending
        }
    }

    /// How far the database is; throws as `migrate` does when it is not one this list can be applied to.
    public func status(on pool: ConnectionPool) async throws -> MigrationStatus {
        try await pool.withTransaction(.readOnly) { transaction in
            if let role { try await transaction.execute("SET LOCAL ROLE \(identifier: role)") }
            guard try await tableExists(transaction) else {
                return MigrationStatus(applied: [], pending: migrations)
            }
            return try await status(transaction)
        }
    }

    private func apply(_ migration: Migration, _ transaction: Transaction) async throws {
        try await transaction.execute(script: "SAVEPOINT migration_script")
        do throws(PostgreSQLError) {
            try await transaction.execute(script: migration.sql)
        } catch .server(let error) {
            try await requireSavepoint("ROLLBACK TO SAVEPOINT", transaction)
            throw PostgreSQLError.migrationFailed(
                version: migration.version, name: migration.name, error: error)
        }
        try await requireSavepoint("RELEASE SAVEPOINT", transaction)
        try await transaction.execute(
            """
            INSERT INTO \(identifier: schema).schema_migrations (version, name, checksum)
            VALUES (\(migration.version), \(migration.name), encode(sha256(\(Array(migration.sql.utf8))), 'hex'))
            """)
    }

    /// The savepoint is gone exactly when the script has ended our transaction, even if it began another one.
    private func requireSavepoint(_ command: String, _ transaction: Transaction) async throws(PostgreSQLError)
    {
        do throws(PostgreSQLError) {
            try await transaction.execute(script: "\(command) migration_script")
        } catch .server {
            throw .transactionEnded
        }
    }

    // MARK: - The table

    private func tableExists(_ transaction: Transaction) async throws -> Bool {
        try await transaction.execute(
            """
            SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                WHERE nspname = \(schema) AND relname = 'schema_migrations')
            """
        ).one().decode(at: 0)
    }

    private func createTable(_ transaction: Transaction) async throws {
        // `IF NOT EXISTS` would ask for the right to create even when there is nothing to do.
        let hasSchema = try await transaction.execute(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = \(schema))"
        ).one().decode(at: 0, as: Bool.self)
        if !hasSchema { try await transaction.execute("CREATE SCHEMA \(identifier: schema)") }
        guard try await !tableExists(transaction) else { return }
        try await transaction.execute(
            """
            CREATE TABLE \(identifier: schema).schema_migrations (
                version bigint PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now())
            """)
    }

    private func status(_ transaction: Transaction) async throws -> MigrationStatus {
        let applied = try await transaction.execute(
            """
            SELECT version, name, checksum, applied_at
            FROM \(identifier: schema).schema_migrations ORDER BY version
            """
        ).map { row throws(PostgreSQLError) in
            let (version, name, checksum, appliedAt) = try row.decode(
                Int.self, String.self, String.self, Date.self)
            return AppliedMigration(
                version: version, name: name, checksum: checksum, appliedAt: appliedAt)
        }
        let checksums = try await transaction.execute(
            """
            SELECT encode(sha256(convert_to(sql, 'UTF8')), 'hex')
            FROM unnest(\(migrations.map(\.sql))) WITH ORDINALITY AS m (sql, n) ORDER BY n
            """
        ).map { row throws(PostgreSQLError) in try row.decode(at: 0, as: String.self) }
        return try Self.compare(applied, migrations, checksums)
    }

    /// Holds what the database has against the list.
    static func compare(
        _ applied: [AppliedMigration], _ migrations: [Migration], _ checksums: [String]
    ) throws(PostgreSQLError) -> MigrationStatus {
        if let last = applied.last, last.version > migrations.count {
            throw .databaseIsNewer(database: last.version, binary: migrations.count)
        }
        for (index, migration) in applied.enumerated() {
            guard migration.version == index + 1 else { throw .migrationGap(version: index + 1) }
            guard migration.checksum == checksums[index] else {
                throw .migrationChanged(version: migration.version)
            }
        }
        return MigrationStatus(applied: applied, pending: Array(migrations.dropFirst(applied.count)))
    }
}

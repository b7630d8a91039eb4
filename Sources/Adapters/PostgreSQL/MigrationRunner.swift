import struct Foundation.Date

/// Brings a database's schema up to date.
///
/// Each pending migration is applied in its own transaction under an advisory lock: another process that migrates at the same
/// time waits and continues with the next one, and a failed migration leaves nothing behind. Under load, one transaction for
/// all would need so many locks that it hardly gets them, and others would wait for each.
public struct MigrationRunner: Sendable {
    private let migrations: [Migration]
    private let schema: String
    private let lockKey: Int64
    private let role: String?
    private let prelude: String?
    private let statementTimeout: Duration
    private let lockTimeout: Duration
    private let attempts: Int

    /// - Parameters:
    ///   - migrations: In order, numbered from 1 without gaps.
    ///   - schema: The schema of the table `schema_migrations`. It is created if it is missing.
    ///   - lockKey: The key of the advisory lock, the same in every program that migrates this schema.
    ///   - role: Becomes the current role before the first migration, so that it owns the created objects.
    ///   - prelude: Statements that run first, each time, without that role.
    ///   - statementTimeout: For each migration, and for the wait for another process.
    ///   - lockTimeout: For each lock of a migration, because later transactions queue behind a waiting migration.
    ///   - attempts: The maximum number of attempts of a migration that does not get its locks, or that is part of a deadlock.
    public init(
        _ migrations: [Migration], schema: String, lockKey: Int64, role: String? = nil,
        prelude: String? = nil, statementTimeout: Duration = .seconds(600),
        lockTimeout: Duration = .seconds(10), attempts: Int = 1
    ) throws(PostgreSQLError) {
        guard migrations.map(\.version) == Array(1..<migrations.count + 1) else { throw .migrationNumbering }
        self.migrations = migrations
        self.schema = schema
        self.lockKey = lockKey
        self.role = role
        self.prelude = prelude
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.attempts = attempts
    }

    /// Applies the pending migrations and returns them; empty if the database is up to date.
    ///
    /// Throws `databaseIsNewer`, `migrationChanged` or `migrationGap` if this list cannot be applied to the database, and
    /// `migrationFailed` if the server refuses a migration. A database with later migrations is up to date if each of them
    /// declares this list compatible.
    @discardableResult
    public func migrate(on pool: ConnectionPool) async throws -> [Migration] {
        var applied: [Migration] = []
        // Earlier statements belong to the first one.
        while let migration = try await applyNext(on: pool, after: applied.isEmpty ? prelude : nil) {
            applied.append(migration)
        }
        return applied
    }

    private func applyNext(on pool: ConnectionPool, after prelude: String?) async throws -> Migration? {
        for _ in 1..<max(1, attempts) {
            do {
                return try await applyNextOnce(on: pool, after: prelude)
            } catch let error as PostgreSQLError where error.isLackOfALock {
                // Other transactions hold the locks that it needs, and continue meanwhile.
                try await Task.sleep(for: Self.pause * Double.random(in: 0.5...1.5))
            }
        }
        return try await applyNextOnce(on: pool, after: prelude)
    }

    private static let pause = Duration.milliseconds(200)

    private func applyNextOnce(on pool: ConnectionPool, after prelude: String?) async throws -> Migration? {
        try await pool.withTransaction(TransactionMode(statementTimeout: statementTimeout)) { transaction in
            // A migration may leave settings of its session behind.
            transaction.lease.spend()
            try await transaction.execute("SELECT pg_advisory_xact_lock(\(lockKey))")
            let milliseconds = Int(lockTimeout / .milliseconds(1))
            try await transaction.execute("SELECT set_config('lock_timeout', \("\(milliseconds)ms"), true)")
            if let prelude { try await transaction.execute(script: prelude) }
            if let role { try await transaction.execute("SET LOCAL ROLE \(identifier: role)") }
            try await createTable(transaction)
            guard let migration = try await status(transaction).pending.first else { return nil }
            try await apply(migration, transaction)
            return migration
        }
    }

    /// The state of the database. Throws like `migrate` if these migrations cannot be applied to it.
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
            try await lockTables(of: migration, transaction)
            try await transaction.execute(script: migration.sql)
        } catch .server(let error) {
            try await requireSavepoint("ROLLBACK TO SAVEPOINT", transaction)
            throw PostgreSQLError.migrationFailed(
                version: migration.version, name: migration.name, error: error)
        }
        try await requireSavepoint("RELEASE SAVEPOINT", transaction)
        try await transaction.execute(
            """
            INSERT INTO \(identifier: schema).schema_migrations (version, name, checksum, compatible_from)
            VALUES (\(migration.version), \(migration.name), encode(sha256(\(Array(migration.sql.utf8))), 'hex'),
                \(migration.compatibleFrom))
            """)
    }

    /// Locks the tables that a migration names, as `schema.table` or as a string that it makes statements of, before it changes
    /// any of them, always in the same order, and all of them within the time of one.
    ///
    /// A statement that builds an index lets others read, but the next one may not: a transaction that reads and then writes
    /// would wait for the migration, and the migration for it. Tables that the role may not lock, because it may change no row
    /// of them (PostgreSQL, `LOCK`), are left to the migration's own statements.
    private func lockTables(of migration: Migration, _ transaction: Transaction) async throws(PostgreSQLError)
    {
        let tables = try await transaction.execute(
            """
            SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
            WHERE nspname = \(schema) AND relkind IN ('r', 'p') AND NOT relispartition
                AND (strpos(\(migration.sql), nspname::text || '.' || relname::text) > 0
                    OR strpos(\(migration.sql), quote_literal(relname::text)) > 0)
                AND has_table_privilege(pg_class.oid, 'UPDATE, DELETE, TRUNCATE')
            ORDER BY relname
            """
        ).map { row throws(PostgreSQLError) in try row.decode(at: 0, as: String.self) }
        // If it holds one lock and waits a second or more for the next, PostgreSQL may end a waiting request as a deadlock
        // (`deadlock_timeout`).
        let deadline = ContinuousClock.now + lockTimeout
        for table in tables {
            let left = max(1, Int(ContinuousClock.now.duration(to: deadline) / .milliseconds(1)))
            try await transaction.execute("SELECT set_config('lock_timeout', \("\(left)ms"), true)")
            try await transaction.execute(
                "LOCK TABLE \(identifier: schema).\(identifier: table) IN ACCESS EXCLUSIVE MODE")
        }
        let milliseconds = Int(lockTimeout / .milliseconds(1))
        try await transaction.execute("SELECT set_config('lock_timeout', \("\(milliseconds)ms"), true)")
    }

    /// The savepoint is missing exactly if the script has ended our transaction, even if it began another one.
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
        // `IF NOT EXISTS` would require the right to create even if the object exists.
        let hasSchema = try await transaction.execute(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = \(schema))"
        ).one().decode(at: 0, as: Bool.self)
        if !hasSchema { try await transaction.execute("CREATE SCHEMA \(identifier: schema)") }
        guard try await !tableExists(transaction) else { return try await addColumn(transaction) }
        try await transaction.execute(
            """
            CREATE TABLE \(identifier: schema).schema_migrations (
                version bigint PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now(),
                compatible_from bigint)
            """)
    }

    /// A table that an earlier release made lacks it.
    private func addColumn(_ transaction: Transaction) async throws {
        let hasColumn = try await transaction.execute(
            """
            SELECT EXISTS (SELECT FROM pg_attribute
                WHERE attrelid = to_regclass(\("\(schema).schema_migrations")) AND attname = 'compatible_from')
            """
        ).one().decode(at: 0, as: Bool.self)
        guard !hasColumn else { return }
        try await transaction.execute(
            "ALTER TABLE \(identifier: schema).schema_migrations ADD COLUMN compatible_from bigint")
    }

    private func status(_ transaction: Transaction) async throws -> MigrationStatus {
        // Read as JSON, because the table of an earlier release lacks the last column.
        let applied = try await transaction.execute(
            """
            SELECT version, name, checksum, applied_at, (to_jsonb(m) ->> 'compatible_from')::bigint
            FROM \(identifier: schema).schema_migrations AS m ORDER BY version
            """
        ).map { row throws(PostgreSQLError) in
            let (version, name, checksum, appliedAt, compatibleFrom) = try row.decode(
                Int.self, String.self, String.self, Date.self, Int?.self)
            return AppliedMigration(
                version: version, name: name, checksum: checksum, appliedAt: appliedAt,
                compatibleFrom: compatibleFrom)
        }
        let checksums = try await transaction.execute(
            """
            SELECT encode(sha256(convert_to(sql, 'UTF8')), 'hex')
            FROM unnest(\(migrations.map(\.sql))) WITH ORDINALITY AS m (sql, n) ORDER BY n
            """
        ).map { row throws(PostgreSQLError) in try row.decode(at: 0, as: String.self) }
        return try Self.compare(applied, migrations, checksums)
    }

    /// Compares the database with the list.
    static func compare(
        _ applied: [AppliedMigration], _ migrations: [Migration], _ checksums: [String]
    ) throws(PostgreSQLError) -> MigrationStatus {
        let later = applied.filter { $0.version > migrations.count }
        if let last = later.last,
            !later.allSatisfy({ $0.compatibleFrom.map { $0 <= migrations.count } ?? false })
        {
            throw .databaseIsNewer(database: last.version, binary: migrations.count)
        }
        for (index, migration) in applied.enumerated() {
            guard migration.version == index + 1 else { throw .migrationGap(version: index + 1) }
            guard index >= checksums.count || migration.checksum == checksums[index] else {
                throw .migrationChanged(version: migration.version)
            }
        }
        return MigrationStatus(applied: applied, pending: Array(migrations.dropFirst(applied.count)))
    }
}

extension PostgreSQLError {
    /// Whether a lock was not to be had in time, or was waited for by two who waited for each other (PostgreSQL, "Error
    /// Codes": `lock_not_available`, `deadlock_detected`).
    fileprivate var isLackOfALock: Bool {
        switch self {
        case .server(let error), .migrationFailed(_, _, let error):
            error.sqlState == "55P03" || error.sqlState == "40P01"
        default: false
        }
    }
}

public import PostgreSQL

/// The IDs of the secrets that sealed data in a database. A trigger stores them.
public struct PostgresTokenSecrets: Sendable {
    /// The stored secrets, compared with the secrets of a program.
    public struct Comparison: Sendable, Hashable {
        /// The number of stored secrets that the program has.
        public var readable = 0
        /// The number of stored secrets that it lacks.
        public var unreadable = 0

        public init(readable: Int = 0, unreadable: Int = 0) {
            self.readable = readable
            self.unreadable = unreadable
        }

        /// Whether there is sealed data, and the program can open none of it.
        public var opensNothing: Bool { readable == 0 && unreadable > 0 }
    }

    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// Compares the stored secrets with a program's secrets. The role is `doorstep_router`.
    public func compare(with keys: SealingKeys) async throws -> Comparison {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute("SELECT secret_id FROM doorstep.token_secrets").reduce(
                into: Comparison()
            ) { comparison, row in
                if keys.contains(try row.decode(at: 0)) {
                    comparison.readable += 1
                } else {
                    comparison.unreadable += 1
                }
            }
        }
    }

    /// Forgets all secrets except the newest. Call it when no other secret seals data. The role is `doorstep_admin`.
    public func forgetAll(but keys: SealingKeys) async throws {
        try await pool.withTransaction(as: .admin, .readWrite) { transaction in
            _ = try await transaction.execute(
                "DELETE FROM doorstep.token_secrets WHERE secret_id <> \(keys.newestID)")
        }
    }
}

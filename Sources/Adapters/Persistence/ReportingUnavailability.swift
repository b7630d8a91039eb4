import PostgreSQL
import Tenancy

/// Runs a store's work, and throws ``StoreUnavailable`` if the database does not respond or a lock is held for too long.
nonisolated(nonsending) func reportingUnavailability<Result: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Result
) async throws -> Result {
    do {
        return try await body()
    } catch let error as PostgreSQLError where error.isNoResponse || error.isLockTimeout {
        throw StoreUnavailable()
    }
}

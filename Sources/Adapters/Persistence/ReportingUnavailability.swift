import PostgreSQL
import Tenancy

/// Runs a store's work; where the database does not answer, or somebody else holds what is needed for too long, that is
/// ``StoreUnavailable``.
nonisolated(nonsending) func reportingUnavailability<Result: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Result
) async throws -> Result {
    do {
        return try await body()
    } catch let error as PostgreSQLError where error.isNoResponse || error.isLockTimeout {
        throw StoreUnavailable()
    }
}

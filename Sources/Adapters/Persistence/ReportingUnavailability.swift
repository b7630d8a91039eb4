import PostgreSQL
import Tenancy

/// Runs a store's work, and throws ``StoreUnavailable`` if the database does not respond or a lock is held for too long.
nonisolated(nonsending) func reportingUnavailability<Result: Sendable>(
    _ body: nonisolated(nonsending) () async throws -> Result
) async throws -> Result {
    do {
        return try await body()
    } catch let error as PostgreSQLError where error.isNoResponse || error.isLockTimeout {
        throw StoreUnavailable(error)
    }
}

extension StoreUnavailable {
    /// The error with the cause of PostgreSQL's error.
    init(_ error: PostgreSQLError) {
        self.init(error.unavailabilityCause)
    }
}

extension PostgreSQLError {
    /// The cause of a failed transaction, as a stable name for the log.
    var unavailabilityCause: String {
        switch (self, sqlState) {
        case (.timeout(.acquiring), _): "pool_timeout"
        case (.timeout(.statement), _), (_, "57014"): "statement_timeout"
        case (.timeout(.connecting), _), (.connectFailed, _), (.connectionLost, _): "no_connection"
        case (_, "55P03"): "lock_timeout"
        case (_, "53100"): "disk_full"
        case (_, "25006"), (_, "0A000"): "read_only"
        case (_, "53300"): "too_many_connections"
        case (_, "40P01"): "deadlock"
        case (_, let state?): "sqlstate_\(state)"
        default: code
        }
    }
}

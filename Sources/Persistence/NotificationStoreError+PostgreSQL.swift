import Notifications
import PostgreSQL

extension NotificationStoreError {
    /// Runs a body; that the database did not answer in time, or not at all, is thrown as `unavailable`.
    nonisolated(nonsending) static func reporting<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as PostgreSQLError where error.isOfUnavailability {
            throw NotificationStoreError.unavailable
        }
    }
}

extension PostgreSQLError {
    /// Whether it says nothing of what was asked, but that the database is not to be asked now.
    fileprivate var isOfUnavailability: Bool {
        switch self {
        case .connectFailed, .connectionLost, .outcomeUnknown, .timeout, .poolExhausted, .poolClosed: true
        default: isRetryable
        }
    }
}

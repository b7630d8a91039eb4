public import Tenancy

/// Stores idempotency keys for 24 hours, with the responses to their requests.
///
/// All methods throw `StoreUnavailable` if the database does not respond.
public protocol IdempotencyStore: Sendable {
    /// Claims the key for one attempt, unless another attempt is running or has succeeded.
    func claim(_ key: IdempotencyKey, of tenant: TenantID) async throws -> IdempotencyClaim.Outcome

    /// Stores the response.
    /// - Parameter sealedResponse: At most ``IdempotencyClaim/maximumResponseLength`` bytes.
    func complete(_ claim: IdempotencyClaim, with sealedResponse: [UInt8]) async throws

    /// Ends an attempt that failed. The key is free again, unless the attempt's transaction was committed.
    func release(_ claim: IdempotencyClaim) async throws
}

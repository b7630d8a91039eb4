public import Foundation
public import Tenancy

/// The right of one attempt to carry out the request of an idempotency key.
public struct IdempotencyClaim: Sendable, Hashable {
    public let tenant: TenantID
    /// The key's name in the store.
    public let key: String
    /// New for each attempt. After another attempt replaces this one, this one can write nothing.
    public let id: UUID

    public init(tenant: TenantID, key: String, id: UUID) {
        self.tenant = tenant
        self.key = key
        self.id = id
    }

    /// The claim of the request that this task carries out.
    ///
    /// A task-local value, so that each transaction that writes for the request also records that the request was performed,
    /// without a parameter in every store.
    @TaskLocal public static var current: IdempotencyClaim?

    /// The response to a request with an idempotency key, as far as the store knows.
    public enum Outcome: Sendable, Hashable {
        /// The request must be carried out now.
        case claimed(IdempotencyClaim)
        /// The request was carried out by the claim; its response is sealed.
        case completed(IdempotencyClaim, sealedResponse: [UInt8])
        /// Another attempt is running.
        case inUse
        /// The key belongs to another request.
        case reused
        /// The request was carried out, but its response was not stored.
        case responseLost
        /// The tenant has ``maximumCount`` keys already.
        case tooMany
    }

    /// The maximum number of stored keys of a tenant, without the keys of notifications. [ours]
    public static let maximumCount = 10_000
    /// The maximum number of bytes of a sealed response. [ours]
    public static let maximumResponseLength = 262_144
}

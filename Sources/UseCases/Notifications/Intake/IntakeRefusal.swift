import APNsPayload

/// The reason why a notification is not accepted.
public enum IntakeRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    case composition(CompositionRefusal)
    case idempotencyKeyReused
    /// The tenant has no such channel of the clip in the environment.
    case unknownChannel
    /// The tenant has no such instance; a restricted key sees only instances that were launched at its locations.
    case unknownInstance
    /// The channel stores no message, and the notification has an expiration: APNs refuses it. [Apple]
    case channelStoresNothing
    /// The tenant is a test tenant, and the audience is in the environment `production`.
    case sandboxOnly
    /// The notification does not fit the audience.
    case wrongAudience(String)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .composition(let refusal): refusal.code
        case .idempotencyKeyReused: "idempotency_key_reused"
        case .unknownChannel: "unknown_channel"
        case .unknownInstance: "unknown_instance"
        case .channelStoresNothing: Self.expirationWithoutStorage.code
        case .sandboxOnly: "sandbox_only"
        case .wrongAudience: "wrong_audience"
        }
    }

    public var description: String {
        switch self {
        case .composition(let refusal): refusal.description
        case .idempotencyKeyReused: "the Idempotency-Key was used for another request within 24 hours"
        case .unknownChannel: "the clip has no such channel in this environment"
        case .unknownInstance: "no instance has this ID"
        case .channelStoresNothing: Self.expirationWithoutStorage.description
        case .sandboxOnly: "a test tenant notifies only in the environment sandbox"
        case .wrongAudience(let reason): reason
        }
    }

    static let expirationWithoutStorage = PayloadError.invalid(
        field: "headers.expiration", reason: "must be 0 or left out: the channel stores no message")
}

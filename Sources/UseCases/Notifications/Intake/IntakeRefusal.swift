/// Why a notification is not taken in.
public enum IntakeRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    case composition(CompositionRefusal)
    case idempotencyKeyReused
    /// The tenant has no such channel of the clip in the environment.
    case unknownChannel
    /// What is to be sent does not go to those it is for.
    case wrongAudience(String)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .composition(let refusal): refusal.code
        case .idempotencyKeyReused: "idempotency_key_reused"
        case .unknownChannel: "unknown_channel"
        case .wrongAudience: "wrong_audience"
        }
    }

    public var description: String {
        switch self {
        case .composition(let refusal): refusal.description
        case .idempotencyKeyReused: "the Idempotency-Key was used for another request within 24 hours"
        case .unknownChannel: "the clip has no such channel in this environment"
        case .wrongAudience(let reason): reason
        }
    }
}

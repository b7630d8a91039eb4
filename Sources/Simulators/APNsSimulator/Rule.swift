public import APNsPayload
public import Foundation

/// What the simulator does with some requests or connections that it would not do by itself.
public struct Rule: Sendable, Hashable {
    public var effect: Effect
    /// How long after the request its answer is sent, or after the connection its TLS begins.
    public var delay: Duration
    /// How often the rule applies; nil for always.
    public var times: Int?
    /// Of those that it could apply to, the share that it does, from 0 to 1.
    public var probability: Double
    /// Decides which those are: equal seeds, equal choices.
    public var seed: UInt64
    /// A device token in lower-case hexadecimal digits; nil for every request.
    public var device: String?

    public enum Effect: Sendable, Hashable {
        /// The request is judged as ever; for the rule's delay.
        case pass
        /// The reason is answered with its own status, whatever the request; a 410 with the time, or now.
        case response(APNsReason, invalidSince: Date? = nil)
        /// The request is taken, and never answered.
        case never
        /// The stream is reset, with a code of RFC 9113 §7: 7 (REFUSED_STREAM) says that nothing was done.
        case reset(code: Int)
        /// The connection is closed without a word.
        case cut
        /// The connection is to be left, for a reason: this request and those after it are not looked at, or it is the
        /// last that is.
        case goAway(reason: String, accepting: Bool)
        /// From now on the connection may have so many streams; the request is judged as ever.
        case streams(Int)
        /// A new connection is closed before TLS.
        case refuseTLS
        /// A new connection waits for the rule's delay before TLS begins.
        case slowStart

        /// Whether it is for connections and not for requests.
        var isForConnections: Bool {
            switch self {
            case .refuseTLS, .slowStart: true
            default: false
            }
        }
    }

    public init(
        _ effect: Effect, delay: Duration = .zero, times: Int? = nil, probability: Double = 1,
        seed: UInt64 = 0, device: String? = nil
    ) {
        self.effect = effect
        self.delay = delay
        self.times = times
        self.probability = probability
        self.seed = seed
        self.device = device
    }
}

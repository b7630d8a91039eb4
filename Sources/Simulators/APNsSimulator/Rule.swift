public import APNsPayload
public import Foundation

/// A rule that changes the simulator's behavior for some requests or connections.
public struct Rule: Sendable, Hashable {
    public var effect: Effect
    /// The delay of the response, or of TLS on a new connection.
    public var delay: Duration
    /// The number of times that the rule applies; nil for always.
    public var times: Int?
    /// The probability that the rule applies to a matching request or connection, from 0 to 1.
    public var probability: Double
    /// The seed of these decisions. Equal seeds give equal decisions.
    public var seed: UInt64
    /// A device token in lower-case hexadecimal digits; nil for every request.
    public var device: String?

    public enum Effect: Sendable, Hashable {
        /// The request gets its normal response, after the rule's delay.
        case pass
        /// The request gets this reason with its status, whatever the request. A 410 has the given time, or the current one.
        case response(APNsReason, invalidSince: Date? = nil)
        /// The request is accepted and gets no response.
        case never
        /// The stream is reset, with a code of RFC 9113 §7. The code 7 (REFUSED_STREAM) means that the request was not processed.
        case reset(code: Int)
        /// The connection is closed without GOAWAY.
        case cut
        /// GOAWAY with a reason is sent. This request is the last one that is judged; if `accepting` is false, it is not judged
        /// either.
        case goAway(reason: String, accepting: Bool)
        /// The connection may have this number of streams from now on. The request gets its normal response.
        case streams(Int)
        /// A new connection is closed before TLS.
        case refuseTLS
        /// TLS on a new connection begins after the rule's delay.
        case slowStart

        /// Whether the rule applies to connections, not to requests.
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

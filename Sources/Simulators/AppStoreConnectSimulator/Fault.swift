/// A fault that changes the simulator's behavior for some requests.
public struct Fault: Sendable, Hashable {
    public var effect: Effect
    /// The delay of the response.
    public var delay: Duration = .zero
    /// The number of times that the fault occurs; nil for always.
    public var times: Int?
    /// The probability that the fault occurs at a matching request, from 0 to 1.
    public var probability = 1.0
    /// The seed of these decisions. Equal seeds give equal decisions.
    public var seed = 0
    /// Nil for every method.
    public var method: String?
    /// The beginning of the path.
    public var path = ""

    public enum Effect: Sendable, Hashable {
        /// The request gets its normal response, after the delay.
        case pass
        /// The request has no effect, and gets an error.
        case response(status: Int, code: String, retryAfter: Int?)
        /// The request has no effect, and the connection is closed without a response.
        case cut
        /// The request takes effect, and the connection is closed without a response.
        case loseReply
        /// The request takes effect, and only half of the response's body is sent, with a matching length.
        case truncate
        /// The first row of a page of a listing occurs twice.
        case repeatRow
        /// The first row of a page of a listing is missing.
        case omitRow
    }

    public init(_ effect: Effect, times: Int? = nil, method: String? = nil, path: String = "") {
        self.effect = effect
        self.times = times
        self.method = method
        self.path = path
    }
}

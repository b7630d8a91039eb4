/// What the simulator does with some requests that it would not do by itself.
public struct Fault: Sendable, Hashable {
    public var effect: Effect
    /// How long after the request its answer is sent.
    public var delay: Duration = .zero
    /// How often it happens; nil for always.
    public var times: Int?
    /// Of the requests that it could happen to, the share that it does, from 0 to 1.
    public var probability = 1.0
    /// Decides which those are: equal seeds, equal choices.
    public var seed = 0
    /// Nil for every method.
    public var method: String?
    /// What the path begins with.
    public var path = ""

    public enum Effect: Sendable, Hashable {
        /// The request is answered as ever; for the delay.
        case pass
        /// Nothing is done.
        case response(status: Int, code: String, retryAfter: Int?)
        /// Nothing is done, and the connection is closed without a word.
        case cut
        /// All is done, and the connection is closed without a word.
        case loseReply
        /// All is done, and half of the answer's body is sent, as if it were all.
        case truncate
        /// A page of a listing has its first row twice.
        case repeatRow
        /// A page of a listing has its first row not at all.
        case omitRow
    }

    public init(_ effect: Effect, times: Int? = nil, method: String? = nil, path: String = "") {
        self.effect = effect
        self.times = times
        self.method = method
        self.path = path
    }
}

/// The reason why App Store Connect did not carry out a request, as far as a run needs it.
public struct ServiceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public let verdict: Verdict
    /// Apple's most specific code, such as `STATE_ERROR`, or one of Doorstep's, such as `no_answer`.
    public let code: String
    /// A pointer into the body, or the name of a parameter, where Apple names one.
    public let source: String?
    /// The request ID that Apple needs to investigate a failure.
    public let requestID: String?
    /// Whether the request may have taken effect although it failed.
    public let mayHaveHappened: Bool
    /// Whether there were too many requests; the pacer then knows how long to wait.
    public let isTooManyRequests: Bool
    /// Safe to log.
    public let description: String

    /// How the run continues.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// No further request with this key can succeed: a person must act at Apple.
        case stop
        /// Nothing is wrong with the request: it may be sent again later, a creation only once it is known not to have happened.
        case wait
        /// Such an experience may already exist; a list shows it.
        case settle
        /// The resource cannot be changed in the state it is in.
        case blocked
        /// The resource does not exist.
        case gone
        /// The same request will always be refused.
        case reject
    }

    public init(
        _ verdict: Verdict, code: String, source: String? = nil, requestID: String? = nil,
        mayHaveHappened: Bool = false, isTooManyRequests: Bool = false, description: String
    ) {
        self.verdict = verdict
        self.code = code
        self.source = source
        self.requestID = requestID
        self.mayHaveHappened = mayHaveHappened
        self.isTooManyRequests = isTooManyRequests
        self.description = description
    }

    /// The lists have gaps or duplicate rows, even after repeated requests.
    static let incompleteListing = Self(
        .wait, code: "incomplete_listing",
        description: "the lists of App Store Connect have gaps or duplicate rows")

    /// Whether it is the image that is refused: that one image may serve many experiences is documented nowhere.
    var isAboutImage: Bool { source == "/data/relationships/headerImage" }

    /// Whether the clip itself is the reason, so that further creations would fail too.
    var isAboutClip: Bool { source == "/data/relationships/appClip" }
}

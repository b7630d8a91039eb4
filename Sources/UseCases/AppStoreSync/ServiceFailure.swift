/// Why App Store Connect did not do what it was asked, as far as a run decides by it.
public struct ServiceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public let verdict: Verdict
    /// Apple's code that says most, such as `STATE_ERROR`; or one of ours, such as `no_answer`.
    public let code: String
    /// A pointer into the body, or the name of a parameter, where Apple names one.
    public let source: String?
    /// What Apple asks for when it is told of a failure.
    public let requestID: String?
    /// Whether the request may have done its work all the same.
    public let mayHaveHappened: Bool
    /// Whether there were too many requests: whoever paces them knows how long to wait.
    public let isTooManyRequests: Bool
    /// Safe to log.
    public let description: String

    /// What is to be done about it.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// Nothing more can be done with this key: somebody has to do something at Apple.
        case stop
        /// Nothing is wrong with the request: it may be sent again later, a creation only once it is known not to have happened.
        case wait
        /// There may be such an experience already: a listing tells.
        case settle
        /// The resource cannot be changed in the state it is in.
        case blocked
        /// There is no such resource.
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

    /// What was listed has gaps, or rows that come twice, however often it is asked for.
    static let incompleteListing = Self(
        .wait, code: "incomplete_listing",
        description: "the lists of App Store Connect have gaps or duplicate rows")

    /// Whether it is the image that is refused: that one image may serve many experiences is documented nowhere.
    var isAboutImage: Bool { source == "/data/relationships/headerImage" }

    /// Whether it is the clip that takes no more, or is none: so it will be with the next creation.
    var isAboutClip: Bool { source == "/data/relationships/appClip" }
}

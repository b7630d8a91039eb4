public import Routing

/// Whether the person is at the business, as `APActivationPayload.confirmAcquired(in:)` means it.
public struct Confirmation: Sendable, Hashable {
    public let outcome: Outcome
    /// False when the accuracy of the fix leaves the other answer possible, or when nothing speaks for
    /// either.
    public let isCertain: Bool
    /// The error of `APActivationPayloadErrorDomain` that says so; nil for `inRegion` and `notInRegion`.
    public let error: ActivationError?
    /// The business in question; nil when there is none, or when the person's location may not be confirmed.
    public let location: Location?

    public enum Outcome: String, Sendable, CaseIterable {
        case inRegion
        case notInRegion
        /// No business is known for the invocation URL.
        case doesNotMatch
        /// The launch was not a physical one, or the person does not let the clip confirm.
        case disallowed
        /// Nothing speaks for where the person is.
        case undetermined
    }

    init(_ outcome: Outcome, isCertain: Bool = true, error: ActivationError? = nil, location: Location? = nil)
    {
        self.outcome = outcome
        self.isCertain = isCertain
        self.error = error
        self.location = location
    }

    static let doesNotMatch = Confirmation(.doesNotMatch, error: .doesNotMatch)
    static let disallowed = Confirmation(.disallowed, error: .disallowed)

    static func undetermined(
        at location: Location, code: Int = ActivationError.undetermined.code
    ) -> Confirmation {
        Confirmation(
            .undetermined, isCertain: false, error: ActivationError(code: code), location: location)
    }
}

/// An error of the domain `APActivationPayloadErrorDomain`.
///
/// The domain and the codes 1 and 2 are Apple's ("APActivationPayloadError.Code"); −1 has been observed.
public struct ActivationError: Error, Sendable, Hashable {
    public let code: Int

    public static let domain = "APActivationPayloadErrorDomain"
    public static let disallowed = ActivationError(code: 1)
    public static let doesNotMatch = ActivationError(code: 2)
    public static let undetermined = ActivationError(code: -1)

    /// Apple's name of the code where Apple gives one, else `undetermined` [ours].
    public var name: String {
        switch self {
        case .disallowed: "disallowed"
        case .doesNotMatch: "doesNotMatch"
        default: "undetermined"
        }
    }
}

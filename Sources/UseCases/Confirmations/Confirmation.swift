import Geodesy
import Invocation
public import Lookups
public import Receipts

/// Whether the person is at the business, as `APActivationPayload.confirmAcquired(in:)` means it.
public struct Confirmation: Sendable, Hashable {
    public let outcome: Outcome
    /// False if the accuracy of the fix leaves the other outcome possible, or if there is no evidence.
    public let isCertain: Bool
    /// The evidence for the outcome.
    public let evidence: Evidence
    /// The matching error of `APActivationPayloadErrorDomain`; nil for `inRegion` and `notInRegion`.
    public let error: ActivationError?
    /// The business; nil if there is none, or if the person's location may not be confirmed.
    public let location: Location?

    public typealias Outcome = Receipt.Outcome
    public typealias Evidence = Receipt.Evidence

    init(
        _ outcome: Outcome, isCertain: Bool = true, evidence: Evidence = .none, error: ActivationError? = nil,
        location: Location? = nil
    ) {
        self.outcome = outcome
        self.isCertain = isCertain
        self.evidence = evidence
        self.error = error
        self.location = location
    }

    /// Decides a request, given the location of its URL, or nil if there is none.
    ///
    /// The order of the refusals is ours; Apple documents none.
    public init(of request: ConfirmationRequest, at location: Location?) {
        self = Self.decide(request, at: location)
    }

    private static func decide(_ request: ConfirmationRequest, at location: Location?) -> Confirmation {
        guard let location else { return .doesNotMatch }
        if case .device(let result) = request.evidence { return decide(result, at: location) }
        if request.source.rulesOutPhysicalCode || request.access == .denied { return .disallowed }
        guard case .coordinate(let coordinate, let accuracy) = request.evidence, accuracy?.meters ?? 0 >= 0
        else { return .undetermined(at: location) }
        let containment = location.region.containment(
            of: coordinate, horizontalAccuracy: accuracy ?? Distance(meters: 0))
        return Confirmation(
            containment.isInside ? .inRegion : .notInRegion, isCertain: containment.isCertain,
            evidence: .coordinate, location: location)
    }

    /// Adopts the decision of iOS, which knows how the clip was launched: the request's source and access are not checked.
    private static func decide(
        _ result: ConfirmationRequest.DeviceResult, at location: Location
    ) -> Confirmation {
        switch result {
        case .inRegion(let isInRegion):
            Confirmation(isInRegion ? .inRegion : .notInRegion, evidence: .device, location: location)
        case .error(ActivationError.disallowed.code):
            Confirmation(.disallowed, evidence: .device, error: .disallowed)
        case .error(ActivationError.doesNotMatch.code):
            Confirmation(.doesNotMatch, evidence: .device, error: .doesNotMatch)
        case .error(let code):
            .undetermined(at: location, evidence: .device, code: code)
        }
    }

    static let doesNotMatch = Confirmation(.doesNotMatch, error: .doesNotMatch)
    static let disallowed = Confirmation(.disallowed, error: .disallowed)

    static func undetermined(
        at location: Location, evidence: Evidence = .none, code: Int = ActivationError.undetermined.code
    ) -> Confirmation {
        Confirmation(
            .undetermined, isCertain: false, evidence: evidence, error: ActivationError(code: code),
            location: location)
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

    /// Apple's name of the code if Apple names one; otherwise `undetermined` [ours].
    public var name: String {
        switch self {
        case .disallowed: "disallowed"
        case .doesNotMatch: "doesNotMatch"
        default: "undetermined"
        }
    }
}

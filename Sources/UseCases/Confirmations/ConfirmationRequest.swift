public import Geodesy
public import Invocation

/// The evidence of a clip or a full app about whether the person is at the business.
///
/// The coordinate belongs to a person: it is used for one response, and never appears in a description, a record or the log.
public struct ConfirmationRequest: Sendable, CustomStringConvertible, CustomReflectable {
    public let url: InvocationURL
    public let source: InvocationSource
    public let access: LocationAccess
    public let evidence: Evidence
    /// Whether software on the device created the fix (`CLLocationSourceInformation.isSimulatedBySoftware` [Apple]); nil if
    /// unknown. It has no effect on the outcome.
    public let isSimulated: Bool?

    /// Whether the person lets the clip confirm their location.
    public enum LocationAccess: String, Sendable, CaseIterable {
        case allowed
        case denied
        case unknown
    }

    /// The evidence of the person's location.
    public enum Evidence: Sendable, CustomStringConvertible, CustomReflectable {
        case none
        /// A position fix. A negative accuracy means that the fix is invalid (Apple, `CLLocation.horizontalAccuracy`), so that
        /// there is no evidence; nil means unknown.
        case coordinate(Coordinate, horizontalAccuracy: Distance?)
        /// The result of `confirmAcquired(in:)` on the device.
        case device(DeviceResult)

        public var description: String { "evidence" }
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    public enum DeviceResult: Sendable, Hashable {
        case inRegion(Bool)
        /// A code of `APActivationPayloadError`.
        case error(code: Int)
    }

    public init(
        url: InvocationURL, source: InvocationSource, access: LocationAccess, evidence: Evidence,
        isSimulated: Bool? = nil
    ) {
        self.url = url
        self.source = source
        self.access = access
        self.evidence = evidence
        self.isSimulated = isSimulated
    }

    public var description: String { "confirmation from \(source.rawValue), access \(access.rawValue)" }
    public var customMirror: Mirror { Mirror(self, children: ["source": source, "access": access]) }
}

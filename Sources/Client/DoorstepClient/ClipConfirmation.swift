/// The clip's evidence that the person is at the location.
public enum PresenceEvidence: Sendable, Hashable {
    /// The result of `confirmAcquired(in:)`: the system's own verdict, without a coordinate.
    case device(DeviceResult)
    /// A fix, for apps where the system gives no verdict: the full app has no `confirmAcquired(in:)`
    /// [Apple].
    case coordinate(ClipLocation.Coordinate)
    /// No evidence: the outcome is undetermined, unless the launch is disallowed.
    case none
}

/// The outcome of `APActivationPayload.confirmAcquired(in:completionHandler:)`.
public enum DeviceResult: Sendable, Hashable {
    /// The system's verdict.
    case inRegion(Bool)
    /// An error of `APActivationPayloadErrorDomain`: 1 disallowed, 2 does not match [Apple].
    case failed(code: Int)
}

/// How a clip was launched, if the clip knows. Apple's payload does not contain it.
public enum LaunchSource: String, Sendable, Codable, CaseIterable {
    case nfc
    case appClipCode = "app_clip_code"
    case qrCode = "qr_code"
    case maps
    case messages
    case mail
    case safari
    case spotlight
    case siri
    case app
    case appLibrary = "app_library"
    case notification
    case unknown
}

/// Whether the person allowed the App Clip's location confirmation.
public enum LocationAccess: String, Sendable, Codable {
    case allowed
    case denied
    case unknown
}

/// The server's response to a confirmation.
public struct ClipConfirmation: Sendable, Hashable, Codable {
    /// The outcome, as `confirmAcquired(in:)` would give it. No outcome is thrown as an error.
    public enum Outcome: String, Sendable, Codable, CaseIterable {
        /// At the location.
        case inRegion
        /// Somewhere else.
        case notInRegion
        /// The URL leads to no location.
        case doesNotMatch
        /// The launch was not by a tag or a code, or the person does not allow the confirmation.
        case disallowed
        /// There was no evidence.
        case undetermined
    }

    /// The verdict.
    public var outcome: Outcome
    /// False if the fix's accuracy also allows the other outcome.
    public var certain: Bool
    /// The location that the URL leads to; nil if there is none, or if it is not disclosed (`disallowed`).
    public var location: ClipLocation?
    /// A JSON Web Token, valid for ten minutes, that an ordering system verifies by itself; nil if the
    /// server signs no receipts.
    public var receipt: String?

    /// Creates a confirmation from a response's members: for previews and tests.
    public init(outcome: Outcome, certain: Bool, location: ClipLocation?, receipt: String? = nil) {
        self.outcome = outcome
        self.certain = certain
        self.location = location
        self.receipt = receipt
    }
}

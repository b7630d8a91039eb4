/// What a clip knows of whether the person is at the place.
public enum PresenceEvidence: Sendable, Hashable {
    /// What `confirmAcquired(in:)` gave: the system's own verdict, without a coordinate.
    case device(DeviceResult)
    /// A fix, where the device cannot say: in the full app, which has no `confirmAcquired(in:)` [documented].
    case coordinate(ClipLocation.Coordinate)
    /// Nothing: the answer is undetermined, unless the launch is disallowed.
    case none
}

/// The outcome of `APActivationPayload.confirmAcquired(in:completionHandler:)`.
public enum DeviceResult: Sendable, Hashable {
    /// The system's verdict.
    case inRegion(Bool)
    /// An error of `APActivationPayloadErrorDomain`: 1 disallowed, 2 does not match [documented].
    case failed(code: Int)
}

/// How a clip was launched, where it knows. Apple's payload does not say.
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

/// The server's answer to a confirmation.
public struct ClipConfirmation: Sendable, Hashable, Codable {
    /// What `confirmAcquired(in:)` would say. All of them are answers.
    public enum Outcome: String, Sendable, Codable, CaseIterable {
        /// At the place.
        case inRegion
        /// Somewhere else.
        case notInRegion
        /// The URL leads to no place.
        case doesNotMatch
        /// The launch was by no tag or code, or the person does not allow it.
        case disallowed
        /// There was nothing to go by.
        case undetermined
    }

    /// The verdict.
    public var outcome: Outcome
    /// False when the fix's accuracy leaves the other answer possible.
    public var certain: Bool
    /// The place that was asked about; nil where there is none, and where nothing is told of it (`disallowed`).
    public var location: ClipLocation?
    /// A JSON Web Token, good for ten minutes, that an ordering system verifies by itself; nil where the server signs none.
    public var receipt: String?

    /// Takes what the server answers: for previews and tests.
    public init(outcome: Outcome, certain: Bool, location: ClipLocation?, receipt: String? = nil) {
        self.outcome = outcome
        self.certain = certain
        self.location = location
        self.receipt = receipt
    }
}

public import APNsPayload

/// Something about a composed notification that its sender may not expect.
public enum CompositionWarning: Sendable, Hashable, CustomStringConvertible {
    case payload(PayloadWarning)
    /// The requested expiration was more than eight hours after the launch.
    case expirationShortened

    public var code: String {
        switch self {
        case .payload(let warning): warning.code
        case .expirationShortened: "expiration_shortened"
        }
    }

    public var description: String {
        switch self {
        case .payload(let warning): "\(warning)"
        case .expirationShortened:
            "apns-expiration is 8 hours after the launch: no notification reaches the App Clip later"
        }
    }
}

/// How the App Clip was launched, as the clip reports it.
public enum InvocationSource: String, Sendable, CaseIterable {
    case nfc
    case appClipCode = "app_clip_code"
    case qrCode = "qr_code"
    case maps
    case messages
    case safari
    case spotlight
    case siri
    case app
    case appLibrary = "app_library"
    case notification
    case unknown

    /// Whether the launch itself took a physical code.
    ///
    /// Only a launch from an NFC tag or a visual code can be confirmed (Apple,
    /// `APActivationPayloadError.disallowed`).
    public var isPhysical: Bool {
        switch self {
        case .nfc, .appClipCode, .qrCode: true
        default: false
        }
    }
}

/// How the App Clip was launched, as far as the clip knows: `APActivationPayload` has only a URL. [Apple]
public enum InvocationSource: String, Sendable, CaseIterable {
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

    /// Whether the launch used neither an NFC tag nor a visual code, according to the clip; false if unknown.
    ///
    /// Only a launch from one of these can be confirmed (Apple, `APActivationPayloadError.disallowed`).
    public var rulesOutPhysicalCode: Bool {
        switch self {
        case .nfc, .appClipCode, .qrCode, .unknown: false
        case .maps, .messages, .mail, .safari, .spotlight, .siri, .app, .appLibrary, .notification: true
        }
    }
}

/// The kind of a notification, as the header `apns-push-type` names it.
///
/// Source: "Sending notification requests to APNs". [Apple]
public enum PushType: String, Sendable, Hashable, CaseIterable {
    case alert
    case background
    case complication
    case controls
    case fileProvider = "fileprovider"
    case liveActivity = "liveactivity"
    case location
    case mdm
    case pushToTalk = "pushtotalk"
    case voip
    case widgets

    /// The bytes a payload may have: 5,120 for VoIP, else 4,096. [Apple]
    public var maximumPayloadSize: Int {
        self == .voip ? 5_120 : 4_096
    }

    /// The maximum size in bytes of a payload for a channel. [Apple]
    public static let maximumBroadcastPayloadSize = 5_120

    /// Returns the header `apns-topic` for an app or App Clip.
    ///
    /// Nil for `mdm`, whose topic is in the certificate. [Apple]
    public func topic(bundleID: String) -> String? {
        switch self {
        case .alert, .background: bundleID
        case .complication: bundleID + ".complication"
        case .controls: bundleID + ".push-type.controls"
        case .fileProvider: bundleID + ".pushkit.fileprovider"
        case .liveActivity: bundleID + ".push-type.liveactivity"
        case .location: bundleID + ".location-query"
        case .mdm: nil
        case .pushToTalk: bundleID + ".voip-ptt"
        case .voip: bundleID + ".voip"
        case .widgets: bundleID + ".push-type.widgets"
        }
    }

    /// The reason why an App Clip cannot receive notifications of this type; nil for `alert` and
    /// `liveactivity`.
    ///
    /// "Choosing the right functionality for your App Clip" excludes background activity and everything
    /// that the Background Modes capability enables. It also excludes File Provider, CallKit, and every app
    /// extension except the widget extension of "Offering Live Activities with your App Clip", which in
    /// turn can only include Live Activities [Apple]. That it excludes these push types is our reading
    /// [ours].
    public var reasonAppClipsCannotReceiveIt: String? {
        switch self {
        case .alert, .liveActivity: nil
        case .background: "an App Clip cannot run in the background"
        case .complication: "an App Clip has no watchOS app"
        case .controls, .widgets: "the widget extension of an App Clip can only include Live Activities"
        case .fileProvider: "an App Clip cannot be a File Provider"
        case .location: "an App Clip cannot have a location push service extension"
        case .mdm: "device management is not for apps"
        case .pushToTalk: "an App Clip cannot use the background mode that Push to Talk needs"
        case .voip: "an App Clip cannot use the background mode that VoIP needs"
        }
    }
}

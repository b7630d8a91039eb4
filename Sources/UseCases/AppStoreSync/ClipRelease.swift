public import Formats

/// Whether a version of the app that has the clip is on the App Store.
///
/// Source: App Store Connect API 4.4.1, `appStoreVersion` of a build and `appVersionState` of that version. [Apple]
public struct ClipRelease: Sendable, Hashable {
    /// Nil if unknown: no checked build is on the App Store, and older builds exist.
    public let isPublished: Bool?
    /// The published version. If none is published, the version of the newest build that has one, such as `1.2`.
    public let version: String?
    /// The state of that version in Apple's words, such as `READY_FOR_DISTRIBUTION`.
    public let state: String?

    public init(isPublished: Bool?, version: String?, state: String?) {
        self.isPublished = isPublished
        self.version = version
        self.state = state
    }

    /// In words.
    public var text: String {
        let latest = state.map { "\(version ?? "its version") is \($0)" }
        return switch (isPublished, latest) {
        case (true?, let latest): "on the App Store" + (latest.map { ": \($0)" } ?? "")
        case (false?, let latest?): "not on the App Store: \(latest)"
        case (false?, nil): "not on the App Store: no version has a build with the clip"
        case (nil, _):
            "unknown: none of the newest 200 builds is on the App Store, and older builds exist"
        }
    }

    public var json: JSONObject {
        [
            "published": isPublished.map(JSONValue.bool) ?? .null,
            "version": version.map(JSONValue.string) ?? .null,
            "state": state.map(JSONValue.string) ?? .null,
        ]
    }

    /// Reads what ``json`` writes; nil for anything else.
    init?(json: JSONValue?) {
        guard let members = json?.objectValue else { return nil }
        self.init(
            isPublished: members["published"]?.boolValue, version: members["version"]?.stringValue,
            state: members["state"]?.stringValue)
    }
}

/// The builds with a clip, according to App Store Connect.
public struct ClipBuilds: Sendable, Hashable {
    /// The clip in the newest of these builds; nil if no build contains the clip.
    public let bundle: String?
    /// Nil if the versions of builds cannot be read.
    public let release: ClipRelease?

    public init(bundle: String?, release: ClipRelease?) {
        self.bundle = bundle
        self.release = release
    }
}

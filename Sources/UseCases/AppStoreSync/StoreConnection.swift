public import Formats
public import Foundation
public import Tenancy

/// By which key of App Store Connect a clip's experiences are registered; never the key itself.
public struct StoreConnection: Sendable, Hashable {
    public let clip: BundleID
    /// Ten characters, of Apple's making.
    public let keyID: String
    /// The issuer of a team key; nil for an individual key.
    public let issuerID: String?
    public let connectedAt: Date

    public init(clip: BundleID, keyID: String, issuerID: String?, connectedAt: Date) {
        self.clip = clip
        self.keyID = keyID
        self.issuerID = issuerID
        self.connectedAt = connectedAt
    }

    public var json: JSONObject {
        [
            "clip": .string(clip.text), "keyID": .string(keyID),
            "issuerID": issuerID.map(JSONValue.string) ?? .null, "connectedAt": JSONValue(connectedAt),
        ]
    }
}

/// A key of App Store Connect, with its ID; the description does not contain the secret.
public struct StoreCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    public let keyID: String
    public let issuerID: String?
    /// The text of Apple's `.p8` file.
    public let pem: String

    public init(keyID: String, issuerID: String?, pem: String) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.pem = pem
    }

    public var description: String { "App Store Connect key \(keyID)" }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}

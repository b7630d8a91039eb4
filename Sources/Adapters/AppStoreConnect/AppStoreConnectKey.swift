import JWTKit

/// A key for the App Store Connect API, from Apple's `.p8` file.
///
/// A team key has access to every app of its team, an individual key to those of its user. Source: "Creating API keys for App
/// Store Connect API". [Apple]
public struct AppStoreConnectKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// Ten characters, of Apple's making.
    public let id: String
    /// The issuer of a team key, a UUID from Apple; nil for an individual key.
    public let issuer: String?
    let key: ES256PrivateKey

    /// Reads a key.
    /// - Parameter pem: the text of the `.p8` file, a P-256 private key in PKCS #8 (RFC 5958).
    /// - Throws: `.unusableKey` for anything else.
    public init(id: String, issuer: String?, pem: String) throws(AppStoreConnectError) {
        let isName: (String) -> Bool = {
            (1...64).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
        guard isName(id), issuer.map(isName) != false, let key = try? ES256PrivateKey(pem: pem) else {
            throw .unusableKey
        }
        self.id = id
        self.issuer = issuer
        self.key = key
    }

    public var description: String { "App Store Connect key \(id)" }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

public import APNsPayload
import JWTKit
import Notifications
public import Tenancy

/// A team's key for provider tokens, from Apple's `.p8` file.
///
/// Source: "Establishing a token-based connection to APNs". [Apple]
public struct APNsKey: Sendable, CustomStringConvertible, CustomReflectable {
    public let team: TeamID
    /// Ten characters, of Apple's making.
    public let id: String
    /// A key is for one environment or, as older ones are, for both. [Apple]
    public let environments: Set<APNsEnvironment>
    /// The bundle IDs that a topic-specific key is for; nil for a key of the whole team.
    public let topics: Set<BundleID>?
    let key: ES256PrivateKey

    /// Reads a key.
    /// - Parameter pem: the text of the `.p8` file, a P-256 private key in PKCS #8 (RFC 5958).
    /// - Throws: `APNsClientError.unusableKey` for anything else.
    public init(
        team: TeamID, id: String, pem: String,
        environments: Set<APNsEnvironment> = Set(APNsEnvironment.allCases), topics: Set<BundleID>? = nil
    ) throws(APNsClientError) {
        guard !id.isEmpty, id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let key = try? ES256PrivateKey(pem: pem)
        else { throw .unusableKey(team: team) }
        self.team = team
        self.id = id
        self.environments = environments
        self.topics = topics
        self.key = key
    }

    /// Whether both sign alike, under one name.
    func isSame(as other: APNsKey?) -> Bool { id == other?.id && key == other?.key }

    public var description: String { "APNs key \(id) of team \(team)" }
    public var customMirror: Mirror { Mirror(self, children: ["team": team, "id": id]) }
}

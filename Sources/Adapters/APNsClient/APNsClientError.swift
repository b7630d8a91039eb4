public import Tenancy

/// The reason why a client could not be made.
public enum APNsClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The key is not a P-256 private key in PKCS #8, or its ID is not valid.
    case unusableKey(team: TeamID)
    /// The certificates to trust cannot be read.
    case unusableAuthorities(String)

    public var description: String {
        switch self {
        case .unusableKey(let team):
            "the APNs key of team \(team) is not a P-256 private key in PKCS #8 with an ID"
        case .unusableAuthorities(let path): "the certificates in \(path) cannot be read"
        }
    }
}

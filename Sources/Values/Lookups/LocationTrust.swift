import Invocation
public import Tenancy

/// The locations in invocation URLs that are trusted.
public enum LocationTrust: Sendable {
    case nothing
    /// Locations that their tenant signed.
    case signed(any LocationSignatures)
    /// All locations, regardless of signatures. For requests that only ask which location a URL names.
    case everything

    func believes(_ place: EncodedLocation, of tenant: TenantID) -> Bool {
        switch self {
        case .nothing: false
        case .signed(let signatures):
            signatures.isAuthentic(place.signature, of: place.signedText, tenant: tenant)
        case .everything: true
        }
    }
}

/// A verifier for signatures of locations in invocation URLs.
public protocol LocationSignatures: Sendable {
    /// Whether `signature` is the HMAC-SHA256 of `text` under a signing key of the tenant, compared in
    /// constant time.
    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool
}

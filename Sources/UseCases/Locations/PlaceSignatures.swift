public import Tenancy

/// Checks the signature of a place that is written in an invocation URL.
public protocol PlaceSignatures: Sendable {
    /// Whether `signature` is the HMAC-SHA256 of `text` under a signing key of the tenant, compared in
    /// constant time.
    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool
}

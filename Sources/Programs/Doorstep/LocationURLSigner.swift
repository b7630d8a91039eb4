import Crypto
import Formats
import Foundation
import Invocation
import Lookups
import Tenancy

/// Signs the coordinates in invocation URLs, and checks such signatures.
///
/// HKDF-SHA256 (RFC 5869) derives a tenant's signing key from the server's secret and the tenant's ID, so that the key is not
/// stored and no tenant can sign for another. The first secret signs, and all secrets verify. So a secret can be replaced while
/// printed codes contain signatures of the old one.
/// checking, so that a secret can be replaced while printed codes hold signatures of the old one.
struct LocationURLSigner: LocationSignatures {
    private let secrets: [SymmetricKey]

    /// - Parameter secrets: If it is empty, no signature is authentic.
    init(secrets: [String]) {
        self.secrets = secrets.map { SymmetricKey(data: Data($0.utf8)) }
    }

    /// The secrets of `DOORSTEP_SIGNING_SECRET`, separated by commas; empty if the variable is not set.
    ///
    /// The secrets must be long, because anyone with a printed code can try to guess them.
    static func fromEnvironment() throws(CommandError) -> LocationURLSigner {
        let secrets = try Settings.signingSecret.secrets() ?? []
        guard secrets.allSatisfy({ $0.utf8.count >= 32 }) else { throw .weakSigningSecret }
        return LocationURLSigner(secrets: secrets)
    }

    var isEmpty: Bool { secrets.isEmpty }

    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool {
        secrets.contains { secret in
            HMAC<SHA256>.isValidAuthenticationCode(
                signature, authenticating: Array(text.utf8), using: Self.key(of: tenant, from: secret))
        }
    }

    /// The URL in canonical form with its signature as the query item `sig`, without a fragment.
    /// - Throws: `CommandError` if the URL is signed already.
    func sign(_ url: InvocationURL, of tenant: TenantID) throws(CommandError) -> String {
        guard let secret = secrets.first else { throw .noSigningSecret }
        guard !url.queryItems.contains(where: { $0.name == "sig" }) else {
            throw .invalidOption("url", "is signed already")
        }
        let text = url.canonicalWithoutFragment
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(text.utf8), using: Self.key(of: tenant, from: secret))
        return text + (url.queryItems.isEmpty ? "?" : "&") + "sig=" + Base64URL.text(code)
    }

    private static func key(of tenant: TenantID, from secret: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: Array("doorstep place signature".utf8),
            info: Array(tenant.description.utf8), outputByteCount: 32)
    }
}

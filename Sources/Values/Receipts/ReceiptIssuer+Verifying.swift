import AppAttest
import Formats
public import Foundation
import Invocation
public import Tenancy

/// The reason why a text is not a valid receipt.
public enum ReceiptDefect: String, Error, CaseIterable, CustomStringConvertible {
    /// The server signs no receipts.
    case noKeys = "no_keys"
    case malformed
    /// No published key signed it.
    case badSignature = "bad_signature"
    case otherIssuer = "other_issuer"
    case otherTenant = "other_tenant"
    case expired

    public var description: String {
        switch self {
        case .noKeys: "the server has no keys for receipts"
        case .malformed: "the receipt is not in Doorstep's format"
        case .badSignature: "the receipt is not signed with one of the server's keys"
        case .otherIssuer: "the receipt has another issuer"
        case .otherTenant: "the receipt is not for this tenant"
        case .expired: "the receipt has expired"
        }
    }
}

extension ReceiptIssuer {
    /// Verifies a receipt and returns its content: it must be signed by this issuer for the tenant, and
    /// must not have expired.
    public func verify(
        _ receipt: String, for tenant: TenantID, at now: Date
    ) throws(ReceiptDefect) -> Receipt {
        guard receipt.utf8.count <= Self.maximumLength else { throw .malformed }
        let parts = receipt.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3,
            let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.bytes(parts[2]), header["alg"] == "ES256",
            header["typ"] == .string(ReceiptKey.type), let keyID = header["kid"]?.stringValue
        else { throw .malformed }
        guard key(keyID)?.isAuthentic(signature, of: "\(parts[0]).\(parts[1])") == true else {
            throw .badSignature
        }
        guard claims["iss"] == .string(issuer) else { throw .otherIssuer }
        let id = JSONValue.string(tenant.description)
        guard claims["aud"] == id, claims["sub"] == id else { throw .otherTenant }
        guard let end = claims["exp"]?.numberValue?.double,
            let minute = claims["minute"]?.stringValue.flatMap({ Date(rfc3339: $0) }),
            let outcome = claims["outcome"]?.stringValue.flatMap(Receipt.Outcome.init(rawValue:))
        else { throw .malformed }
        guard now.timeIntervalSince1970 < end else { throw .expired }
        // Receipts from before the claim existed do not state their evidence.
        let evidence = claims["evidence"]?.stringValue.flatMap(Receipt.Evidence.init(rawValue:))
        // The same applies to the attestation.
        let attestation = RequestAttestation(
            grade: claims["attestation"]?.stringValue.flatMap(RequestAttestation.Grade.init(rawValue:))
                ?? .none,
            environment: claims["environment"]?.stringValue.flatMap(AttestationEnvironment.init(rawValue:)))
        return Receipt(
            tenant: tenant,
            location: claims["location"]?.stringValue.flatMap { try? LocationIdentifier($0) },
            outcome: outcome, evidence: evidence ?? Receipt.Evidence.none,
            isCertain: claims["certain"] == true, attestation: attestation,
            isSimulated: claims["simulated"]?.boolValue, minute: minute)
    }

    /// Far longer than any receipt, in bytes.
    private static let maximumLength = 4_096

    private static func object(_ part: String) -> JSONObject? {
        Base64URL.bytes(part).flatMap { try? JSONValue(parsing: $0).objectValue }
    }
}

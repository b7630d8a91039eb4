import Crypto
import SwiftASN1
import X509

/// A parsed attestation from a device, which is not verified yet.
struct AttestationObject: Sendable {
    let leaf: Certificate
    let intermediate: Certificate
    /// The key that the leaf certificate certifies, uncompressed, 65 bytes.
    let publicKey: [UInt8]
    let receipt: [UInt8]
    let authenticatorBytes: [UInt8]
    let authenticatorData: AuthenticatorData
    let credential: AttestedCredential

    /// Three times the length of observed attestations, in bytes. [ours]
    static let maximumLength = 16_384

    init(_ bytes: [UInt8]) throws(AttestationRefusal) {
        guard bytes.count <= Self.maximumLength else { throw .format(.tooLong) }
        guard case .map(let object) = try CBORReader.value(bytes), let format = object["fmt"]?.text,
            let statement = object["attStmt"]?.map, let chain = statement["x5c"]?.array,
            let receipt = statement["receipt"]?.bytes, let authenticatorBytes = object["authData"]?.bytes
        else { throw .format(.member) }
        guard format == "apple-appattest" else { throw .format(.fmt) }
        authenticatorData = try AuthenticatorData(ofAttestation: authenticatorBytes)
        guard let credential = authenticatorData.credential else { throw .format(.authenticatorData) }
        self.credential = credential
        self.receipt = receipt
        self.authenticatorBytes = authenticatorBytes
        guard chain.count == 2 else { throw .chain(.wrongCount) }
        leaf = try Self.certificate(chain[0])
        intermediate = try Self.certificate(chain[1])
        guard let key = P256.Signing.PublicKey(leaf.publicKey) else {
            throw intermediate.issuer == leaf.subject ? .chain(.swapped) : .format(.leafKey)
        }
        publicKey = Array(key.x963Representation)
    }

    private static func certificate(_ value: CBORValue) throws(AttestationRefusal) -> Certificate {
        guard let der = value.bytes, let certificate = try? Certificate(derEncoded: der) else {
            throw .format(.certificate)
        }
        // X509 ignores the count of unused bits before the signature, which is outside the signed data.
        let signature = certificate.signature.rawRepresentation
        guard der.suffix(signature.count + 1) == [0] + signature else { throw .format(.certificate) }
        return certificate
    }
}

extension AttestationObject {
    /// The extension of the leaf that contains the nonce.
    private static let nonceExtension: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 8, 2]

    /// The bytes before the nonce: SEQUENCE, [1] EXPLICIT, OCTET STRING of 32 bytes [observed].
    private static let nonceHead: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]

    /// The nonce that Apple certified.
    func certifiedNonce() throws(AttestationRefusal) -> [UInt8] {
        guard let value = leaf.extensions[oid: Self.nonceExtension]?.value else { throw .nonce(.missing) }
        guard value.count == Self.nonceHead.count + 32, value.starts(with: Self.nonceHead) else {
            throw .nonce(.encoding)
        }
        return Array(value.dropFirst(Self.nonceHead.count))
    }
}

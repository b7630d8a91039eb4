import Crypto
import Encodings
import Foundation
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

/// The certificate that attestations are traced back to.
public struct AttestationRoot: Sendable, CustomStringConvertible {
    private let certificate: Certificate
    /// The SHA-256 of the certificate in DER, as 64 hexadecimal digits in lower case.
    public let fingerprint: String

    /// Takes one certificate in PEM; nil for anything else.
    ///
    /// For another root than Apple's, such as that of a software authenticator.
    public init?(pem: String) {
        guard let document = try? PEMDocument(pemString: pem),
            let certificate = try? Certificate(pemDocument: document)
        else { return nil }
        self.certificate = certificate
        fingerprint = Base16.text(SHA256.hash(data: document.derBytes))
    }

    public var description: String { "attestation root \(fingerprint)" }
}

extension AttestationRoot {
    /// What is wrong with a chain at a time; nil when it is good.
    ///
    /// X509 decides, by RFC 5280; what it refuses is looked at again for the reason alone.
    func defect(
        leaf: Certificate, intermediate: Certificate, at now: Date
    ) async -> AttestationRefusal.Chain? {
        var verifier = Verifier(rootCertificates: CertificateStore([certificate])) {
            RFC5280Policy(fixedExpiryValidationTime: now)
        }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore([intermediate]))
        // Another path than through the intermediate is none that Apple documents; and X509 lets any certificate of
        // version 1 sign others.
        if case .validCertificate(let chain) = result,
            chain.elementsEqual([leaf, intermediate, certificate]), intermediate.isAuthority
        {
            return nil
        }
        return diagnosis(leaf: leaf, intermediate: intermediate, at: now)
    }

    private func diagnosis(
        leaf: Certificate, intermediate: Certificate, at now: Date
    ) -> AttestationRefusal.Chain {
        let chain = [leaf, intermediate, certificate]
        if chain.contains(where: { now < $0.notValidBefore }) { return .notYetValid }
        if chain.contains(where: { now > $0.notValidAfter }) { return .expired }
        guard intermediate.isAuthority else { return .intermediateNotCA }
        guard intermediate.hasSigned(leaf) else { return .badSignature }
        return certificate.hasSigned(intermediate) ? .policy : .otherRoot
    }
}

extension Certificate {
    fileprivate var isAuthority: Bool {
        if case .isCertificateAuthority = try? extensions.basicConstraints { true } else { false }
    }

    fileprivate func hasSigned(_ other: Certificate) -> Bool {
        other.issuer == subject && publicKey.isValidSignature(other.signature, for: other)
    }
}

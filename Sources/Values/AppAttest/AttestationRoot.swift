import Crypto
import Formats
import Foundation
import SwiftASN1
import Synchronization
@_spi(FixedExpiryValidationTime) import X509

/// The trusted root certificate of attestations.
public struct AttestationRoot: Sendable, CustomStringConvertible {
    private let certificate: Certificate
    /// The SHA-256 of the certificate in DER, as 64 hexadecimal digits in lower case.
    public let fingerprint: String

    /// Reads one certificate in PEM; nil for any other input.
    ///
    /// Use it for other roots than Apple's, such as that of a software authenticator.
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
    /// Returns the defect of a chain at a time; nil if the chain is valid.
    ///
    /// X509 decides by RFC 5280, and verifies each signature once: the point where it stopped shows which
    /// signature is invalid.
    func defect(
        leaf: Certificate, intermediate: Certificate, at now: Date
    ) async -> AttestationRefusal.Chain? {
        let chain = [leaf, intermediate, certificate]
        if chain.contains(where: { now < $0.notValidBefore }) { return .notYetValid }
        if chain.contains(where: { now > $0.notValidAfter }) { return .expired }
        // X509 allows any certificate of version 1 to sign others.
        guard intermediate.isAuthority else { return .intermediateNotCA }
        let policy = RFC5280Policy(fixedExpiryValidationTime: now)
        let root = TrustedRoot(certificate)
        var verifier = Verifier(rootCertificates: CertificateStore(custom: root)) { policy }
        switch await verifier.validate(leaf: leaf, intermediates: CertificateStore([intermediate])) {
        case .validCertificate(let path):
            // Apple documents no other path than through the intermediate.
            return path.elementsEqual(chain) ? nil : .badSignature
        case .couldNotValidate(let failures):
            // X509 stops at a certificate with such an extension.
            let isKnown = [leaf, intermediate].allSatisfy { certificate in
                certificate.extensions.allSatisfy {
                    !$0.critical || policy.verifyingCriticalExtensions.contains($0.oid)
                }
            }
            guard failures.isEmpty, isKnown else { return .policy }
            return root.timesAsked < 2 ? .badSignature : .otherRoot
        }
    }
}

/// The trusted root, in the form that X509 reads. X509 reads it once for the leaf's issuer and, if the
/// intermediate has an issuer, once more for that.
private final class TrustedRoot: CustomCertificateStore {
    private let root: Certificate
    private let asked = Atomic(0)

    init(_ root: Certificate) {
        self.root = root
    }

    var timesAsked: Int { asked.load(ordering: .relaxed) }

    subscript(subject: DistinguishedName) -> [Certificate]? {
        get async {
            asked.add(1, ordering: .relaxed)
            return subject == root.subject ? [root] : nil
        }
    }

    func contains(_ certificate: Certificate) async -> Bool { certificate == root }

    /// No other certificate becomes trusted.
    func append(contentsOf certificates: some Sequence<Certificate>) {}

    static func == (one: TrustedRoot, other: TrustedRoot) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Certificate {
    fileprivate var isAuthority: Bool {
        if case .isCertificateAuthority = try? extensions.basicConstraints { true } else { false }
    }
}

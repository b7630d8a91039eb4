import Crypto
public import Foundation
import SwiftASN1
import X509

/// A root and an intermediate certificate that replace Apple's. A server that trusts them accepts any attestation.
public struct SoftwareRoot: Sendable {
    /// The certificate that a server must trust.
    public let pem: String
    /// The private key of the root in PEM, with which the same root can be made again.
    public let keyPEM: String

    private let key: P384.Signing.PrivateKey
    private let certificate: Certificate

    static let rootName = "Doorstep App Attest simulator root"
    static let intermediateName = "Doorstep App Attest simulator CA 1"

    /// Makes a root that is valid from a day before a time until 25 years after it.
    public init(at now: Date) throws {
        let key = P384.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(Self.rootName) }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: now.addingTimeInterval(-86_400),
            notValidAfter: now.addingTimeInterval(25 * 365 * 86_400), issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: try .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
            }, issuerPrivateKey: .init(key))
        try self.init(certificate: certificate, key: key)
    }

    /// Makes a root from a stored certificate and key.
    public init(pem: String, keyPEM: String) throws {
        try self.init(
            certificate: Certificate(pemEncoded: pem), key: P384.Signing.PrivateKey(pemRepresentation: keyPEM)
        )
    }

    private init(certificate: Certificate, key: P384.Signing.PrivateKey) throws {
        self.key = key
        self.certificate = certificate
        pem = try certificate.serializeAsPEM().pemString
        keyPEM = key.pemRepresentation
    }

    /// Makes an intermediate that the root signs. It is valid as long as the root.
    func intermediate(
        for key: P384.Signing.PublicKey, isAuthority: Bool = true
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key),
            notValidBefore: certificate.notValidBefore, notValidAfter: certificate.notValidAfter,
            issuer: certificate.subject,
            subject: try DistinguishedName { CommonName(Self.intermediateName) },
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: try .init {
                Critical(
                    isAuthority
                        ? BasicConstraints.isCertificateAuthority(maxPathLength: 0) : .notCertificateAuthority
                )
                Critical(KeyUsage(keyCertSign: true))
            }, issuerPrivateKey: .init(self.key))
    }

    /// The certificate of the root in DER.
    var der: [UInt8] {
        get throws { try certificate.serialized }
    }
}

extension Certificate {
    var serialized: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(self)
            return serializer.serializedBytes
        }
    }
}

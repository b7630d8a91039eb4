import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// The certificate of a simulator, and the certificate authority that clients must trust.
struct ServerCertificate {
    let chain: [NIOSSLCertificateSource]
    let key: NIOSSLPrivateKeySource
    /// The PEM of the certificate authority; nil if the options contain certificate files.
    let authority: String?

    init(chainFile: String, keyFile: String) throws {
        chain = try NIOSSLCertificate.fromPEMFile(chainFile).map { .certificate($0) }
        key = .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem))
        authority = nil
    }

    /// Makes an authority, and a certificate for the names of this machine. The certificate is valid for a year from yesterday, so
    /// that clocks may differ.
    init(now: Date) throws {
        let from = now.addingTimeInterval(-86_400)
        let until = now.addingTimeInterval(365 * 86_400)
        let authorityKey = P256.Signing.PrivateKey()
        let authorityName = try DistinguishedName { CommonName("Doorstep APNs simulator") }
        let authority = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(authorityKey.publicKey),
            notValidBefore: from, notValidAfter: until, issuer: authorityName, subject: authorityName,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
            }, issuerPrivateKey: .init(authorityKey))
        let leafKey = P256.Signing.PrivateKey()
        let leaf = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(leafKey.publicKey),
            notValidBefore: from, notValidAfter: until, issuer: authorityName,
            subject: try DistinguishedName { CommonName("localhost") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try .init {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([
                    .dnsName("localhost"),
                    .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    .ipAddress(
                        ASN1OctetString(contentBytes: ArraySlice(repeatElement(0, count: 15) + [1]))),
                ])
            }, issuerPrivateKey: .init(authorityKey))
        let pem = try leaf.serializeAsPEM().pemString
        chain = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { .certificate($0) }
        key = .privateKey(
            try NIOSSLPrivateKey(bytes: Array(leafKey.pemRepresentation.utf8), format: .pem))
        self.authority = try authority.serializeAsPEM().pemString
    }
}

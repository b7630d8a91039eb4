package import Foundation
import NIOSSL
import Platform
import Synchronization

/// The certificate and key of a server. They can be read again while the server runs.
package final class TLSIdentity: Sendable {
    private struct Pair {
        let certificate: [UInt8]
        let key: [UInt8]
        let context: NIOSSLContext
        let expiresAt: Date
    }

    /// Path of a PEM file with the certificate chain.
    package let certificate: String
    /// Path of a PEM file with the private key.
    package let key: String
    private let current: Mutex<Pair>

    /// The cipher suites of TLS 1.2: only forward secrecy and authenticated encryption (RFC 9325 §4.2, RFC 9113 §9.2.2). TLS 1.3
    /// has no others.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// - Throws: ``Failure`` if a file cannot be read, if other users can read the key, or if the key does not belong to the certificate.
    package init(certificate: String, key: String) throws(Failure) {
        self.certificate = certificate
        self.key = key
        let keyBytes = try Self.bytes(key, isSecret: true)
        current = Mutex(
            try Self.pair(of: try Self.bytes(certificate), keyBytes, named: certificate, key))
    }

    /// When the certificate of the server itself expires.
    package var expiresAt: Date { current.withLock { $0.expiresAt } }

    /// The context of new connections.
    var context: NIOSSLContext { current.withLock { $0.context } }

    /// Reads the files again. New connections use a changed pair; a pair that cannot be used leaves the previous one in use.
    /// - Returns: Whether the pair has changed.
    /// - Throws: ``Failure``.
    package func reread() throws(Failure) -> Bool {
        let (newCertificate, newKey) = (try Self.bytes(certificate), try Self.bytes(key, isSecret: true))
        guard current.withLock({ $0.certificate != newCertificate || $0.key != newKey }) else { return false }
        let pair = try Self.pair(of: newCertificate, newKey, named: certificate, key)
        current.withLock { $0 = pair }
        return true
    }

    private static func bytes(_ path: String, isSecret: Bool = false) throws(Failure) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else { throw Failure("cannot read \(path)") }
        defer { try? file.close() }
        // A group may read it, because secrets reach containers in this way.
        guard
            !isSecret
                || FileStatus(descriptor: file.fileDescriptor).map({ $0.permissions & 0o027 == 0 }) == true
        else {
            throw Failure(
                "\(path) contains secrets, but other users can read or change it: run 'chmod 600' on it")
        }
        guard let data = try? file.readToEnd() else { throw Failure("cannot read \(path)") }
        return Array(data)
    }

    private static func pair(
        of certificate: [UInt8], _ key: [UInt8], named certificatePath: String, _ keyPath: String
    ) throws(Failure) -> Pair {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(certificate), let first = chain.first else {
            throw Failure("\(certificatePath) is not a certificate chain in PEM format")
        }
        guard let privateKey = try? NIOSSLPrivateKey(bytes: key, format: .pem) else {
            throw Failure("\(keyPath) is not an unencrypted private key in PEM format")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = cipherSuites
        configuration.applicationProtocols = ["h2", "http/1.1"]
        guard let context = try? NIOSSLContext(configuration: configuration) else {
            throw Failure("the key in \(keyPath) does not belong to the certificate in \(certificatePath)")
        }
        return Pair(
            certificate: certificate, key: key, context: context,
            expiresAt: Date(timeIntervalSince1970: TimeInterval(first.notValidAfter)))
    }

    /// Why a certificate and key cannot be used. It names the file.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}

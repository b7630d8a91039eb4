public import AppAttest
import Crypto
public import Foundation
public import Invocation
import SwiftASN1
import X509

/// Simulates the App Attest of a device, for tests, load tests and trials.
///
/// Everything except keys, signatures and serial numbers follows from the arguments.
public struct SoftwareAuthenticator: Sendable {
    public enum Failure: Error {
        case unknownKey
    }

    /// The App ID of the full app.
    public var appID: AppID
    public var system: DeviceSystem
    public var environment: AttestationEnvironment
    public var category: ValidationCategory
    public var bundleVersion: String

    private let root: SoftwareRoot
    private let authorityKey = P384.Signing.PrivateKey()
    private let intermediate: Certificate
    private var keys: [[UInt8]: Key] = [:]

    private struct Key {
        let key: P256.Signing.PrivateKey
        var counter: UInt32 = 0
    }

    public init(
        root: SoftwareRoot, appID: AppID, system: DeviceSystem = .iOS27,
        environment: AttestationEnvironment = .production, category: ValidationCategory = .appStore,
        bundleVersion: String = "1"
    ) throws {
        self.root = root
        self.appID = appID
        self.system = system
        self.environment = environment
        self.category = category
        self.bundleVersion = bundleVersion
        intermediate = try root.intermediate(for: authorityKey.publicKey)
    }

    /// Makes a key and returns its ID, like `generateKey`: the SHA-256 of its public key, 32 bytes.
    public mutating func generateKey() -> [UInt8] { add(Key(key: P256.Signing.PrivateKey())) }

    /// A key of the authenticator, so that another process can use it later.
    public struct StoredKey: Sendable {
        public let pem: String
        /// The counter of the last assertion.
        public let counter: UInt32

        public init(pem: String, counter: UInt32) {
            self.pem = pem
            self.counter = counter
        }
    }

    /// Returns a key to store; nil if it is unknown.
    public func storedKey(_ keyID: [UInt8]) -> StoredKey? {
        keys[keyID].map { StoredKey(pem: $0.key.pemRepresentation, counter: $0.counter) }
    }

    /// Adds a stored key, and returns its ID.
    /// - Throws: an error of the library for text that is not a private key of P-256.
    public mutating func add(_ stored: StoredKey) throws -> [UInt8] {
        add(Key(key: try P256.Signing.PrivateKey(pemRepresentation: stored.pem), counter: stored.counter))
    }

    private mutating func add(_ key: Key) -> [UInt8] {
        let id = Array(SHA256.hash(data: key.key.publicKey.x963Representation))
        keys[id] = key
        return id
    }

    /// Attests a key, like `attestKey`.
    /// - Parameter now: Certificates are valid from a day before this time until two days after it.
    public func attest(
        keyID: [UInt8], clientDataHash: [UInt8], at now: Date, fault: AttestationFault? = nil
    ) throws -> [UInt8] {
        guard let key = keys[keyID]?.key else { throw Failure.unknownKey }
        let data = attestationData(key, keyID: keyID, fault: fault)
        let nonce = SHA256.hash(data: data + clientDataHash + (fault == .otherNonce ? [0] : []))
        let certificates = try chain(for: key, nonce: Array(nonce), at: now, fault: fault)
        let receipt = CBORWriter.bytes(Array("no receipt of Apple's".utf8))
        let format = CBORWriter.text(fault == .otherFormat ? "packed" : "apple-appattest")
        let x5c = CBORWriter.array(certificates.map(CBORWriter.bytes))
        let statement = CBORWriter.map(
            [("x5c", x5c)] + (fault == .missingReceipt ? [] : [("receipt", receipt)]))
        var entries = [("fmt", format), ("attStmt", statement), ("authData", CBORWriter.bytes(data))]
        if system == .iOS26 {
            entries.append(("cdHash", CBORWriter.bytes(Array(repeating: 7, count: 20))))
        }
        if fault == .duplicateKey { entries.append(("fmt", format)) }
        return Self.envelope(
            entries, notCBOR: fault == .notCBOR, trailingByte: fault == .trailingByte)
    }

    /// Signs with a key, like `generateAssertion`, and increments the counter.
    public mutating func assertion(
        keyID: [UInt8], clientDataHash: [UInt8], fault: AssertionFault? = nil
    ) throws -> [UInt8] {
        guard var key = keys[keyID] else { throw Failure.unknownKey }
        if fault != .repeatedCounter { key.counter &+= 1 }
        keys[keyID] = key
        var data = header(counter: key.counter, isOtherApp: fault == .otherApp)
        data += extensions(categoryBytes: fault == .unknownCategory ? [7, 0, 0, 0] : nil)
        if fault == .shortData { data.removeLast(data.count - 36) }
        let nonce = SHA256.hash(data: data + clientDataHash)
        let signer = fault == .otherKey ? P256.Signing.PrivateKey() : key.key
        let signature =
            fault == .hashedOnce ? try signer.signature(for: nonce) : try signer.signature(for: Array(nonce))
        var der = Array(signature.derRepresentation)
        if fault == .brokenSignature { der.append(0) }
        var entries = [("authenticatorData", CBORWriter.bytes(data))]
        if fault != .missingSignature { entries.insert(("signature", CBORWriter.bytes(der)), at: 0) }
        if fault == .duplicateKey { entries.append(entries[0]) }
        return Self.envelope(
            entries, notCBOR: fault == .notCBOR, trailingByte: fault == .trailingByte)
    }

    private static func envelope(
        _ entries: [(String, [UInt8])], notCBOR: Bool, trailingByte: Bool
    ) -> [UInt8] {
        if notCBOR { return Array(#"{"fmt":"apple-appattest"}"#.utf8) }
        return CBORWriter.map(entries.map { (key: $0.0, value: $0.1) }) + (trailingByte ? [0] : [])
    }
}

extension SoftwareAuthenticator {
    private func header(counter: UInt32, isOtherApp: Bool) -> [UInt8] {
        let hash = SHA256.hash(data: Array((isOtherApp ? "ABCDE12345.com.example.Other" : appID.text).utf8))
        return Array(hash) + [system.flags] + withUnsafeBytes(of: counter.bigEndian, Array.init)
    }

    private func attestationData(
        _ key: P256.Signing.PrivateKey, keyID: [UInt8], fault: AttestationFault?
    ) -> [UInt8] {
        var data = header(counter: fault == .counted ? 1 : 0, isOtherApp: fault == .otherApp)
        data +=
            fault == .unknownEnvironment ? Array("appattestsandbox".utf8) : environment.aaguid
        let id = fault == .otherCredential ? Array(keyID.reversed()) : keyID
        data += [0, fault == .shortCredential ? 31 : 32] + id
        let shown = fault == .otherPublicKey ? P256.Signing.PrivateKey() : key
        let point = Array(shown.publicKey.rawRepresentation)
        // EC2, ES256, P-256, x and y (RFC 9053 §2.1 and §7.1).
        data += [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21] + CBORWriter.bytes(Array(point[..<32]))
        data += [0x22] + CBORWriter.bytes(Array(point[32...]))
        switch fault {
        case .unknownCategory: return data + extensions(categoryBytes: [9, 0, 0, 0])
        case .brokenCategory: return data + extensions(categoryBytes: [4])
        case .bothSpellings: return data + extensions(hasBothSpellings: true)
        default: return data + extensions()
        }
    }

    /// Nil before iOS 27.
    private func extensions(categoryBytes: [UInt8]? = nil, hasBothSpellings: Bool = false) -> [UInt8] {
        guard system == .iOS27 || categoryBytes != nil || hasBothSpellings else { return [] }
        let bytes = categoryBytes ?? withUnsafeBytes(of: category.rawValue.littleEndian, Array.init)
        var entries = [
            (key: "apple_bundle_version_01", value: CBORWriter.text(bundleVersion)),
            (key: "apple_validation_category_01", value: CBORWriter.bytes(bytes)),
        ]
        if hasBothSpellings { entries.append((key: "validationCategory", value: CBORWriter.bytes(bytes))) }
        return CBORWriter.map(entries)
    }
}

extension SoftwareAuthenticator {
    private func chain(
        for key: P256.Signing.PrivateKey, nonce: [UInt8], at now: Date, fault: AttestationFault?
    ) throws -> [[UInt8]] {
        let attested = fault == .otherKey ? P256.Signing.PrivateKey() : key
        let publicKey =
            fault == .leafOnP384
            ? Certificate.PublicKey(P384.Signing.PrivateKey().publicKey) : .init(attested.publicKey)
        let signer = fault == .leafOfOtherAuthority ? P384.Signing.PrivateKey() : authorityKey
        let leaf = try leaf(
            publicKey, extensions: extensions(nonce: nonce, fault: fault), signer: signer,
            from: now.addingTimeInterval(Self.start(fault)))
        var leafBytes = try leaf.serialized
        if fault == .brokenCertificate { leafBytes.append(0) }
        let intermediate: Certificate =
            switch fault {
            case .otherRoot: try SoftwareRoot(at: now).intermediate(for: authorityKey.publicKey)
            case .intermediateIsNoAuthority:
                try root.intermediate(for: authorityKey.publicKey, isAuthority: false)
            default: self.intermediate
            }
        let intermediateBytes = try intermediate.serialized
        switch fault {
        case .oneCertificate: return [leafBytes]
        case .threeCertificates: return [leafBytes, intermediateBytes, try root.der]
        case .swappedCertificates: return [intermediateBytes, leafBytes]
        default: return [leafBytes, intermediateBytes]
        }
    }

    /// The start of the leaf's validity, in seconds from now.
    private static func start(_ fault: AttestationFault?) -> TimeInterval {
        switch fault {
        case .notYetValid: 60
        case .expired: -3 * 86_400 - 60
        default: -86_400
        }
    }

    private func leaf(
        _ key: Certificate.PublicKey, extensions: Certificate.Extensions, signer: P384.Signing.PrivateKey,
        from start: Date
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key, notValidBefore: start,
            notValidAfter: start.addingTimeInterval(3 * 86_400), issuer: intermediate.subject,
            subject: try DistinguishedName { CommonName("Doorstep software authenticator") },
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: .init(signer))
    }

    private func extensions(nonce: [UInt8], fault: AttestationFault?) throws -> Certificate.Extensions {
        var extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
        }
        if fault != .missingNonce {
            // SEQUENCE, [1] EXPLICIT, OCTET STRING: 38 bytes, as in all observed certificates of Apple. [observed]
            var value = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + nonce
            if fault == .longNonce { value.append(0) }
            try extensions.append(
                .init(oid: [1, 2, 840, 113_635, 100, 8, 2], critical: false, value: value[...]))
        }
        if fault == .unknownCriticalExtension {
            try extensions.append(.init(oid: [1, 2, 3, 4], critical: true, value: [5, 0]))
        }
        return extensions
    }
}

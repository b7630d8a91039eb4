import Crypto
import Formats
public import Foundation

/// A key that signs receipts by ES256: ECDSA on P-256 with SHA-256 (RFC 7518 §3.4).
public struct ReceiptKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: P256.Signing.PrivateKey
    /// The SHA-256 of the public key, which identifies it in the published set (RFC 7638).
    public let id: String
    /// The time at which it begins to sign. It is published before.
    public let signsFrom: Date
    /// The first part of the signed text, with the dot after it (RFC 7515 §7.1).
    private let header: [UInt8]

    static let type = "doorstep-receipt+jwt"

    /// Creates a new key.
    public init(signsFrom: Date) {
        self.init(P256.Signing.PrivateKey(), signsFrom: signsFrom)
    }

    private init(_ key: P256.Signing.PrivateKey, signsFrom: Date) {
        self.key = key
        self.signsFrom = signsFrom
        let (x, y) = Self.coordinates(of: key)
        // The members that RFC 7638 §3.2 names, in their order.
        let thumbprint: JSONValue = ["crv": "P-256", "kty": "EC", "x": .string(x), "y": .string(y)]
        id = Base64URL.text(SHA256.hash(data: thumbprint.serialized()))
        let header: JSONValue = ["alg": "ES256", "kid": .string(id), "typ": .string(Self.type)]
        self.header = Array((Base64URL.text(header.serialized()) + ".").utf8)
    }

    public var description: String { "receipt key \(id)" }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }

    /// Returns the claims as a JSON Web Signature in its compact form (RFC 7515 §7.1).
    func sign(_ claims: Span<UInt8>) -> [UInt8] {
        var token: [UInt8] = []
        token.reserveCapacity(header.count + claims.count * 4 / 3 + 96)
        token += header
        Base64URL.append(claims, to: &token)
        let digest = SHA256.hash(data: token)
        // Signing a digest does not fail with a key that was created or read without an error. BoringSSL
        // could refuse only a key off the curve, or fail at a source of randomness, which ends the process.
        guard let signature = try? key.signature(for: digest) else { preconditionFailure("ES256") }
        token.append(UInt8(ascii: "."))
        Base64URL.append(Array(signature.rawRepresentation).span, to: &token)
        return token
    }

    /// Whether the key created the signature of the text before the signature's dot.
    func isAuthentic(_ signature: [UInt8], of text: String) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
            return false
        }
        return key.publicKey.isValidSignature(signature, for: SHA256.hash(data: Array(text.utf8)))
    }

    // MARK: JSON Web Key

    /// Reads a private key (RFC 7518 §6.2) with our member `signsFrom`: a key without it has always signed.
    init(jwk: JSONValue, index: Int) throws(ReceiptKeyError) {
        func refuse(_ reason: String) -> ReceiptKeyError { .unusableKey(index: index, reason: reason) }
        guard let object = jwk.objectValue else { throw refuse("is not an object") }
        guard object["kty"] == "EC", object["crv"] == "P-256" else {
            throw refuse("is not of type EC on the curve P-256")
        }
        guard let scalar = object["d"]?.stringValue else {
            throw refuse("is not a private key: 'd' is missing")
        }
        guard let scalar = Base64URL.bytes(scalar),
            let key = try? P256.Signing.PrivateKey(rawRepresentation: scalar)
        else { throw refuse("has no usable 'd'") }
        var signsFrom = Date.distantPast
        if let text = object["signsFrom"] {
            guard let date = text.stringValue.flatMap({ Date(rfc3339: $0) }) else {
                throw refuse("has a 'signsFrom' that is not a time such as 2026-03-01T12:30:00Z")
            }
            signsFrom = date
        }
        self.init(key, signsFrom: signsFrom)
        for (name, expected) in publicJWK where object[name] != nil && object[name] != expected {
            throw refuse("has a '\(name)' that does not go with 'd' and ES256")
        }
    }

    /// The published part.
    var publicJWK: JSONObject {
        let (x, y) = Self.coordinates(of: key)
        return [
            "alg": "ES256", "crv": "P-256", "kid": .string(id), "kty": "EC", "use": "sig", "x": .string(x),
            "y": .string(y),
        ]
    }

    /// The private key, which is stored in a file and never shown.
    var privateJWK: JSONObject {
        var object = publicJWK
        object["d"] = .string(Base64URL.text(key.rawRepresentation))
        if signsFrom != .distantPast { object["signsFrom"] = .string(signsFrom.rfc3339) }
        return object
    }

    private static func coordinates(of key: P256.Signing.PrivateKey) -> (x: String, y: String) {
        let point = key.publicKey.rawRepresentation
        return (Base64URL.text(point.prefix(32)), Base64URL.text(point.suffix(32)))
    }
}

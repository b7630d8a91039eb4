import AppAttest
import Formats
public import Foundation
import Invocation
import Synchronization
import Tenancy

/// An issuer of receipts, which others verify with only the published keys.
///
/// Safe to use from many threads; the keys can be replaced at any time.
public final class ReceiptIssuer: Sendable {
    let issuer: String
    private let keys: Mutex<ReceiptKeySet>

    /// - Parameter issuer: The issuer of the receipts, the claim `iss`.
    public init(_ issuer: String, keys: ReceiptKeySet) {
        self.issuer = issuer
        self.keys = Mutex(keys)
    }

    /// Replaces the keys for all later signatures.
    public func replaceKeys(by keys: ReceiptKeySet) {
        self.keys.withLock { $0 = keys }
    }

    /// The JSON of `/.well-known/jwks.json`.
    public var published: [UInt8] { keys.withLock(\.published) }

    /// Nil if the key is not published.
    func key(_ id: String) -> ReceiptKey? {
        keys.withLock { $0.keys.first { $0.id == id } }
    }

    /// Returns the receipt as a JSON Web Token (RFC 7519).
    public func sign(_ receipt: Receipt, at now: Date) -> String {
        let key = keys.withLock { $0.signing(at: now) }
        var claims = JSONWriter()
        claims.write(receipt, from: issuer, at: Int(now.timeIntervalSince1970.rounded(.down)))
        return String(decoding: key.sign(claims.bytes.span), as: UTF8.self)
    }
}

extension JSONWriter {
    /// Writes the claims. The tenant is the subject and also the audience: libraries for JWTs reject a
    /// token with an unexpected audience. This prevents one tenant's ordering system from accepting
    /// another's receipts by mistake.
    fileprivate mutating func write(
        _ receipt: Receipt, from issuer: String, at second: Int
    ) {
        let tenant = receipt.tenant.description
        write(literal: #"{"attestation":"#)
        write(quoted: receipt.attestation.grade.rawValue)
        write(literal: receipt.attestation.isAttested ? #","attested":true"# : #","attested":false"#)
        write(literal: #","aud":"#)
        write(quoted: tenant)
        write(literal: #","certain":"#)
        write(literal: receipt.isCertain ? "true" : "false")
        write(literal: #","environment":"#)
        if let environment = receipt.attestation.environment {
            write(quoted: environment.rawValue)
        } else {
            write(literal: "null")
        }
        write(literal: #","evidence":"#)
        write(quoted: receipt.evidence.rawValue)
        write(literal: #","exp":"#)
        write(second + Receipt.lifetime)
        write(literal: #","iat":"#)
        write(second)
        write(literal: #","iss":"#)
        write(quoted: issuer)
        write(literal: #","jti":"#)
        write(quoted: Self.randomID())
        write(literal: #","location":"#)
        if let location = receipt.location { write(quoted: location.text) } else { write(literal: "null") }
        write(literal: #","minute":"#)
        write(quoted: receipt.minute.rfc3339)
        write(literal: #","outcome":"#)
        write(quoted: receipt.outcome.rawValue)
        if let isSimulated = receipt.isSimulated {
            write(literal: isSimulated ? #","simulated":true"# : #","simulated":false"#)
        }
        write(literal: #","sub":"#)
        write(quoted: tenant)
        write(literal: "}")
    }

    /// 128 random bits.
    private static func randomID() -> String {
        let bits = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return withUnsafeBytes(of: bits) { Base64URL.text($0) }
    }
}

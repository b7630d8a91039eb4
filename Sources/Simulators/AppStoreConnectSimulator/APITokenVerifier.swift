import Crypto
import Formats
import Foundation

/// Verifies the tokens of requests.
///
/// It does not use the library with which the client signs, so that each can reveal errors of the other. Source: "Generating tokens
/// for API requests" [Apple]; RFC 7515 §7.1, RFC 7518 §3.4.
struct APITokenVerifier: Sendable {
    private struct KnownKey: Sendable {
        let key: P256.Signing.PublicKey
        let description: AppStoreConnectSimulator.Key
    }

    private let keys: [String: KnownKey]
    /// Tokens with a verified signature.
    private var verified: [String: JSONObject] = [:]

    /// The maximum lifetime of a token in seconds. [Apple]
    private static let maximumLifetime = 1_200.0
    /// The maximum difference in seconds by which a client's clock may be ahead. [ours]
    private static let tolerance = 60.0
    /// The maximum number of cached tokens, so that a client cannot fill the memory.
    private static let maximumVerified = 10_000

    init(_ keys: [AppStoreConnectSimulator.Key]) throws {
        var known: [String: KnownKey] = [:]
        for key in keys {
            known[key.id] = KnownKey(
                key: try P256.Signing.PublicKey(pemRepresentation: key.publicKey), description: key)
        }
        self.keys = known
    }

    /// The key of a request with a valid token for it.
    /// - Parameter header: The value of `Authorization`.
    mutating func verify(
        _ header: String?, method: String, path: Substring, query: Substring, at now: Date
    ) throws(ErrorDocument) -> AppStoreConnectSimulator.Key {
        guard let header, header.hasPrefix("Bearer ") else { throw ErrorDocument(.notAuthorized) }
        let parts = header.dropFirst(7).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.object(parts[0]), head["alg"]?.stringValue == "ES256",
            head["typ"]?.stringValue == "JWT", let key = head["kid"]?.stringValue.flatMap({ keys[$0] }),
            let claims = verified[header] ?? Self.claims(parts, key.key),
            claims["aud"]?.stringValue == "appstoreconnect-v1",
            Self.isIssued(claims, by: key.description),
            let issued = claims["iat"]?.numberValue?.double, let end = claims["exp"]?.numberValue?.double,
            end - issued <= Self.maximumLifetime, end > now.timeIntervalSince1970,
            issued <= now.timeIntervalSince1970 + Self.tolerance
        else { throw ErrorDocument(.notAuthorized) }
        if verified.count >= Self.maximumVerified { verified.removeAll() }
        verified[header] = claims
        if let scope = claims["scope"] { try check(scope, method, path, query) }
        return key.description
    }

    /// Tokens of team keys name the issuer. Tokens of individual keys have no issuer, and the subject `user`. [Apple]
    private static func isIssued(_ claims: JSONObject, by key: AppStoreConnectSimulator.Key) -> Bool {
        key.issuer.map { claims["iss"]?.stringValue == $0 && claims["sub"] == nil }
            ?? (claims["iss"] == nil && claims["sub"]?.stringValue == "user")
    }

    /// A scope permits only GET. Other methods get 405. `limit`, `cursor` and `sort` are not compared. [Apple, observed]
    private func check(
        _ scope: JSONValue, _ method: String, _ path: Substring, _ query: Substring
    ) throws(ErrorDocument) {
        guard method == "GET" else { throw ErrorDocument(.methodNotAllowed) }
        let asked = Self.parameters(query)
        let isMatched = (scope.arrayValue ?? []).compactMap(\.stringValue).contains { entry in
            guard entry.hasPrefix("GET ") else { return false }
            let parts = entry.dropFirst(4).split(
                separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            return parts[0] == path && Self.parameters(parts.count > 1 ? parts[1] : "") == asked
        }
        guard isMatched else { throw ErrorDocument(.forbidden) }
    }

    private static func parameters(_ query: Substring) -> [String: String] {
        Dictionary(RequestQuery.pairs(query).map { ($0.name, $0.value) }) { first, _ in first }
            .filter { !["limit", "cursor", "sort"].contains($0.key) }
    }

    private static func claims(_ parts: [Substring], _ key: P256.Signing.PublicKey) -> JSONObject? {
        guard let bytes = Base64URL.bytes(String(parts[2])),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes),
            key.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return object(parts[1])
    }

    private static func object(_ part: Substring) -> JSONObject? {
        Base64URL.bytes(String(part)).flatMap { try? JSONValue(parsing: $0).objectValue }
    }
}

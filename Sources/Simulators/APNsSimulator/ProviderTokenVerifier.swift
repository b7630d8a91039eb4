import APNsPayload
import Crypto
import Formats
import Foundation

/// Reads provider tokens, and verifies each once.
///
/// It does not use the library with which the client signs, so that each can reveal errors of the other. Source: "Establishing a
/// token-based connection to APNs" [Apple]; RFC 7515 §7.1, RFC 7518 §3.4.
struct ProviderTokenVerifier {
    struct Claims: Sendable {
        let team: String
        let keyID: String
        /// Seconds since 1970.
        let issuedAt: Double
    }

    private struct KnownKey {
        let key: P256.Signing.PublicKey
        let isForThisEnvironment: Bool
    }

    private let keys: [String: [String: KnownKey]]
    private var verified: [String: Result<Claims, Refusal>] = [:]
    /// The number of verified signatures.
    private(set) var count = 0

    /// The maximum age of a token: an hour. [Apple]
    private static let maximumAge = 3_600.0
    /// The maximum number of cached tokens, so that a provider cannot fill the memory.
    private static let maximumVerified = 10_000

    init(teams: [APNsSimulator.Team], environment: APNsEnvironment) throws {
        var keys: [String: [String: KnownKey]] = [:]
        for team in teams {
            for key in team.keys {
                keys[team.id, default: [:]][key.id] = KnownKey(
                    key: try P256.Signing.PublicKey(pemRepresentation: key.publicKey),
                    isForThisEnvironment: key.environments.contains(environment))
            }
        }
        self.keys = keys
    }

    /// The claims of a valid token.
    /// - Parameter header: The value of `authorization`.
    mutating func verify(_ header: String?, now: Date) throws(Refusal) -> Claims {
        guard let header, header.utf8.count > 7, header.prefix(7).lowercased() == "bearer " else {
            throw Refusal(.missingProviderToken)
        }
        let claims: Claims
        if let known = verified[header] {
            claims = try known.get()
        } else {
            count += 1
            let result: Result<Claims, Refusal>
            do throws(Refusal) {
                result = .success(try read(header.dropFirst(7)))
            } catch {
                result = .failure(error)
            }
            if verified.count >= Self.maximumVerified { verified.removeAll() }
            verified[header] = result
            claims = try result.get()
        }
        let age = now.timeIntervalSince1970 - claims.issuedAt
        if age > Self.maximumAge { throw Refusal(.expiredProviderToken) }
        if age < -Self.maximumAge { throw Refusal(.invalidProviderToken) }
        return claims
    }

    private func read(_ token: Substring) throws(Refusal) -> Claims {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Self.object(parts[0]), let body = Self.object(parts[1]),
            header["alg"]?.stringValue == "ES256", let keyID = header["kid"]?.stringValue,
            let team = body["iss"]?.stringValue, let issuedAt = body["iat"]?.numberValue?.double,
            let key = keys[team]?[keyID], let bytes = Base64URL.bytes(String(parts[2])),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes),
            key.key.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { throw Refusal(.invalidProviderToken) }
        guard key.isForThisEnvironment else { throw Refusal(.badEnvironmentKeyIdInToken) }
        return Claims(team: team, keyID: keyID, issuedAt: issuedAt)
    }

    private static func object(_ part: Substring) -> JSONObject? {
        Base64URL.bytes(String(part)).flatMap { try? JSONValue(parsing: $0).objectValue }
    }
}

/// The refusal of a request.
struct Refusal: Error, Sendable {
    let reason: APNsReason
    /// The time in a 410 response.
    var invalidSince: Date?

    init(_ reason: APNsReason, invalidSince: Date? = nil) {
        self.reason = reason
        self.invalidSince = invalidSince
    }
}

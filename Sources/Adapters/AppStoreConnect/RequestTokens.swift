import Foundation
import JWTKit
import Synchronization

/// The tokens of requests. Each token is used until shortly before it expires.
///
/// Source: "Generating tokens for API requests": at most 20 minutes from issue to end. [Apple] The times here are [ours].
final class RequestTokens: Sendable {
    private struct Token {
        let authorization: String
        let end: Date
    }

    private let key: AppStoreConnectKey
    private let now: @Sendable () -> Date
    /// By scope. Tokens with an empty scope have all rights of their key.
    private let tokens = Mutex<[String: Token]>([:])

    /// From now to a token's end, in seconds.
    private static let lifetime = 900.0
    /// The number of seconds before its end from which a token is no longer used.
    private static let margin = 60.0
    /// The time of issue in a token is this number of seconds in the past, for clocks that differ.
    private static let setback = 30.0
    private static let maximumCount = 100

    init(_ key: AppStoreConnectKey, now: @escaping @Sendable () -> Date) {
        self.key = key
        self.now = now
    }

    /// The value of `Authorization`.
    /// - Parameter scope: the one request that it is for, such as `GET /v1/apps`; nil for all.
    func authorization(for scope: String?) async throws(AppStoreConnectError) -> String {
        let name = scope ?? ""
        let time = now()
        if let known = tokens.withLock({ $0[name] }), time < known.end.addingTimeInterval(-Self.margin) {
            return known.authorization
        }
        let end = time.addingTimeInterval(Self.lifetime)
        let token = Token(authorization: try await sign(scope, from: time, to: end), end: end)
        tokens.withLock {
            if $0.count >= Self.maximumCount { $0.removeAll() }
            $0[name] = token
        }
        return token.authorization
    }

    /// Discards a token, so that the next request gets a new one.
    func discard(_ scope: String?) {
        tokens.withLock { $0[scope ?? ""] = nil }
    }

    private struct Claims: JWTPayload {
        let iss: String?
        let sub: String?
        let iat: Int
        let exp: Int
        let aud: String
        let scope: [String]?

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private func sign(
        _ scope: String?, from start: Date, to end: Date
    ) async throws(AppStoreConnectError) -> String {
        let name = JWKIdentifier(string: key.id)
        let signer = await JWTKeyCollection().add(ecdsa: key.key, kid: name)
        let claims = Claims(
            iss: key.issuer, sub: key.issuer == nil ? "user" : nil,
            iat: Int(start.timeIntervalSince1970 - Self.setback), exp: Int(end.timeIntervalSince1970),
            aud: "appstoreconnect-v1", scope: scope.map { [$0] })
        guard let token = try? await signer.sign(claims, kid: name) else { throw .unusableKey }
        return "Bearer " + token
    }
}

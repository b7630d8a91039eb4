import Administration
import Formats
import Foundation
import Persistence
import Tenancy

/// Signs people in by their links, and recognises their cookies.
struct Entrance: Sendable {
    private let sessions: PostgresConsoleSessions
    private let failures = RateLimiter<IPAddress?>(capacity: 65_536)
    /// By the text of a valid link, so that invalid links never fill it.
    private let attempts = RateLimiter<String>(capacity: 65_536)

    /// The rate of invalid links per client, and of tries per link. [ours]
    private static let limit = RateLimit(perSecond: 1, burst: 10)

    init(_ sessions: PostgresConsoleSessions) {
        self.sessions = sessions
    }

    /// Checks a link's signature before the database is asked.
    ///
    /// Only invalid links count against the client's limit. So a valid link works during a flood of invalid links from the same
    /// address.
    /// - Returns: Nil for an invalid link.
    /// - Throws: ``ConsoleRefusal/tooManyInvalidLinks``, ``ConsoleRefusal/tooManyTriesOfLink``.
    func link(_ text: String?, from client: IPAddress?) async throws -> ConsoleSecret? {
        guard let link = text.flatMap(ConsoleSecret.init(pasted:)), try await sessions.hasMade(link) else {
            try Self.count(client?.ofClient, in: failures, or: .tooManyInvalidLinks)
            return nil
        }
        try Self.count(link.text, in: attempts, or: .tooManyTriesOfLink)
        return link
    }

    private static func count<Key>(
        _ key: Key, in limiter: RateLimiter<Key>, or refusal: ConsoleRefusal
    ) throws {
        guard let limit, !limiter.take(key, limit, at: .now).isAdmitted else { return }
        throw refusal
    }

    /// - Parameter earlier: the browser's earlier session, which ends.
    func signIn(
        by link: ConsoleSecret, insteadOf earlier: ConsoleSecret?, isSecure: Bool, at now: Date
    ) async throws -> (ConsoleSession, cookie: String)? {
        let secret = try await sessions.makeSecret()
        let session = try await sessions.signIn(by: link, as: secret, insteadOf: earlier, at: now)
        guard let session else { return nil }
        let length = Int(session.expiresAt.timeIntervalSince(now))
        return (session, Self.cookie(secret.text, isSecure: isSecure, lasting: length))
    }

    static func noCookie(isSecure: Bool) -> String { cookie("", isSecure: isSecure, lasting: 0) }

    static func secret(of request: ReceivedRequest) -> ConsoleSecret? {
        request.cookie(name(isSecure: request.isSecure)).flatMap { ConsoleSecret($0) }
    }

    /// `Lax`, so that links from other sites open with the session. GET changes nothing, and the guard checks all other methods.
    private static func cookie(_ value: String, isSecure: Bool, lasting length: Int) -> String {
        "\(name(isSecure: isSecure))=\(value); Max-Age=\(length); Path=/;\(isSecure ? " Secure;" : "") HttpOnly; SameSite=Lax"
    }

    /// With TLS, a name that neither another host nor an unencrypted response can set (RFC 6265bis §4.1.3.2). Some browsers
    /// refuse it on loopback.
    private static func name(isSecure: Bool) -> String { isSecure ? "__Host-doorstep" : "doorstep_console" }
}

extension ConsoleSecret {
    /// Accepts a token or a whole link, because users may paste either.
    init?(pasted text: String) {
        self.init(text.split(separator: "#").last.map(String.init) ?? "")
    }
}

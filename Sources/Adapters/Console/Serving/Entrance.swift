import Administration
import Foundation
import Hummingbird
import IPAddresses
import RateLimiting

/// Signs people in by their links, and recognises their cookies.
struct Entrance: Sendable {
    private let sessions: any ConsoleSessions
    private let failures = RateLimiter<IPAddress?>(capacity: 65_536)
    /// By the text of a link that the console made: floods of made-up links never fill it.
    private let attempts = RateLimiter<String>(capacity: 65_536)

    /// How many made-up links one client may try, and how often one link may be tried. [ours]
    private static let limit = RateLimit(perSecond: 1, burst: 10)

    init(_ sessions: any ConsoleSessions) {
        self.sessions = sessions
    }

    /// Checks a link's signature before the database is asked.
    ///
    /// Only made-up links count against their client's limit. So a valid link signs in during a flood of made-up ones from the
    /// same address.
    /// - Returns: Nil for a link that the console did not make.
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

    /// - Parameter earlier: of the session that the same browser has, which ends.
    func signIn(
        by link: ConsoleSecret, insteadOf earlier: ConsoleSecret?, isSecure: Bool, at now: Date
    ) async throws -> (ConsoleSession, Cookie)? {
        let secret = try await sessions.makeSecret()
        let session = try await sessions.signIn(by: link, as: secret, insteadOf: earlier, at: now)
        guard let session else { return nil }
        let length = Int(session.expiresAt.timeIntervalSince(now))
        return (session, Self.cookie(secret.text, isSecure: isSecure, lasting: length))
    }

    static func noCookie(isSecure: Bool) -> Cookie { cookie("", isSecure: isSecure, lasting: 0) }

    static func secret(of request: Request, isSecure: Bool) -> ConsoleSecret? {
        request.cookies[name(isSecure: isSecure)].flatMap { ConsoleSecret($0.value) }
    }

    /// `Lax`, so that links from elsewhere arrive signed in: GET changes nothing, and the guard sees to the rest.
    private static func cookie(_ value: String, isSecure: Bool, lasting length: Int) -> Cookie {
        Cookie(
            name: name(isSecure: isSecure), value: value, maxAge: length, path: "/", secure: isSecure,
            httpOnly: true, sameSite: .lax)
    }

    /// With TLS a name that no other host, and nothing unencrypted, can set (RFC 6265bis §4.1.3.2). On loopback some browsers
    /// refuse it.
    private static func name(isSecure: Bool) -> String { isSecure ? "__Host-doorstep" : "doorstep_console" }
}

extension ConsoleSecret {
    /// Takes a whole link, too, as somebody may paste it.
    init?(pasted text: String) {
        self.init(text.split(separator: "#").last.map(String.init) ?? "")
    }
}

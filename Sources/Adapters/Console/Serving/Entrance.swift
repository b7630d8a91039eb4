import Administration
import Foundation
import Hummingbird
import IPAddresses
import RateLimiting

/// Lets people in by their links, and knows them again by their cookies.
struct Entrance: Sendable {
    private let sessions: any ConsoleSessions
    private let limiter = RateLimiter<IPAddress?>(capacity: 65_536)

    /// How often one address may try a link. [ours]
    private static let limit = RateLimit(perSecond: 1, burst: 10)

    init(_ sessions: any ConsoleSessions) {
        self.sessions = sessions
    }

    /// Counts a try.
    /// - Throws: ``ConsoleRefusal/tooManySignIns``.
    func admit(_ client: IPAddress?) throws {
        guard let limit = Self.limit else { return }
        guard limiter.take(client?.ofClient, limit, at: .now).isAdmitted else {
            throw ConsoleRefusal.tooManySignIns
        }
    }

    /// - Parameter earlier: of the session that the same browser has, which ends.
    func signIn(
        by link: ConsoleSecret, insteadOf earlier: ConsoleSecret?, isSecure: Bool, at now: Date
    ) async throws -> (ConsoleSession, Cookie)? {
        let secret = ConsoleSecret.generate()
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

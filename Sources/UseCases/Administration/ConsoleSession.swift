public import Foundation

/// A session at the operators' console, from sign-in to its end.
public struct ConsoleSession: Sendable, Hashable {
    public let id: UUID
    public let access: ConsoleAccess
    public let createdAt: Date
    /// To the minute.
    public let seenAt: Date
    public let expiresAt: Date

    public init(id: UUID, access: ConsoleAccess, createdAt: Date, seenAt: Date, expiresAt: Date) {
        self.id = id
        self.access = access
        self.createdAt = createdAt
        self.seenAt = seenAt
        self.expiresAt = expiresAt
    }

    /// The session of a user whom a proxy signs in with each request. It has no row, no secret and no end.
    public static func byProxy(_ access: ConsoleAccess, at now: Date) -> ConsoleSession {
        ConsoleSession(
            id: proxyID, access: access, createdAt: now, seenAt: now,
            expiresAt: now.addingTimeInterval(maximumLength))
    }

    public var isByProxy: Bool { id == Self.proxyID }

    private static let proxyID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// How long a link is valid, in seconds. [ours]
    public static let linkLifetime: TimeInterval = 600
    /// The longest duration of a session, in seconds. [ours]
    public static let maximumLength: TimeInterval = 12 * 3_600
    /// The number of seconds without a request after which a session ends. [ours]
    public static let idleTime: TimeInterval = 3_600
}

/// Stores links and sessions of the console. Of their secrets, it stores only digests.
public protocol ConsoleSessions: Sendable {
    /// Makes a secret for a link or a session, signed with the deployment's key.
    func makeSecret() async throws -> ConsoleSecret

    /// Whether this deployment made a secret. The secret may have expired since. Only the first call reads the database.
    func hasMade(_ secret: ConsoleSecret) async throws -> Bool

    /// Stores a link for ``ConsoleSession/linkLifetime``.
    /// - Parameter length: how long the session may last, in seconds, from 60 to ``ConsoleSession/maximumLength``.
    func add(_ link: ConsoleSecret, for access: ConsoleAccess, lasting length: Int, at now: Date) async throws

    /// The rights of a link, without using the link. Nil if the link was used, has expired, or never existed.
    func access(by link: ConsoleSecret, at now: Date) async throws -> ConsoleAccess?

    /// Uses a link, and begins its session.
    /// - Parameter earlier: The secret of a session that ends because the new one replaces it; nil for none.
    /// - Returns: Nil for a link that was used, has expired or never existed; the earlier session then continues.
    func signIn(
        by link: ConsoleSecret, as session: ConsoleSecret, insteadOf earlier: ConsoleSecret?, at now: Date
    ) async throws -> ConsoleSession?

    /// Returns the session and records its use; nil if the session is over. A secret that this deployment did not create causes no
    /// query.
    func session(_ secret: ConsoleSecret, at now: Date) async throws -> ConsoleSession?

    /// The active sessions, newest first, at most 1,000.
    func sessions(at now: Date) async throws -> [ConsoleSession]

    /// Ends a session. Does nothing if it has ended already.
    /// - Parameter name: The person who requests it.
    func end(_ id: UUID, by name: DisplayName) async throws

    /// Ends all sessions, and invalidates unused links.
    func endAll(by name: DisplayName) async throws

    /// Records that a key, or the secret of a webhook, was shown.
    func noteKeyShown(to name: DisplayName) async throws

    /// Records a sign-in by a proxy.
    func noteSignIn(of name: DisplayName) async throws

    /// At most `limit` events before a given one, newest first.
    func events(before: Int?, limit: Int) async throws -> [ConsoleEvent]
}

extension ConsoleSessions {
    public func signIn(
        by link: ConsoleSecret, as session: ConsoleSecret, at now: Date
    ) async throws -> ConsoleSession? {
        try await signIn(by: link, as: session, insteadOf: nil, at: now)
    }
}

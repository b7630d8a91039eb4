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

    /// The session of a user whom a proxy signs in with each request: without a row, a secret or an end of its own.
    public static func byProxy(_ access: ConsoleAccess, at now: Date) -> ConsoleSession {
        ConsoleSession(
            id: proxyID, access: access, createdAt: now, seenAt: now,
            expiresAt: now.addingTimeInterval(maximumLength))
    }

    public var isByProxy: Bool { id == Self.proxyID }

    private static let proxyID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// How long a link is good for, in seconds. [ours]
    public static let linkLifetime: TimeInterval = 600
    /// How long a session may last at most, in seconds. [ours]
    public static let maximumLength: TimeInterval = 12 * 3_600
    /// After how many seconds without a request a session is over. [ours]
    public static let idleTime: TimeInterval = 3_600
}

/// Where links and sessions of the console are kept: their secrets as digests alone.
public protocol ConsoleSessions: Sendable {
    /// Makes a secret for a link or a session, signed with the installation's key.
    func makeSecret() async throws -> ConsoleSecret

    /// Whether the installation made a secret. It may have expired since. Only the first call reads the database.
    func hasMade(_ secret: ConsoleSecret) async throws -> Bool

    /// Keeps a link for ``ConsoleSession/linkLifetime``.
    /// - Parameter length: how long the session may last, in seconds, from 60 to ``ConsoleSession/maximumLength``.
    func add(_ link: ConsoleSecret, for access: ConsoleAccess, lasting length: Int, at now: Date) async throws

    /// The rights that a link gives, without using it; nil for a link that was used, has expired, or never was.
    func access(by link: ConsoleSecret, at now: Date) async throws -> ConsoleAccess?

    /// Uses a link up, and begins its session.
    /// - Parameter earlier: of a session that the new one takes the place of, and which ends; nil for none.
    /// - Returns: Nil for a link that was used, has expired or never existed; the earlier session then continues.
    func signIn(
        by link: ConsoleSecret, as session: ConsoleSecret, insteadOf earlier: ConsoleSecret?, at now: Date
    ) async throws -> ConsoleSession?

    /// The session, noting that it is in use; nil for one that is over. A secret that the installation did not make causes no
    /// query.
    func session(_ secret: ConsoleSecret, at now: Date) async throws -> ConsoleSession?

    /// Those under way, the newest first, at most 1,000.
    func sessions(at now: Date) async throws -> [ConsoleSession]

    /// Ends a session; one that is over already stays so.
    /// - Parameter name: The person who requests it.
    func end(_ id: UUID, by name: DisplayName) async throws

    /// Ends all of them, and makes links that were not used useless.
    func endAll(by name: DisplayName) async throws

    /// Writes down that a key, or the secret of a webhook, was shown.
    func noteKeyShown(to name: DisplayName) async throws

    /// Records a sign-in by a proxy.
    func noteSignIn(of name: DisplayName) async throws

    /// What happened, the newest first, from before one on, up to `limit`.
    func events(before: Int?, limit: Int) async throws -> [ConsoleEvent]
}

extension ConsoleSessions {
    public func signIn(
        by link: ConsoleSecret, as session: ConsoleSecret, at now: Date
    ) async throws -> ConsoleSession? {
        try await signIn(by: link, as: session, insteadOf: nil, at: now)
    }
}

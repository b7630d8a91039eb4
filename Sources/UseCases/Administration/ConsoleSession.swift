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

/// The result of a rate limit check, and the rest of the burst.
public struct RateLimitState: Sendable, Hashable {
    public let limit: RateLimit
    /// The number of further events that are admitted immediately; 0 if this one was refused.
    public let remaining: Int
    /// The time until the burst is full again, in nanoseconds.
    let untilFull: Int64
    /// The time until the next event is admitted, in nanoseconds; 0 if this one was admitted.
    let untilNext: Int64

    public var isAdmitted: Bool { untilNext == 0 }

    /// Whole seconds, rounded up, for header fields.
    public var secondsUntilFull: Int { Int((untilFull + 999_999_999) / 1_000_000_000) }
    public var secondsUntilNext: Int { Int((untilNext + 999_999_999) / 1_000_000_000) }
}

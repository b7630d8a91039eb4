/// What a limit said, and how much of it is left.
public struct RateLimitState: Sendable, Hashable {
    public let limit: RateLimit
    /// How many more may follow at once; 0 when this one was refused.
    public let remaining: Int
    /// In how long the whole burst is there again, in nanoseconds.
    let untilFull: Int64
    /// In how long the next may follow, in nanoseconds; 0 when this one was admitted.
    let untilNext: Int64

    public var isAdmitted: Bool { untilNext == 0 }

    /// Whole seconds, rounded up: what header fields tell.
    public var secondsUntilFull: Int { Int((untilFull + 999_999_999) / 1_000_000_000) }
    public var secondsUntilNext: Int { Int((untilNext + 999_999_999) / 1_000_000_000) }
}

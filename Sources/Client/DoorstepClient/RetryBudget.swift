/// The retry budget of a request. [ours]
///
/// The pauses double from ``first`` to ``longest``. Each is shortened at random by up to a half, so that
/// rejected clips do not retry at the same time. The session waits for a server's `Retry-After`, or gives
/// up if the budget is less.
public struct RetryBudget: Sendable, Hashable {
    /// The maximum sum of all pauses. Zero: no retries.
    public var total: Duration
    /// The first pause.
    public var first: Duration
    /// The longest pause, unless the server asks for a longer one.
    public var longest: Duration
    /// The maximum duration of one attempt.
    public var timeout: Duration

    /// Creates a budget from the pauses and the duration of one attempt.
    public init(total: Duration, first: Duration, longest: Duration, timeout: Duration) {
        self.total = total
        self.first = first
        self.longest = longest
        self.timeout = timeout
    }

    /// 6 s of pauses, attempts of 10 s.
    public static let interactive = RetryBudget(
        total: .seconds(6), first: .milliseconds(500), longest: .seconds(4), timeout: .seconds(10))
    /// Three minutes of pauses, attempts of 30 s.
    public static let background = RetryBudget(
        total: .seconds(180), first: .seconds(1), longest: .seconds(30), timeout: .seconds(30))

    /// Returns the pause before the next attempt, or nil if there is to be none.
    ///
    /// - Parameters:
    ///   - tries: The number of attempts so far, from 1.
    ///   - spent: The sum of the pauses so far.
    ///   - retryAfter: The server's `Retry-After`.
    ///   - chance: From 0 to 1.
    func pause(
        afterTries tries: Int, spent: Duration, retryAfter: Duration?, chance: Double
    ) -> Duration? {
        var pause = first
        for _ in 1..<max(1, min(tries, 32)) where pause < longest { pause *= 2 }
        pause = min(pause, longest) * (1 - chance / 2)
        pause = max(pause, retryAfter ?? .zero)
        return pause > .zero && spent + pause <= total ? pause : nil
    }
}

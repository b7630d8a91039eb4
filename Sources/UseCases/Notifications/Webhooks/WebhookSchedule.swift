/// When a message that was not taken is tried again.
public enum WebhookSchedule {
    /// The pauses between attempts: about three days in total.
    ///
    /// Source: Standard Webhooks 1.0, "Retry schedule", which recommends all except the last two.
    static let pauses: [Duration] = [
        .seconds(5), .seconds(300), .seconds(1_800), .seconds(2 * 3_600), .seconds(5 * 3_600),
        .seconds(10 * 3_600), .seconds(14 * 3_600), .seconds(20 * 3_600), .seconds(24 * 3_600),
    ]

    /// The pause after a failed attempt; nil after the last attempt.
    /// - Parameters:
    ///   - attempt: The number of the failed attempt, from 1.
    ///   - random: A number from 0 to 1, which spreads concurrent failures by up to a fifth.
    ///   - wish: The pause that the receiver requested (`Retry-After`): the actual pause is at least as long, up to a day
    ///     [ours].
    public static func pause(
        afterAttempt attempt: Int, random: Double, wish: Duration? = nil
    ) -> Duration? {
        guard attempt >= 1, attempt <= pauses.count else { return nil }
        let pause = pauses[attempt - 1] * (1 + random / 5)
        return max(pause, min(wish ?? .zero, longestWish))
    }

    /// The longest pause that a receiver can request.
    private static let longestWish = Duration.seconds(86_400)

    /// The maximum age of a message, including pauses that the receiver requests. The pauses of the schedule alone are shorter.
    static let maximumAge = Duration.seconds(4 * 86_400)

    /// The time for which a webhook may fail before it is disabled. [ours]
    static let patience = Duration.seconds(patienceDays * 86_400)

    /// The same in days, for people.
    public static let patienceDays = 3

    /// The rest of a webhook after consecutive failures of the store, from 5 s to 5 minutes. [ours]
    static func rest(afterFailure number: Int) -> Duration {
        min(.seconds(5) * (1 << min(max(number - 1, 0), 6)), .seconds(300))
    }
}

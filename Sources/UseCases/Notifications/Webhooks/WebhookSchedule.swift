/// When a message that was not taken is tried again.
public enum WebhookSchedule {
    /// The pauses between one attempt and the next: about three days in all.
    ///
    /// Source: Standard Webhooks 1.0, "Retry schedule", which recommends these but for the last two.
    static let pauses: [Duration] = [
        .seconds(5), .seconds(300), .seconds(1_800), .seconds(2 * 3_600), .seconds(5 * 3_600),
        .seconds(10 * 3_600), .seconds(14 * 3_600), .seconds(20 * 3_600), .seconds(24 * 3_600),
    ]

    /// How long to wait after an attempt that failed; nil after the last.
    /// - Parameters:
    ///   - attempt: the one that failed, from 1.
    ///   - random: from 0 to 1: spreads what failed together, by up to a fifth.
    ///   - wish: The pause that the receiver requested (`Retry-After`): the actual pause is at least as long, up to a day
    ///     [ours].
    public static func pause(
        afterAttempt attempt: Int, random: Double, wish: Duration? = nil
    ) -> Duration? {
        guard attempt >= 1, attempt <= pauses.count else { return nil }
        let pause = pauses[attempt - 1] * (1 + random / 5)
        return max(pause, min(wish ?? .zero, longestWish))
    }

    /// So long a receiver can have a message wait, at most.
    private static let longestWish = Duration.seconds(86_400)

    /// The maximum age of a message, including pauses that the receiver requests. The pauses of the schedule alone are shorter.
    static let maximumAge = Duration.seconds(4 * 86_400)

    /// How long a webhook may fail before it is switched off. [ours]
    static let patience = Duration.seconds(patienceDays * 86_400)

    /// The same in days, for people.
    public static let patienceDays = 3

    /// How long a webhook is left alone after the store failed for it, so often in succession: from 5 s to 5 minutes [ours].
    static func rest(afterFailure number: Int) -> Duration {
        min(.seconds(5) * (1 << min(max(number - 1, 0), 6)), .seconds(300))
    }
}

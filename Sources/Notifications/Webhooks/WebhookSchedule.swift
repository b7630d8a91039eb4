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
    public static func pause(afterAttempt attempt: Int, random: Double) -> Duration? {
        guard attempt >= 1, attempt <= pauses.count else { return nil }
        return pauses[attempt - 1] * (1 + random / 5)
    }
}

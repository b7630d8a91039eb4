/// What became of one attempt.
public struct Completion: Sendable {
    public let delivery: ClaimedDelivery
    public let verdict: DeliveryVerdict
    /// Nil when nothing was tried.
    public let answer: DeliveryAnswer?

    public init(delivery: ClaimedDelivery, verdict: DeliveryVerdict, answer: DeliveryAnswer?) {
        self.delivery = delivery
        self.verdict = verdict
        self.answer = answer
    }
}

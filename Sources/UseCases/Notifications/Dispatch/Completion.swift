/// The result of one attempt.
public struct Completion: Sendable {
    public let delivery: ClaimedDelivery
    public let verdict: DeliveryVerdict
    /// Nil without an attempt.
    public let response: DeliveryResponse?

    public init(delivery: ClaimedDelivery, verdict: DeliveryVerdict, response: DeliveryResponse?) {
        self.delivery = delivery
        self.verdict = verdict
        self.response = response
    }
}

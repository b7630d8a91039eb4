/// The number of a notification's deliveries with a state and a reason.
public struct DeliveryCount: Sendable, Hashable {
    public let state: DeliveryState
    public let reason: String?
    public let count: Int

    public init(state: DeliveryState, reason: String?, count: Int) {
        self.state = state
        self.reason = reason
        self.count = count
    }
}

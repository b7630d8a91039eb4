/// The state of a delivery.
public enum DeliveryState: String, Sendable, Hashable, CaseIterable {
    /// Never sent, by decision.
    case skipped
    case queued
    /// Leased to a server, which is sending it.
    case sending
    /// APNs has taken it.
    case delivered
    /// APNs has not taken it and will not: a dead letter.
    case refused
    /// APNs may have accepted it: an attempt got no response.
    case uncertain
    /// There was no more point in sending it.
    case expired
}

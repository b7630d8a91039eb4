/// The result of storing a notification.
public enum Addition: Sendable, Hashable {
    /// With the first ``answeredDeliveries`` deliveries, and the decisions for the first part of the audience.
    case added(NotificationTrace)
    /// The key was used for the same request before: its response, with the parts of the audience that followed.
    case repeated(NotificationTrace)
    /// Nothing was stored.
    case refused(IntakeRefusal)

    /// The maximum number of deliveries in a response.
    public static let answeredDeliveries = 1_000
}

/// What became of a notification that was to be stored.
public enum Addition: Sendable, Hashable {
    /// With the first ``answeredDeliveries`` deliveries, and what was decided in the first part of the
    /// audience.
    case added(NotificationTrace)
    /// The key was used for the same request before: what that was answered, with the parts of the audience that have
    /// followed since.
    case repeated(NotificationTrace)
    /// The key was used for another request.
    case keyReused
    case unknownChannel
    /// The audience names an instance, and the tenant has none of this ID that the request may reach.
    case unknownInstance
    /// The notification has an expiration, and its channel stores no message.
    case channelStoresNothing

    /// How many deliveries the answer holds.
    public static let answeredDeliveries = 1_000
}

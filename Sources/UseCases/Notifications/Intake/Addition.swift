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

    /// How many deliveries the answer holds.
    public static let answeredDeliveries = 1_000
}

import ArgumentParser
import Persistence

/// For how long a server keeps what it knows for notifications.
struct NotificationRetention: ParsableArguments {
    @Option(
        name: .customLong("instance-retention"),
        help: """
            After how many days an instance goes that was not launched, 1 to 365. \
            (environment: DOORSTEP_INSTANCE_RETENTION, default: 30)
            """)
    var instances: Int?
    @Option(
        name: .customLong("notification-retention"),
        help: """
            For how many days notifications are kept, 1 to 365. (environment: DOORSTEP_NOTIFICATION_RETENTION, \
            default: 30)
            """)
    var notifications: Int?

    private static let days = 30

    /// The days that hold, of flags, environment and defaults.
    func checked() throws -> (instances: Int, notifications: Int) {
        let instances =
            try instances ?? Environment.value("DOORSTEP_INSTANCE_RETENTION", as: Int.self) ?? Self.days
        let notifications =
            try notifications ?? Environment.value("DOORSTEP_NOTIFICATION_RETENTION", as: Int.self)
            ?? Self.days
        for (name, days) in [("instance", instances), ("notification", notifications)] {
            guard NotificationUpkeep.retentions.contains(days) else {
                throw ValidationError("--\(name)-retention is from 1 to 365 days")
            }
        }
        return (instances, notifications)
    }
}

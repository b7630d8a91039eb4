import CLibPQ

extension Session {
    /// The notifications that have arrived, in order.
    func takeNotifications() -> [Notification] {
        var taken: [Notification] = []
        while let notification = PQnotifies(connection) {
            taken.append(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return taken
    }
}

import HTTPAPI
import Logging
import Notifications
import Persistence
import PostgreSQL
import ServiceLifecycle

/// All that a server takes notifications in with, and sends them with.
struct Delivery: Sendable {
    let answers: NotificationAnswers
    /// Nil for a server that only takes in.
    let service: DispatchService?
    private let dispatcher: Dispatcher?
    private let figures = DeliveryFigures()

    /// - Parameter sender: Nil for a server that only takes in: what it queues, another one sends.
    init(_ pool: ConnectionPool, keys: SealingKeys, sender: (any PushSender)?, logger: Logger) {
        let dispatcher = sender.map { [figures] sender in
            Dispatcher(
                PostgresOutbox(pool, keys: keys), sender,
                onEvent: { event in
                    figures.count(event)
                    event.log(to: logger)
                })
        }
        self.dispatcher = dispatcher
        service = dispatcher.map(DispatchService.init)
        answers = NotificationAnswers(PostgresNotificationStore(pool)) { dispatcher?.wake() }
    }

    /// What is measured when somebody asks.
    func updateFigures() {
        if let dispatcher { figures.update(dispatcher) }
    }
}

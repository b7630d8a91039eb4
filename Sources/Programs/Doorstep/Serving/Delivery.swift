import HTTPAPI
import Logging
import Notifications
import Persistence
import PostgreSQL
import ServiceLifecycle

/// The services and stores with which a server accepts and sends notifications.
struct Delivery: Sendable {
    let intake: NotificationIntake
    /// Adds the remaining deliveries of audiences. If the server has a sender, it also sends deliveries.
    let services: [any Service]
    private let dispatcher: Dispatcher?
    private let metrics = DeliveryMetrics()

    /// - Parameters:
    ///   - sender: Nil if the server only accepts notifications, and another server sends them.
    ///   - timeout: The maximum time of a sender; a lease lasts longer than twice that.
    init(
        _ pool: ConnectionPool, sendingBy deliveryPool: ConnectionPool, keys: SealingKeys,
        sender: (any PushSender)?, timeout: Duration, logger: Logger
    ) {
        var settings = Dispatcher.Settings()
        // A request that ends at the timeout finishes slightly later, and its result is collected before it is stored. If the
        // timeout is short, half of the lease would not be enough for both.
        settings.lease = timeout * 2 + .seconds(1)
        let dispatcher = sender.map { [metrics, settings] sender in
            Dispatcher(
                PostgresOutbox(deliveryPool, keys: keys), sender, settings: settings,
                onEvent: { event in
                    metrics.count(event)
                    event.log(to: logger)
                })
        }
        self.dispatcher = dispatcher
        let audiences = AudienceContinuation(PostgresNotificationStore(deliveryPool))
        let decisions = DecisionCounters()
        intake = NotificationIntake(
            PostgresNotificationStore(pool), onDecided: decisions.count,
            onQueued: { dispatcher?.wake() }, onIncomplete: { audiences.wake() })
        let continuing = AudienceService(audiences) { event in
            event.log(to: logger)
            guard case .taken(let part) = event else { return }
            decisions.count(part.counts)
            if part.counts.contains(where: { $0.state == .queued }) { dispatcher?.wake() }
        }
        services = [continuing] + (dispatcher.map { [DispatchService($0)] } ?? [])
    }

    /// Measures the pools on request.
    func updateMetrics() {
        if let dispatcher { metrics.update(dispatcher) }
    }
}

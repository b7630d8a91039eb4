import HTTPAPI
import Logging
import Notifications
import Persistence
import PostgreSQL
import ServiceLifecycle

/// All that a server takes notifications in with, and sends them with.
struct Delivery: Sendable {
    let intake: NotificationIntake
    /// Takes in the rest of audiences; and sends, but for a server that only takes in.
    let services: [any Service]
    private let dispatcher: Dispatcher?
    private let metrics = DeliveryMetrics()

    /// - Parameters:
    ///   - sender: Nil for a server that only accepts notifications: another one sends them.
    ///   - timeout: The maximum time of a sender; a lease lasts longer than twice that.
    init(
        _ pool: ConnectionPool, sendingBy deliveryPool: ConnectionPool, keys: SealingKeys,
        sender: (any PushSender)?, timeout: Duration, logger: Logger
    ) {
        var settings = Dispatcher.Settings()
        // A request that ends at the timeout finishes a little later, and its result is collected before it is stored: with a
        // short timeout the other half would not be enough for both.
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

    /// Measured on request.
    func updateMetrics() {
        if let dispatcher { metrics.update(dispatcher) }
    }
}

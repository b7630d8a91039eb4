import Logging
import Notifications
import ServiceLifecycle

/// Sends due deliveries while the server runs. At the end, it finishes running requests and gives back the other deliveries.
struct DispatchService: Service {
    private let dispatcher: Dispatcher

    init(_ dispatcher: Dispatcher) {
        self.dispatcher = dispatcher
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            await dispatcher.run()
        } onGracefulShutdown: {
            dispatcher.shutDown()
        }
    }
}

extension Dispatcher.Event {
    /// Logs what an operator needs to know; metrics count single deliveries.
    func log(to logger: Logger) {
        switch self {
        case .attempted, .decided: break
        case .failed(let error):
            logger.warning("the outbox does not respond: trying again", metadata: ["error": "\(error)"])
        case .recovered:
            logger.notice("the outbox responds again")
        case .unwritable(let delivery, let error):
            logger.error(
                "the result of a delivery cannot be stored: it is sent again with the same ID",
                metadata: ["delivery": "\(delivery)", "error": "\(error)"])
        case .abandoned(let count):
            logger.error(
                "the results of deliveries cannot be stored: they are sent again with the same IDs",
                metadata: ["count": "\(count)"])
        }
    }
}

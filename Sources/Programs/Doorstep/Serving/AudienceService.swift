import Logging
import Notifications
import ServiceLifecycle

/// Adds the remaining deliveries of audiences while the server runs. After its end, another server continues.
struct AudienceService: Service {
    private let audiences: AudienceContinuation
    private let onEvent: @Sendable (AudienceContinuation.Event) -> Void

    init(
        _ audiences: AudienceContinuation,
        onEvent: @escaping @Sendable (AudienceContinuation.Event) -> Void
    ) {
        self.audiences = audiences
        self.onEvent = onEvent
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await audiences.run(onEvent: onEvent) }
    }
}

extension AudienceContinuation.Event {
    func log(to logger: Logger) {
        switch self {
        case .taken: break
        case .failed(let error):
            logger.warning(
                "an audience could not be added completely: trying again", metadata: ["error": "\(error)"])
        case .unavailable(let error):
            logger.warning(
                "unfinished audiences could not be read: trying again",
                metadata: ["error": "\(error)"])
        }
    }
}

import Logging
import Persistence
import ServiceLifecycle

/// Records confirmations while the server runs. At the end, records the waiting ones.
struct RecordingService: Service {
    private let queue: ConfirmationQueue
    private let logger: Logger

    /// The maximum time of the end.
    private static let lastFlush = Duration.seconds(5)

    init(_ queue: ConfirmationQueue, logger: Logger) {
        self.queue = queue
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await queue.run() }
        await withTaskGroup { group in
            group.addTask { try? await queue.flush() }
            group.addTask { try? await Task.sleep(for: Self.lastFlush) }
            await group.next()
            group.cancelAll()
        }
        let lost = queue.count
        if lost > 0 { logger.error("confirmations were not recorded", metadata: ["count": "\(lost)"]) }
    }
}

import Persistence
import ServiceLifecycle

/// Writes the data that a queue collects in memory, while the server runs and once more at the end.
struct GatheringService: Service {
    private let queue: any GatheringQueue

    init(_ queue: any GatheringQueue) {
        self.queue = queue
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await queue.run() }
        await queue.flush()
    }
}

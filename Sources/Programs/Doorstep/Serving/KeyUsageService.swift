import Persistence
import ServiceLifecycle

/// Writes down when keys were used, as long as the server runs and once more when it ends.
struct KeyUsageService: Service {
    private let queue: KeyUsageQueue

    init(_ queue: KeyUsageQueue) {
        self.queue = queue
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await queue.run() }
        await queue.flush()
    }
}

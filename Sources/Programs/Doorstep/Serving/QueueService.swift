import Administration
import Foundation
import Logging
import Metrics
import Persistence
import ServiceLifecycle

/// Updates the metrics of the waiting work in the database while the server runs.
struct QueueService: Service {
    let installation: PostgresInstallation
    let logger: Logger

    /// The interval between two updates. [ours]
    private static let pause = Duration.seconds(30)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    for queue in try await installation.queues() { Self.measure(queue) }
                } catch {
                    guard !Task.isCancelled else { break }
                    logger.warning("cannot read the queues", metadata: ["error": "\(error)"])
                }
                // Delayed randomly, so that servers do not read at the same time.
                try? await Task.sleep(for: Self.pause * Double.random(in: 0.5...1.5))
            }
        }
    }

    private static func measure(_ queue: InstallationStatus.Queue) {
        let dimensions = [("queue", queue.kind == .deliveries ? "deliveries" : "webhook_messages")]
        Meter(label: "doorstep_queue_messages", dimensions: dimensions).set(queue.count)
        Meter(label: "doorstep_queue_overdue_seconds", dimensions: dimensions)
            .set(max(0, queue.firstDueAt.map { Date().timeIntervalSince($0) } ?? 0))
    }
}

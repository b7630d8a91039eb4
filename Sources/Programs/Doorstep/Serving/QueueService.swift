import Administration
import Foundation
import Logging
import Metrics
import Persistence
import ServiceLifecycle

/// Measures the messages that wait in the database, as long as the server runs.
struct QueueService: Service {
    let installation: PostgresInstallation
    let logger: Logger

    /// Between two readings. [ours]
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
                // Not all servers at once.
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

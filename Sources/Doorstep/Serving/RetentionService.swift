import Logging
import Persistence
import ServiceLifecycle

/// Keeps the days of confirmations in order as long as the server runs.
///
/// Not a condition of serving: what has no day yet is recorded all the same, and moved when it has.
struct RetentionService: Service {
    private let days: ConfirmationDays
    private let logger: Logger

    private static let interval = Duration.seconds(600)

    init(_ days: ConfirmationDays, logger: Logger) {
        self.days = days
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await maintain()
                // Not all servers at once.
                try? await Task.sleep(for: Self.interval * Double.random(in: 0.5...1.5))
            }
        }
    }

    private func maintain() async {
        do {
            let upkeep = try await days.maintain()
            if upkeep != ConfirmationDays.Upkeep() {
                logger.info(
                    "days of confirmations",
                    metadata: [
                        "dropped": "\(upkeep.dropped)", "added": "\(upkeep.added)",
                        "indexed": "\(upkeep.indexed)",
                    ])
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning(
                "days of confirmations are not in order yet", metadata: ["error": "\(error)"])
        }
    }
}

import Logging
import Persistence
import ServiceLifecycle

/// Records confirmations while the server runs. At the end, records the waiting ones. If the database does not respond then, a file keeps
/// them for the next start.
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
        restore()
        await cancelWhenGracefulShutdown { await queue.run() }
        await finish(within: Self.lastFlush) { try? await queue.flush() }
        save()
    }

    private func restore() {
        do {
            let count = try queue.restore()
            guard count > 0 else { return }
            logger.notice("confirmations of an earlier run are recorded", metadata: ["count": "\(count)"])
        } catch {
            logger.error(
                "the file of unrecorded confirmations cannot be read: it is renamed to end in .unreadable",
                metadata: ["error": "\(error)"])
        }
    }

    private func save() {
        let count = queue.count
        guard count > 0 else { return }
        do {
            guard try queue.save() > 0 else {
                return logger.error(
                    "confirmations were not recorded: no --table-file is set, beside which they could wait",
                    metadata: ["count": "\(count)"])
            }
            logger.warning(
                "confirmations wait in a file for the next start", metadata: ["count": "\(count)"])
        } catch {
            logger.error(
                "confirmations were not recorded", metadata: ["count": "\(count)", "error": "\(error)"])
        }
    }
}

import Logging
import ServiceLifecycle
import UnixSignals

/// Triggers new reads of followed files: every ten seconds, and at SIGHUP.
enum FollowedFiles {
    /// The maximum time until a change is noticed.
    private static let interval = Duration.seconds(10)

    /// Returns one element at once, and another one each time that the files are to be read. Ends when its reader is cancelled.
    static func looks() -> AsyncStream<Void> {
        let (looks, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let timer = Task {
            while !Task.isCancelled {
                continuation.yield()
                try? await Task.sleep(for: interval)
            }
        }
        let signals = Task {
            for await _ in await UnixSignalsSequence(trapping: .sighup) { continuation.yield() }
        }
        continuation.onTermination = { _ in
            timer.cancel()
            signals.cancel()
        }
        return looks
    }
}

/// Handles SIGHUP, which would otherwise end the process, and logs it.
struct HangupService: Service {
    let message: Logger.Message
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in await UnixSignalsSequence(trapping: .sighup) {
                logger.notice(message)
            }
        }
    }
}

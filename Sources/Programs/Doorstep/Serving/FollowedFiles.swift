import Logging
import ServiceLifecycle
import UnixSignals

/// When files that are followed are read again: every ten seconds, and at SIGHUP.
enum FollowedFiles {
    /// How long a change can stay unnoticed.
    private static let interval = Duration.seconds(10)

    /// One element at once, and one each time that the files are to be read. Ends when its reader is cancelled.
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

/// Takes SIGHUP, which would end the process, and logs it.
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

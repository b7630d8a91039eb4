import Glibc
import NIOCore

extension APNsSimulator {
    /// The processor time of the one thread that it serves by, for benchmarks.
    public func processorTime() async throws -> Duration {
        try await server.eventLoop.submit {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }.get()
    }
}

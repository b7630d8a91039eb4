import NIOCore
import Platform

extension APNsSimulator {
    /// The processor time of the one thread that it serves by, for benchmarks.
    public func processorTime() async throws -> Duration {
        try await server.eventLoop.submit { ProcessorTime.ofThread }.get()
    }
}

import NIOCore
import Platform

extension APNsSimulator {
    /// The processor time of the simulator's only thread, for benchmarks.
    public func processorTime() async throws -> Duration {
        try await server.eventLoop.submit { ProcessorTime.ofThread }.get()
    }
}

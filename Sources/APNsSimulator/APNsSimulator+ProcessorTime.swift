import Foundation
import NIOCore

extension APNsSimulator {
    /// The processor time of the one thread that it serves by, for benchmarks; zero where Linux does not keep it.
    public func processorTime() async throws -> Duration {
        try await server.eventLoop.submit {
            // "time spent on the cpu (in nanoseconds)": Linux, Documentation/scheduler/sched-stats.rst.
            let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8)
            return .nanoseconds(text?.split(separator: " ").first.flatMap { Int64($0) } ?? 0)
        }.get()
    }
}

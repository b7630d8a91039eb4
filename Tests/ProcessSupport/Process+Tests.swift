public import Foundation
import Synchronization

extension Process {
    private static let oneAtATime = Mutex(())

    /// Runs the process, as `run()` does, while no other is being started.
    ///
    /// Foundation sees a process's end by a socket whose other end the process has. Of two that are started at once, one can
    /// inherit the other's: then each test could wait for the end of what the other keeps running.
    public func start() throws {
        try Self.oneAtATime.withLock { _ in try run() }
    }

    /// Runs the process and waits until it has ended.
    ///
    /// Foundation's `waitUntilExit` would hold a thread meanwhile, of the few that all tests share: what the process waits for
    /// may be in one of those.
    /// - Returns: Its status.
    public func runToEnd() async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try start() } catch { continuation.resume(throwing: error) }
        }
    }
}

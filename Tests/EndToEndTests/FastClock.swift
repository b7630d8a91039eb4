import AppStoreConnectSimulator
import AppStoreSync
import Foundation
import Synchronization

/// A clock that skips waiting times, for itself and for the simulator.
final class FastClock: SyncClock {
    private let simulator: AppStoreConnectSimulator
    private let ahead = Mutex<TimeInterval>(0)

    init(_ simulator: AppStoreConnectSimulator) {
        self.simulator = simulator
    }

    func now() -> Date { Date().addingTimeInterval(ahead.withLock { $0 }) }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        ahead.withLock { $0 += duration / .seconds(1) }
        simulator.advance(by: duration)
    }
}

/// A clock that calls a closure at each pause.
struct InterruptedClock: SyncClock {
    private let clock: FastClock
    private let interrupt: @Sendable (Duration) async throws -> Void

    init(_ clock: FastClock, _ interrupt: @escaping @Sendable (Duration) async throws -> Void) {
        self.clock = clock
        self.interrupt = interrupt
    }

    func now() -> Date { clock.now() }

    func sleep(for duration: Duration) async throws {
        try await interrupt(duration)
        try await clock.sleep(for: duration)
    }
}

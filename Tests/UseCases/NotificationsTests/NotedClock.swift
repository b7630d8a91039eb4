import Foundation
import Synchronization

/// A clock whose sleeps end when a test says so.
final class NotedClock: Clock {
    private struct State {
        var sleepers: [UUID: (duration: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var waiters: [(duration: Duration, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now

    /// It stands.
    var now: ContinuousClock.Instant { start }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let woken = state.withLock { state in
                    state.sleepers[id] = (deadline - start, continuation)
                    defer { state.waiters.removeAll { $0.duration == deadline - start } }
                    return state.waiters.filter { $0.duration == deadline - start }
                }
                for waiter in woken { waiter.continuation.resume() }
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: UUID) {
        state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(
            throwing: CancellationError())
    }

    /// Waits until somebody sleeps for so long.
    func wait(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            let isSlept = state.withLock { state in
                let isSlept = state.sleepers.values.contains { $0.duration == duration }
                if !isSlept { state.waiters.append((duration, continuation)) }
                return isSlept
            }
            if isSlept { continuation.resume() }
        }
    }

    /// Wakes who sleeps for so long.
    func end(_ duration: Duration) {
        let woken = state.withLock { state in
            let ids = state.sleepers.filter { $0.value.duration == duration }.map(\.key)
            return ids.compactMap { state.sleepers.removeValue(forKey: $0) }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }
}

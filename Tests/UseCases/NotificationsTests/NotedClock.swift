import Foundation
import Synchronization

/// A clock whose sleeps end when a test ends them.
final class NotedClock: Clock {
    private struct State {
        var sleepers: [UUID: (duration: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var waiters: [UUID: (duration: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now

    /// The time does not advance.
    var now: ContinuousClock.Instant { start }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let woken = state.withLock { state in
                    state.sleepers[id] = (deadline - start, continuation)
                    let woken = state.waiters.filter { $0.value.duration == deadline - start }
                    for id in woken.keys { state.waiters[id] = nil }
                    return woken.values.map(\.continuation)
                }
                for waiter in woken { waiter.resume() }
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

    /// Waits until a task sleeps for this duration, or until cancellation.
    func wait(for duration: Duration) async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let isSlept = state.sleepers.values.contains { $0.duration == duration }
                    guard !isSlept, !Task.isCancelled else { return true }
                    state.waiters[id] = (duration, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Ends the sleeps of this duration.
    func end(_ duration: Duration) {
        let woken = state.withLock { state in
            let ids = state.sleepers.filter { $0.value.duration == duration }.map(\.key)
            return ids.compactMap { state.sleepers.removeValue(forKey: $0) }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }
}

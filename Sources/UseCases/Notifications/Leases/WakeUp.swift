import Synchronization

/// Wakes one waiting task; a signal without a waiting task is kept, once.
final class WakeUp: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func raise() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isRaised = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns once it is raised, or the task is cancelled. Not to be called by two tasks at once.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRaised = state.withLock { state in
                    guard state.isRaised || Task.isCancelled else {
                        state.waiter = continuation
                        return false
                    }
                    state.isRaised = false
                    return true
                }
                if isRaised { continuation.resume() }
            }
        } onCancel: {
            raise()
        }
    }
}

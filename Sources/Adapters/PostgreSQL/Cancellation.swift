import Synchronization

/// Whether the task that waits for a job has given up.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isRequested: Bool { flag.load(ordering: .acquiring) }

    func request() {
        flag.store(true, ordering: .releasing)
    }
}

import Foundation

/// Lets one at a time do what takes several steps, in the order in which they came. An actor lets others in at every `await`; this
/// does not.
final class Turns: Sendable {
    private let lock = NSLock()
    // `lock` protects reads and writes.
    nonisolated(unsafe) private var isTaken = false
    nonisolated(unsafe) private var waiting: [Waiter] = []

    private struct Waiter {
        let id: UUID
        /// Takes whether it has the turn.
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// - Throws: ``ClipError/cancelled``; then there is no turn to end.
    func begin() async throws(ClipError) {
        let id = UUID()
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMine: Bool? = lock.withLock {
                    // The cancellation handler has already run and found nothing to resume.
                    if Task.isCancelled { return false }
                    if isTaken {
                        waiting.append(Waiter(id: id, continuation: continuation))
                        return nil
                    }
                    isTaken = true
                    return true
                }
                if let isMine { continuation.resume(returning: isMine) }
            }
        } onCancel: {
            let waiter = lock.withLock {
                waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        guard isMine else { throw .cancelled }
    }

    /// Lets the next one in.
    func end() {
        let next: Waiter? = lock.withLock {
            if waiting.isEmpty {
                isTaken = false
                return nil
            }
            return waiting.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }
}

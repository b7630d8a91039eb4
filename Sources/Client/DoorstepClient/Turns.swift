import Foundation

/// Lets one at a time do what takes several steps, in the order in which they came. An actor lets others in at every `await`; this
/// does not.
final class Turns: Sendable {
    private let lock = NSLock()
    // Read and written only while `lock` is held.
    nonisolated(unsafe) private var isTaken = false
    nonisolated(unsafe) private var waiting: [CheckedContinuation<Void, Never>] = []

    func begin() async {
        await withCheckedContinuation { continuation in
            let isMine = lock.withLock {
                if isTaken {
                    waiting.append(continuation)
                    return false
                }
                isTaken = true
                return true
            }
            if isMine { continuation.resume() }
        }
    }

    /// Lets the next one in.
    func end() {
        let next: CheckedContinuation<Void, Never>? = lock.withLock {
            if waiting.isEmpty {
                isTaken = false
                return nil
            }
            return waiting.removeFirst()
        }
        next?.resume()
    }
}

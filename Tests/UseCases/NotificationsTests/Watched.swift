import Synchronization

/// A state that tests wait for.
final class Watched<State: Sendable>: Sendable {
    private struct Contents {
        var state: State
        var waiters: [(isOver: @Sendable (State) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    private let contents: Mutex<Contents>

    init(_ state: State) {
        contents = Mutex(Contents(state: state))
    }

    var current: State { contents.withLock(\.state) }

    func wait(until isOver: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = contents.withLock { contents in
                if isOver(contents.state) { return true }
                contents.waiters.append((isOver, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    @discardableResult
    func change<Result: Sendable>(_ change: (inout State) throws -> Result) rethrows -> Result {
        let (result, woken) = try contents.withLock { contents in
            let result = try change(&contents.state)
            let state = contents.state
            let woken = contents.waiters.filter { $0.isOver(state) }.map(\.continuation)
            contents.waiters.removeAll { $0.isOver(state) }
            return (result, woken)
        }
        for continuation in woken { continuation.resume() }
        return result
    }
}

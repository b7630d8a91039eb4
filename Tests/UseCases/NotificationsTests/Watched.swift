import Foundation
import Synchronization

/// A state for whose conditions tests can wait, within their time limit.
final class Watched<State: Sendable>: Sendable {
    private struct Contents {
        var state: State
        var waiters:
            [UUID: (isOver: @Sendable (State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = [:]
    }

    private let contents: Mutex<Contents>

    init(_ state: State) {
        contents = Mutex(Contents(state: state))
    }

    var current: State { contents.withLock(\.state) }

    func wait(until isOver: @escaping @Sendable (State) -> Bool) async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = contents.withLock { contents in
                    if Task.isCancelled || isOver(contents.state) { return true }
                    contents.waiters[id] = (isOver, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            contents.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    @discardableResult
    func change<Result: Sendable>(_ change: (inout State) throws -> Result) rethrows -> Result {
        let (result, woken) = try contents.withLock { contents in
            let result = try change(&contents.state)
            let state = contents.state
            let woken = contents.waiters.filter { $0.value.isOver(state) }
            for id in woken.keys { contents.waiters[id] = nil }
            return (result, woken.values.map(\.continuation))
        }
        for continuation in woken { continuation.resume() }
        return result
    }
}

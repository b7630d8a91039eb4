import Synchronization

/// Whether the server wants new clients. If it does not, `/readyz` returns 503, so that proxies choose other servers.
final class Readiness: Sendable {
    private let isEnding = Atomic(false)
    private let isFull = Atomic(false)

    private struct Pauses {
        var isEnding = false
        var count = 0
        var running: [Int: Task<Void, Never>] = [:]
    }

    private let pauses = Mutex(Pauses())

    /// Marks the server as shutting down, and ends all pauses.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        let running = pauses.withLock { pauses in
            pauses.isEnding = true
            return Array(pauses.running.values)
        }
        for pause in running { pause.cancel() }
    }

    /// Waits, and returns early if the server shuts down or the task is cancelled.
    /// - Returns: Whether the server still runs.
    func pause(for duration: Duration) async -> Bool {
        let pause = Task<Void, Never> { try? await Task.sleep(for: duration) }
        let id: Int? = pauses.withLock { pauses in
            guard !pauses.isEnding else { return nil }
            pauses.count += 1
            pauses.running[pauses.count] = pause
            return pauses.count
        }
        guard let id else {
            pause.cancel()
            return false
        }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        return pauses.withLock { pauses in
            pauses.running[id] = nil
            return !pauses.isEnding
        } && !Task.isCancelled
    }

    /// Reserves the last fiftieth of all connections for monitors, and for clients whose proxies have not noticed. [ours]
    /// - Parameters:
    ///   - count: The number of open connections.
    ///   - maximum: The most open connections.
    func set(connections count: Int, of maximum: Int) {
        isFull.store(count * 50 > maximum * 49, ordering: .relaxed)
    }

    /// The refusal for new clients; nil if the server accepts new clients.
    var refusal: Problem? {
        if isEnding.load(ordering: .relaxed) { return .notReady("the server is shutting down") }
        if isFull.load(ordering: .relaxed) {
            return .notReady("nearly as many connections are open as the server allows (--max-connections)")
        }
        return nil
    }
}

import Synchronization

/// Whether the server wants new clients. If it does not, `/readyz` returns 503, so that proxies choose other servers.
final class Readiness: Sendable {
    private let isEnding = Atomic(false)
    private let isFull = Atomic(false)

    /// Marks the server as shutting down.
    func end() { isEnding.store(true, ordering: .relaxed) }

    /// Reserves the last fiftieth of all connections for monitors, and for clients whose proxies have not noticed. [ours]
    /// - Parameters:
    ///   - count: The number of open connections.
    ///   - maximum: The most open connections.
    func set(connections count: Int, of maximum: Int) {
        isFull.store(count * 50 > maximum * 49, ordering: .relaxed)
    }

    /// Nil if the server wants new clients.
    var refusal: Problem? {
        if isEnding.load(ordering: .relaxed) { return .notReady("the server is shutting down") }
        if isFull.load(ordering: .relaxed) {
            return .notReady("nearly as many connections are open as the server allows (--max-connections)")
        }
        return nil
    }
}

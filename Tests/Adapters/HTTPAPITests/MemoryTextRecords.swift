import Administration
import Synchronization

/// A DNS with the records of a test, and a web without pages.
final class MemoryTextRecords: TextRecordResolver, PageFetcher {
    private struct State {
        var records: [String: [String]] = [:]
        var isHeld = false
        var asked = 0
    }

    private let state = Mutex(State())

    /// The number of queries.
    var asked: Int { state.withLock { $0.asked } }

    func publish(_ name: String, _ value: String) { state.withLock { $0.records[name] = [value] } }

    /// Holds all responses back, or sends them.
    func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    func textRecords(of name: String) async throws(NoResponse) -> [String] {
        state.withLock { $0.asked += 1 }
        while state.withLock({ $0.isHeld }) { await Task.yield() }
        return state.withLock { $0.records[name] ?? [] }
    }

    func fetch(_ url: String, limit: Int) async throws(NoResponse) -> Page { Page(status: 404) }
}

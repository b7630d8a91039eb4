import Invocation
import JSON
import Lookups
import Synchronization

/// Says whether a table knows a URL, and with it who asked.
final class ScriptedDiagnoses: Sendable {
    private struct State {
        var isHeld = false
        var sitesAsked = 0
    }

    private let state = Mutex(State())

    /// How often a site was to be asked.
    var sitesAsked: Int { state.withLock { $0.sitesAsked } }

    /// From now on no site answers, or again.
    func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    func diagnose(_ url: String, _ table: TenantTable, asksSite: Bool) async throws -> JSONObject {
        if asksSite {
            state.withLock { $0.sitesAsked += 1 }
            while state.withLock({ $0.isHeld }) { await Task.yield() }
        }
        let match = (try? InvocationURL(url)).flatMap { table.match($0) }
        return ["url": .string(url), "ok": .bool(match != nil), "checks": []]
    }
}

import Formats
import Invocation
import Lookups
import Synchronization

/// Diagnoses that report whether an index knows a URL, and which key asked.
final class ScriptedDiagnoses: Sendable {
    private struct State {
        var isHeld = false
        var begun = 0
        var sitesAsked = 0
    }

    private let state = Mutex(State())

    /// The number of diagnoses that would contact a site.
    var sitesAsked: Int { state.withLock { $0.sitesAsked } }

    /// The number of diagnoses that have begun.
    var begun: Int { state.withLock { $0.begun } }

    /// Delays the end of the first four diagnoses, or ends them. Later ones are never delayed, so that a test without a limit ends.
    func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    func diagnose(_ url: String, _ table: TenantTable, asksSite: Bool) async throws -> JSONObject {
        let number: Int = state.withLock { state in
            state.begun += 1
            if asksSite { state.sitesAsked += 1 }
            return state.begun
        }
        while number <= 4, state.withLock({ $0.isHeld }) { await Task.yield() }
        let match = (try? InvocationURL(url)).flatMap { table.match($0) }
        return ["url": .string(url), "ok": .bool(match != nil), "checks": []]
    }
}

import Synchronization
import Tenancy

/// How many servers that a tenant names are waited for on its behalf, so that nobody has the console wait for all of them at once.
final class ChecksUnderWay: Sendable {
    private let counts = Mutex<[TenantID: Int]>([:])

    /// Of one tenant, at a time. [ours]
    private static let maximum = 4

    /// - Throws: ``ConsoleRefusal`` where as many are under way.
    func with<Result>(_ tenant: TenantID, _ body: () async throws -> Result) async throws -> Result {
        let isAdmitted = counts.withLock { counts in
            guard counts[tenant, default: 0] < Self.maximum else { return false }
            counts[tenant, default: 0] += 1
            return true
        }
        guard isAdmitted else { throw ConsoleRefusal.tooManyChecks }
        defer {
            counts.withLock { counts in
                let count = (counts[tenant] ?? 1) - 1
                counts[tenant] = count == 0 ? nil : count
            }
        }
        return try await body()
    }
}

import Synchronization
import Tenancy

/// How many requests each tenant has under way that wait for their bodies.
///
/// Answers themselves never wait, so that nothing else of a tenant's can pile up.
final class TenantConcurrency: Sendable {
    private let underWay = Mutex<[TenantID: Int]>([:])
    private let maximum: Int

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// - Throws: 429 when as many of the tenant's are under way as may be.
    func with<Result>(
        _ tenant: TenantID, _ body: () async throws -> Result
    ) async throws -> Result {
        let isAdmitted = underWay.withLock { underWay in
            let count = underWay[tenant] ?? 0
            guard count < maximum else { return false }
            underWay[tenant] = count + 1
            return true
        }
        guard isAdmitted else { throw Problem.tooManyAtOnce }
        defer {
            underWay.withLock { underWay in
                let count = underWay[tenant] ?? 0
                underWay[tenant] = count > 1 ? count - 1 : nil
            }
        }
        return try await body()
    }
}

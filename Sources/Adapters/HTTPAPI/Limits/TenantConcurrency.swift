import Synchronization
import Tenancy

/// How many requests each tenant has under way that wait for their bodies or for the database.
///
/// Answers from memory never wait, so that nothing else of a tenant's can pile up. Publishable keys are anyone's to use: one
/// client has a tenth of its tenant's, so that it cannot take all of them from the others.
final class TenantConcurrency: Sendable {
    private struct Holder: Hashable {
        let tenant: TenantID
        /// Nil for all of the tenant's.
        let client: Client.Address?
    }

    private let underWay = Mutex<[Holder: Int]>([:])
    private let maximum: Int
    private let refusal: Problem

    init(maximum: Int, refusal: Problem = .tooManyAtOnce) {
        self.maximum = maximum
        self.refusal = refusal
    }

    /// - Parameter client: who uses a publishable key; nil for a secret one.
    /// - Throws: The refusal, 429 unless said, when as many of the tenant's, or of the client's, are under way as may be.
    func with<Result>(
        _ tenant: TenantID, client: Client.Address? = nil, _ body: () async throws -> Result
    ) async throws -> Result {
        var holders = [Holder(tenant: tenant, client: nil)]
        if client != nil { holders.append(Holder(tenant: tenant, client: client)) }
        let isAdmitted = underWay.withLock { underWay in
            for holder in holders {
                let limit = holder.client == nil ? maximum : max(1, maximum / 10)
                guard underWay[holder, default: 0] < limit else { return false }
            }
            for holder in holders { underWay[holder, default: 0] += 1 }
            return true
        }
        guard isAdmitted else { throw refusal }
        defer {
            underWay.withLock { underWay in
                for holder in holders {
                    let count = underWay[holder] ?? 0
                    underWay[holder] = count > 1 ? count - 1 : nil
                }
            }
        }
        return try await body()
    }
}

import Synchronization
import Tenancy

/// How many requests each tenant has under way that wait for their bodies or for the database.
///
/// Answers from memory never wait, so that nothing else of a tenant's can pile up. Publishable keys are anyone's to use: one
/// client has a tenth of its tenant's, so that it cannot take all of them from the others.
final class TenantConcurrency: Sendable {
    fileprivate struct Holder: Hashable {
        let tenant: TenantID
        /// Nil for all of the tenant's.
        let client: Client.Identity?
    }

    private struct State {
        var counts: [Holder: Int] = [:]
        /// Of all tenants together.
        var total = 0
    }

    private let underWay = Mutex(State())
    private let maximum: Int
    private let refusal: Problem
    private let totalMaximum: Int
    private let totalRefusal: Problem

    /// - Parameters:
    ///   - maximum: how many a tenant may have.
    ///   - total: how many all may have together.
    init(
        maximum: Int, refusal: Problem = .tooManyAtOnce, ofAll total: Int = .max,
        refusalOfAll totalRefusal: Problem = .tooManyAtOnce
    ) {
        self.maximum = maximum
        self.refusal = refusal
        totalMaximum = total
        self.totalRefusal = totalRefusal
    }

    /// One that is under way, until it is let go.
    final class Permit: Sendable {
        private let concurrency: TenantConcurrency
        private let holders: [Holder]

        fileprivate init(_ concurrency: TenantConcurrency, _ holders: [Holder]) {
            self.concurrency = concurrency
            self.holders = holders
        }

        deinit { concurrency.end(holders) }
    }

    /// - Parameter client: who uses a publishable key; nil for a secret one.
    /// - Throws: A refusal, 429 unless said, when as many of the tenant's, of the client's, or of all are under way as may be.
    func permit(_ tenant: TenantID, client: Client.Identity? = nil) throws(Problem) -> Permit {
        var holders = [Holder(tenant: tenant, client: nil)]
        if client != nil { holders.append(Holder(tenant: tenant, client: client)) }
        let refused: Problem? = underWay.withLock { underWay in
            for holder in holders {
                let limit = holder.client == nil ? maximum : max(1, maximum / 10)
                guard underWay.counts[holder, default: 0] < limit else { return refusal }
            }
            guard underWay.total < totalMaximum else { return totalRefusal }
            for holder in holders { underWay.counts[holder, default: 0] += 1 }
            underWay.total += 1
            return nil
        }
        if let refused { throw refused }
        return Permit(self, holders)
    }

    private func end(_ holders: [Holder]) {
        underWay.withLock { underWay in
            for holder in holders {
                let count = underWay.counts[holder] ?? 0
                underWay.counts[holder] = count > 1 ? count - 1 : nil
            }
            underWay.total -= 1
        }
    }

    /// Does something under a ``permit(_:client:)``.
    func with<Result>(
        _ tenant: TenantID, client: Client.Identity? = nil, _ body: () async throws -> Result
    ) async throws -> Result {
        let permit = try permit(tenant, client: client)
        defer { withExtendedLifetime(permit) {} }
        return try await body()
    }
}

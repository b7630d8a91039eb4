import Synchronization
import Tenancy

/// Limits the requests of each tenant that wait for their bodies or for the database at once.
///
/// Responses from memory never wait, so such requests do not accumulate. Anyone can use a publishable key, so one client gets at
/// most a tenth of its tenant's limit and cannot block other clients. If the requests of all tenants are limited, too, a tenant
/// gets a further permit only while more permits are free than it has. So a few tenants cannot use all permits.
final class TenantConcurrency: Sendable {
    fileprivate struct Holder: Hashable {
        /// Nil for all tenants of the client.
        let tenant: TenantID?
        /// Nil for all clients of the tenant.
        let client: Client.Identity?
    }

    private struct State {
        var counts: [Holder: Int] = [:]
        /// The number of running requests of all tenants together.
        var total = 0
    }

    private let underWay = Mutex(State())
    private let maximum: Int
    private let refusal: Problem
    private let clientMaximum: Int
    private let totalMaximum: Int
    private let totalRefusal: Problem

    /// - Parameters:
    ///   - maximum: The maximum number of running requests of a tenant.
    ///   - clientMaximum: The maximum number of running requests of a client to all tenants together.
    ///   - total: The maximum number of running requests of all tenants together.
    ///   - totalRefusal: The refusal if too many requests of all tenants are running for a further one of this tenant.
    init(
        maximum: Int, refusal: Problem = .tooManyAtOnce, ofClient clientMaximum: Int = .max,
        ofAll total: Int = .max, refusalOfAll totalRefusal: Problem = .tooManyAtOnce
    ) {
        self.maximum = maximum
        self.refusal = refusal
        self.clientMaximum = clientMaximum
        totalMaximum = total
        self.totalRefusal = totalRefusal
    }

    /// A running request, which counts until this object is released.
    final class Permit: Sendable {
        private let concurrency: TenantConcurrency
        private let holders: [Holder]

        fileprivate init(_ concurrency: TenantConcurrency, _ holders: [Holder]) {
            self.concurrency = concurrency
            self.holders = holders
        }

        deinit { concurrency.end(holders) }
    }

    /// - Parameter client: The client, if the key is publishable; nil for a secret key.
    /// - Throws: A refusal if a limit of the tenant, of the client or of all tenants is reached; 429 by default.
    func permit(_ tenant: TenantID, client: Client.Identity? = nil) throws(Problem) -> Permit {
        var holders = [Holder(tenant: tenant, client: nil)]
        if client != nil {
            holders.append(Holder(tenant: tenant, client: client))
            if clientMaximum < .max { holders.append(Holder(tenant: nil, client: client)) }
        }
        let refused: Problem? = underWay.withLock { underWay in
            for holder in holders {
                guard underWay.counts[holder, default: 0] < limit(of: holder) else { return refusal }
            }
            let free = totalMaximum - underWay.total
            guard underWay.counts[holders[0], default: 0] < free else { return totalRefusal }
            for holder in holders { underWay.counts[holder, default: 0] += 1 }
            underWay.total += 1
            return nil
        }
        if let refused { throw refused }
        return Permit(self, holders)
    }

    private func limit(of holder: Holder) -> Int {
        if holder.tenant == nil { return clientMaximum }
        return holder.client == nil ? maximum : max(1, maximum / 10)
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

    /// Runs a closure with a ``permit(_:client:)``.
    func with<Result>(
        _ tenant: TenantID, client: Client.Identity? = nil, _ body: () async throws -> Result
    ) async throws -> Result {
        let permit = try permit(tenant, client: client)
        defer { withExtendedLifetime(permit) {} }
        return try await body()
    }
}

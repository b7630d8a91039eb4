import Administration
import Foundation
import Invocation
import Synchronization
import Tenancy

/// Stores tenants in memory. Every tenant exists, and its name is its number.
final class MemoryTenantStore: TenantStore {
    private struct State {
        var tenants: [TenantID: Tenant] = [:]
        var actors: [String] = []
        var isVisible = true
    }

    private let state = Mutex(State())

    /// The actor of each change.
    var actors: [String] { state.withLock { $0.actors } }

    /// Sets whether lookups see new changes.
    func lagBehind(_ lags: Bool) { state.withLock { $0.isVisible = !lags } }

    func tenant(_ id: TenantID) async throws -> Tenant {
        try state.withLock { try $0.tenants[id] ?? Self.tenant(id) }
    }

    func change(
        _ id: TenantID, by actor: String, _ make: @Sendable (Tenant) throws -> Tenant
    ) async throws -> CatalogueChange<Tenant> {
        try state.withLock { state in
            let before = try state.tenants[id] ?? Self.tenant(id)
            let after = try make(before)
            if after != before {
                state.tenants[id] = after
                state.actors.append(actor)
            }
            return CatalogueChange(before: before, after: after, isVisible: state.isVisible)
        }
    }

    private static func tenant(_ id: TenantID) throws -> Tenant {
        Tenant(
            id: id, slug: try TenantSlug("tenant"), name: try DisplayName("Tenant \(id)"),
            createdAt: Date(timeIntervalSince1970: 0), suspendedAt: nil,
            limits: RequestLimits(key: RateLimit(perSecond: 100, burst: 200)), collapsePolicy: .none,
            usage: [.locations: QuotaUsage(rows: 3, bytes: 30, limit: Quota(rows: 10))])
    }
}

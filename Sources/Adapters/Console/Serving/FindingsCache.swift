import Administration
import Foundation
import Invocation
import Tenancy

/// The warnings about tenants' catalogues, kept for a while: to find them all of a catalogue is read.
actor FindingsCache {
    /// Of one tenant, as they were at one moment.
    struct Found: Sendable {
        let all: [CatalogueFinding]
        let byLocation: [LocationIdentifier: [CatalogueFinding]]
        let at: Date
    }

    private let find: @Sendable (Tenant) async throws -> [CatalogueFinding]
    private var known: [TenantID: Task<Found, any Error>] = [:]
    private var times: [TenantID: Date] = [:]

    /// How long they are shown, in seconds. [ours]
    static let lifetime: TimeInterval = 60
    /// Of how many tenants they are kept. [ours]
    private static let maximumTenants = 64

    init(_ find: @escaping @Sendable (Tenant) async throws -> [CatalogueFinding]) {
        self.find = find
    }

    /// Those of a tenant; who asks while somebody else does gets the same.
    func findings(of tenant: Tenant, at now: Date) async throws -> Found {
        if let task = known[tenant.id], let time = times[tenant.id], now < time + Self.lifetime {
            return try await task.value
        }
        if known.count >= Self.maximumTenants {
            known.removeAll()
            times.removeAll()
        }
        let task = Task { [find] in
            let all = try await find(tenant)
            let ofPlaces = Dictionary(grouping: all.filter { $0.location != nil }) { $0.location }
            return Found(
                all: all,
                byLocation: Dictionary(
                    uniqueKeysWithValues: ofPlaces.compactMap { key, value in key.map { ($0, value) } }),
                at: now)
        }
        known[tenant.id] = task
        times[tenant.id] = now
        do {
            return try await task.value
        } catch {
            forget(tenant.id)
            throw error
        }
    }

    /// What a tenant has registered has changed.
    func forget(_ tenant: TenantID) {
        known[tenant] = nil
        times[tenant] = nil
    }
}

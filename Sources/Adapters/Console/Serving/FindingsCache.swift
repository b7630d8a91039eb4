import Administration
import Foundation
import Invocation
import Tenancy

/// Caches the findings about tenants' catalogues, because finding them reads the whole catalogue.
///
/// Pages never wait long for findings. During a new search they show the earlier findings.
actor FindingsCache {
    /// The findings of one tenant at one moment.
    struct Found: Sendable {
        let all: [CatalogueFinding]
        let byLocation: [LocationIdentifier: [CatalogueFinding]]
        /// The locations with a finding, by code.
        let locations: [String: [LocationIdentifier]]
        /// The number of findings by code.
        let counts: [String: Int]
        let at: Date
    }

    private struct Known {
        var found: Found?
        /// The time of the next search.
        var dueAt = Date.distantPast
        var isUnderWay = false
        /// Whether the catalogue has changed since the running search began, and since the last result.
        var isOvertaken = false
        var isOutdated = false
        /// The error of the last search, if there are no findings to show.
        var failure: (any Error)?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let find: @Sendable (Tenant) async throws -> [CatalogueFinding]
    private var known: [TenantID: Known] = [:]
    private var lastNumber = 0

    /// The minimum lifetime of findings, in seconds. [ours]
    static let lifetime: TimeInterval = 60
    /// The lifetime is at least this many times the duration of the search, which occupies a processor. [ours]
    private static let lifetimeBySearch = 20.0
    /// How long a page about findings waits. [ours]
    private static let longPatience = Duration.seconds(2)
    /// The maximum number of tenants in the cache. [ours]
    private static let maximumTenants = 64

    /// How long other pages wait.
    private let patience: Duration

    init(
        _ find: @escaping @Sendable (Tenant) async throws -> [CatalogueFinding], patience: Duration
    ) {
        self.find = find
        self.patience = patience
    }

    /// A tenant's findings; nil if the first search takes longer than the page waits.
    /// - Parameter isAbout: whether the page is about findings and waits longer.
    func findings(of tenant: Tenant, at now: Date, isAbout: Bool = false) async throws -> Found? {
        if known[tenant.id] == nil, known.count >= Self.maximumTenants {
            known = known.filter { $0.value.isUnderWay }
        }
        var entry = known[tenant.id] ?? Known()
        if !entry.isUnderWay, entry.dueAt <= now {
            entry.isUnderWay = true
            entry.isOvertaken = false
            entry.failure = nil
            Task { [find] in
                let start = ContinuousClock.now
                let result: Result<Found, any Error>
                do {
                    result = .success(try await Self.search(tenant, find, at: now))
                } catch {
                    result = .failure(error)
                }
                finish(tenant.id, result, after: ContinuousClock.now - start, since: now)
            }
        }
        known[tenant.id] = entry
        if entry.isUnderWay, entry.found == nil || entry.isOutdated {
            await wait(for: tenant.id, isAbout ? max(patience, Self.longPatience) : patience)
        }
        if let failure = known[tenant.id]?.failure { throw failure }
        return known[tenant.id]?.found
    }

    /// Invalidates the findings after a change of the catalogue.
    func forget(_ tenant: TenantID) {
        known[tenant]?.dueAt = .distantPast
        known[tenant]?.isOvertaken = true
        known[tenant]?.isOutdated = true
    }

    /// Runs outside the actor, because sorting many findings takes long.
    private static func search(
        _ tenant: Tenant, _ find: @Sendable (Tenant) async throws -> [CatalogueFinding], at now: Date
    ) async throws -> Found {
        Found(try await find(tenant), at: now)
    }

    private func finish(
        _ tenant: TenantID, _ result: Result<Found, any Error>, after duration: Duration, since start: Date
    ) {
        guard var entry = known[tenant] else { return }
        entry.isUnderWay = false
        switch result {
        case .success(let found):
            entry.found = found
            entry.isOutdated = entry.isOvertaken
            let lifetime = max(Self.lifetime, duration / .seconds(1) * Self.lifetimeBySearch)
            entry.dueAt = entry.isOvertaken ? .distantPast : start.addingTimeInterval(lifetime)
        case .failure(let error):
            // The next request starts another search.
            if entry.found == nil { entry.failure = error }
        }
        let waiting = entry.waiting.values
        entry.waiting = [:]
        known[tenant] = entry
        for continuation in waiting { continuation.resume() }
    }

    private func wait(for tenant: TenantID, _ patience: Duration) async {
        lastNumber += 1
        let number = lastNumber
        await withCheckedContinuation { continuation in
            known[tenant]?.waiting[number] = continuation
            Task {
                try? await Task.sleep(for: patience)
                stopWaiting(number, tenant)
            }
        }
    }

    private func stopWaiting(_ number: Int, _ tenant: TenantID) {
        known[tenant]?.waiting.removeValue(forKey: number)?.resume()
    }
}

extension FindingsCache.Found {
    fileprivate init(_ all: [CatalogueFinding], at now: Date) {
        var byLocation: [LocationIdentifier: [CatalogueFinding]] = [:]
        var locations: [String: [LocationIdentifier]] = [:]
        var counts: [String: Int] = [:]
        for finding in all {
            counts[finding.code, default: 0] += 1
            guard let location = finding.location else { continue }
            byLocation[location, default: []].append(finding)
            locations[finding.code, default: []].append(location)
        }
        for code in locations.keys {
            locations[code]?.sort { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        }
        self.init(all: all, byLocation: byLocation, locations: locations, counts: counts, at: now)
    }
}

import Administration
import Foundation
import Invocation
import Tenancy

/// The warnings about tenants' catalogues, kept for a while: to find them all of a catalogue is read.
///
/// No page waits long for them: while they are looked for anew, those that were found before are shown.
actor FindingsCache {
    /// Of one tenant, as they were at one moment.
    struct Found: Sendable {
        let all: [CatalogueFinding]
        let byLocation: [LocationIdentifier: [CatalogueFinding]]
        /// The locations that have a finding of a code, by identifier.
        let locations: [String: [LocationIdentifier]]
        /// How many there are of each code.
        let counts: [String: Int]
        let at: Date
    }

    private struct Known {
        var found: Found?
        /// When they are to be looked for again.
        var dueAt = Date.distantPast
        var isUnderWay = false
        /// Whether something has changed since it was begun to look, and since what was found was so.
        var isOvertaken = false
        var isOutdated = false
        /// What went wrong where there is nothing to show.
        var failure: (any Error)?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let find: @Sendable (Tenant) async throws -> [CatalogueFinding]
    private var known: [TenantID: Known] = [:]
    private var lastNumber = 0

    /// How long they are shown, in seconds, unless it takes long to find them. [ours]
    static let lifetime: TimeInterval = 60
    /// How many times as long as the search took they are shown, at least: it takes a processor. [ours]
    private static let lifetimeBySearch = 20.0
    /// How long a page waits that is of them. [ours]
    private static let longPatience = Duration.seconds(2)
    /// Of how many tenants they are kept. [ours]
    private static let maximumTenants = 64

    /// How long a page waits that shows something else, too.
    private let patience: Duration

    init(
        _ find: @escaping @Sendable (Tenant) async throws -> [CatalogueFinding], patience: Duration
    ) {
        self.find = find
        self.patience = patience
    }

    /// Those of a tenant; nil where they are being looked for the first time, which takes longer than a page waits.
    /// - Parameter isAbout: whether the page is of them, and waits longer.
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

    /// What a tenant has registered has changed.
    func forget(_ tenant: TenantID) {
        known[tenant]?.dueAt = .distantPast
        known[tenant]?.isOvertaken = true
        known[tenant]?.isOutdated = true
    }

    /// Elsewhere than on the actor: of many findings much is to be sorted.
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
            // The next page that asks has another try.
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

import Administration
import Foundation
import Geodesy
import HTTPSyntax
import Invocation
import Lookups
import Tenancy

/// By what a tenant's places are filtered, as it stands in the URL.
struct LocationFilter: Sendable {
    let text: String?
    /// The code of a finding.
    let problem: String?
    let isUnused: Bool

    /// How many are counted, and looked through where the database is asked about each. [ours]
    static let maximumCount = 10_000

    init(_ query: FormFields) {
        text = query["q"]
        problem = query["problem"].flatMap { CatalogueFinding.Code(rawValue: $0)?.rawValue }
        isUnused = query["unused"] == "1"
    }

    var query: [(String, String?)] {
        [("q", text), ("problem", problem), ("unused", isUnused ? "1" : nil)]
    }

    var isEmpty: Bool { text == nil && problem == nil && !isUnused }
}

/// What a filter lets through: what it is called and where it is, the routing table tells; what was confirmed there, the database.
struct FilteredLocations {
    let filter: LocationFilter
    let table: TenantTable
    let found: FindingsCache.Found?
    let request: ConsoleRequest
    let tenant: TenantID

    /// A part of the list.
    struct Part {
        var places: [ListedLocation]
        /// How many there are in all, or at least where ``isCut``.
        var count: Int
        /// Whether it was counted, or looked through, no further.
        var isCut = false
    }

    /// Those after one, up to `limit`, each with the day of the last confirmation there.
    func part(after: LocationIdentifier?, limit: Int) async throws -> Part {
        if filter.isUnused {
            let (unused, isCut) = try await unused(after: after, limit: limit)
            return Part(
                places: unused.listed, count: min(unused.count, LocationFilter.maximumCount), isCut: isCut)
        }
        if filter.problem != nil {
            let identifiers = ofProblem
            let rest = identifiers.drop { identifier in
                after.map { !$0.text.utf8.lexicographicallyPrecedes(identifier.text.utf8) } ?? false
            }
            let places = try await listed(Array(rest.prefix(limit)), after, limit)
            return Part(places: places, count: identifiers.count)
        }
        if let text = filter.text {
            let (first, count) = LocationText(text).places(in: table, after: after, limit: limit)
            return Part(places: try await listed(first.map(\.identifier), after, limit), count: count)
        }
        // A place that has just been added is in the list before it is in the table.
        let places = try await listed(nil, after, limit)
        return Part(places: places, count: max(table.locationCount, after == nil ? places.count : 0))
    }

    private func listed(
        _ identifiers: [LocationIdentifier]?, _ after: LocationIdentifier?, _ limit: Int
    ) async throws -> [ListedLocation] {
        guard identifiers?.isEmpty != true else { return [] }
        return try await request.stores.places.places(
            identifiers, of: tenant, after: after, limit: limit, confirmationsSince: request.firstDay)
    }

    /// Those without a confirmation, and whether there may be more than were counted or looked through.
    private func unused(
        after: LocationIdentifier?, limit: Int
    ) async throws -> (places: UnusedLocations, isCut: Bool) {
        let maximumCount = LocationFilter.maximumCount
        var identifiers: [LocationIdentifier]?
        if filter.problem != nil {
            identifiers = Array(ofProblem.prefix(maximumCount))
        } else if let text = filter.text {
            identifiers = LocationText(text).places(in: table, after: nil, limit: maximumCount)
                .first.map(\.identifier)
        }
        let places = try await request.stores.places.places(
            identifiers, of: tenant, after: after, limit: limit, unusedSince: request.firstDay,
            countingUpTo: maximumCount + 1)
        return (places, places.count > maximumCount || identifiers?.count == maximumCount)
    }

    /// The places with a problem, by identifier, and of these what a text finds.
    private var ofProblem: [LocationIdentifier] {
        guard let problem = filter.problem, let found else { return [] }
        let identifiers = found.locations[problem] ?? []
        guard let text = filter.text.map(LocationText.init) else { return identifiers }
        return identifiers.filter { identifier in
            table.location(identifier).map { location in
                text.finds(identifier.text.utf8.span, (location.name ?? "").utf8.span)
            } ?? false
        }
    }

    /// What a map of them shows in a box, and whether that is all.
    func cells(in grid: MapGrid) async throws -> (cells: [MapCell], isComplete: Bool) {
        if filter.isUnused {
            let (unused, isCut) = try await unused(after: nil, limit: LocationFilter.maximumCount)
            return (grid.cells(of: unused.listed), !isCut)
        }
        if filter.problem != nil {
            let identifiers = ofProblem.prefix(LocationFilter.maximumCount)
            let places = identifiers.compactMap { table.location($0) }.compactMap { ListedLocation($0) }
            return (grid.cells(of: places), identifiers.count < LocationFilter.maximumCount)
        }
        let cells = grid.cells(of: table, matching: filter.text.map(LocationText.init))
        return (cells, cells.count < MapGrid.maximumCells)
    }
}

extension ListedLocation {
    fileprivate init?(_ location: Location) {
        guard let name = location.name.flatMap({ try? DisplayName($0) }) else { return nil }
        self.init(
            identifier: location.identifier, name: name, region: location.region, lastConfirmationDay: nil)
    }
}

extension ConsoleRequest {
    /// From when on confirmations are looked for.
    var firstDay: Date { now.start(ofDays: LocationsPage.days) }

    /// What lookups of a tenant are answered from.
    /// - Throws: ``ConsoleRefusal/notReady``.
    func table(_ live: LiveLookupIndex, of tenant: Tenant) throws -> TenantTable {
        guard let state = live.current else { throw ConsoleRefusal.notReady }
        return state.table(of: tenant.id)
    }
}

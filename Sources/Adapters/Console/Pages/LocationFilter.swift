import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Persistence
import Tenancy

/// The filter of a tenant's locations in a page's URL.
struct LocationFilter: Sendable {
    let text: String?
    /// The code of a finding.
    let problem: String?
    let isUnused: Bool

    /// The maximum number of locations that are counted, and checked in the database. [ours]
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

/// The locations that match a filter. Names and regions come from the lookup index, confirmations from the database.
struct FilteredLocations {
    let filter: LocationFilter
    let table: TenantTable
    let found: FindingsCache.Found?
    let request: ConsoleRequest
    let tenant: TenantID

    /// A part of the list.
    struct Part {
        var locations: [ListedLocation]
        /// The total, or a lower bound if ``isCut``.
        var count: Int
        /// Whether counting or checking stopped at the maximum.
        var isCut = false
    }

    /// Up to `limit` locations after a cursor, each with the day of its last confirmation.
    func part(after: LocationIdentifier?, limit: Int) async throws -> Part {
        if filter.isUnused {
            let (unused, isCut) = try await unused(after: after, limit: limit)
            return Part(
                locations: unused.listed, count: min(unused.count, LocationFilter.maximumCount), isCut: isCut)
        }
        if filter.problem != nil {
            let identifiers = ofProblem
            let rest = identifiers.drop { identifier in
                after.map { !$0.text.utf8.lexicographicallyPrecedes(identifier.text.utf8) } ?? false
            }
            let locations = try await listed(Array(rest.prefix(limit)), after, limit)
            return Part(locations: locations, count: identifiers.count)
        }
        if let text = filter.text {
            let (first, count) = LocationText(text).places(in: table, after: after, limit: limit)
            return Part(locations: try await listed(first.map(\.identifier), after, limit), count: count)
        }
        // A new location is in the database before it is in the lookup index.
        let locations = try await listed(nil, after, limit)
        return Part(locations: locations, count: max(table.locationCount, after == nil ? locations.count : 0))
    }

    private func listed(
        _ identifiers: [LocationIdentifier]?, _ after: LocationIdentifier?, _ limit: Int
    ) async throws -> [ListedLocation] {
        guard identifiers?.isEmpty != true else { return [] }
        return try await request.stores.administration.places(
            identifiers, of: tenant, after: after, limit: limit, confirmationsSince: request.firstDay)
    }

    /// The locations without a confirmation, and whether counting or checking stopped at the maximum.
    private func unused(
        after: LocationIdentifier?, limit: Int
    ) async throws -> (locations: UnusedLocations, isCut: Bool) {
        let maximumCount = LocationFilter.maximumCount
        var identifiers: [LocationIdentifier]?
        if filter.problem != nil {
            identifiers = Array(ofProblem.prefix(maximumCount))
        } else if let text = filter.text {
            identifiers = LocationText(text).places(in: table, after: nil, limit: maximumCount)
                .first.map(\.identifier)
        }
        let locations = try await request.stores.administration.places(
            identifiers, of: tenant, after: after, limit: limit, unusedSince: request.firstDay,
            countingUpTo: maximumCount + 1)
        return (locations, locations.count > maximumCount || identifiers?.count == maximumCount)
    }

    /// The locations with the problem that match the text, by identifier.
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

    /// The map cells in a box, and whether they are complete.
    func cells(in grid: MapGrid) async throws -> (map: MapCells, isComplete: Bool) {
        if filter.isUnused {
            let (unused, isCut) = try await unused(after: nil, limit: LocationFilter.maximumCount)
            return (grid.cells(of: unused.listed), !isCut)
        }
        if filter.problem != nil {
            let identifiers = ofProblem.prefix(LocationFilter.maximumCount)
            let locations = identifiers.compactMap { table.location($0) }.compactMap { ListedLocation($0) }
            return (grid.cells(of: locations), identifiers.count < LocationFilter.maximumCount)
        }
        let map = grid.cells(of: table, matching: filter.text.map(LocationText.init))
        return (map, map.cells.count < MapGrid.maximumCells)
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
    /// The beginning of the period of confirmations.
    var firstDay: Date { now.start(ofDays: LocationsPage.days) }

    /// A tenant's part of the lookup index.
    /// - Throws: ``ConsoleRefusal/notReady``.
    func table(_ live: LiveLookupIndex, of tenant: Tenant) throws -> TenantTable {
        guard let state = live.current else { throw ConsoleRefusal.notReady }
        return state.table(of: tenant.id)
    }
}

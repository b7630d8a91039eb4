import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Tenancy

/// A tenant's locations: a list and a map.
struct LocationsPage: Sendable {
    private let findings: FindingsCache
    private let live: LiveLookupIndex
    private let hasMap: Bool

    init(_ findings: FindingsCache, table: LiveLookupIndex, hasMap: Bool) {
        self.findings = findings
        live = table
        self.hasMap = hasMap
    }

    /// Locations per page. [ours]
    static let pageLength = 100
    /// The period of confirmations, in days. [ours]
    static let days = 30

    @Sendable func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let filtered = try await filtered(request, tenant)
        let after = try cursor(request.query)
        let part = try await filtered.part(after: after, limit: Self.pageLength + 1)
        return .page(page(request, tenant, filtered, part, isFirst: after == nil))
    }

    private func filtered(_ request: ConsoleRequest, _ tenant: Tenant) async throws -> FilteredLocations {
        let filter = LocationFilter(request.query)
        return FilteredLocations(
            filter: filter, table: try request.table(live, of: tenant),
            found: try await findings.findings(
                of: tenant, at: request.now, isAbout: filter.problem != nil),
            request: request, tenant: tenant.id)
    }

    private func cursor(_ query: FormFields) throws -> LocationIdentifier? {
        guard let text = query["after"] else { return nil }
        guard let after = PageCursor.name(in: text).flatMap({ try? LocationIdentifier($0) }) else {
            throw ConsoleRefusal.malformed("The page cursor in the URL is not valid. Open the list again.")
        }
        return after
    }

    // MARK: The list

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ filtered: FilteredLocations,
        _ part: FilteredLocations.Part, isFirst: Bool
    ) -> Page {
        let filter = filtered.filter
        let locations = Array(part.locations.prefix(Self.pageLength))
        return Page(
            title: "Locations", tenant: tenant, section: .locations,
            commands: [
                "doorstep location list --tenant \(tenant.slug)",
                "doorstep location export --tenant \(tenant.slug) --output locations.csv",
            ], hasMap: hasMap && part.count > 0, notice: request.changeNotice
        ) { main in
            main.addition(of: LocationRecord.self, request, tenant)
            guard part.count > 0 || !filter.isEmpty else { return Self.empty(tenant, &main) }
            self.form(tenant, filter, &main)
            main.element(.div, .class(self.hasMap ? "beside" : "alone")) { div in
                div.element(.div) { list in
                    if filtered.found == nil { list.findingsToCome() }
                    guard !locations.isEmpty else {
                        list.element(
                            .p, text: "No locations match. Use fewer filters or another search term.")
                        return Self.similar(tenant, filtered, &list)
                    }
                    self.table(tenant, locations, part, isFirst: isFirst, filtered.found, &list)
                    if part.isCut {
                        list.element(
                            .p, .class("hint"),
                            text:
                                "Only the first \(LocationFilter.maximumCount.grouped) matches were checked for confirmations. Use a narrower filter to see all."
                        )
                    }
                    self.paging(
                        tenant, filter, locations, hasMore: part.locations.count > Self.pageLength,
                        isFirst: isFirst,
                        &list)
                }
                guard self.hasMap, part.count > 0 else { return }
                div.element(.section, .class("map-box"), .ariaLabel("Map of these locations")) { section in
                    section.element(
                        .div, .class("map"), .data("map", "cells"), .hidden,
                        .data(
                            "cells",
                            HTMLLink(to: "t", tenant.slug.text, "places.cells", query: filter.query).text),
                        .data("places", HTMLLink(.locations, of: tenant).text))
                    section.element(.p, .class("hint"), .role("status"), .id("map-says"))
                }
            }
        }
    }

    private func form(_ tenant: Tenant, _ filter: LocationFilter, _ html: inout HTMLWriter) {
        html.element(.form, .class("filter"), .action(HTMLLink(.locations, of: tenant))) { form in
            form.element(.div, .class("field")) { div in
                div.element(.label, .for("q"), text: "Identifier or name")
                div.void(
                    .input, .id("q"), .name("q"), .type("search"), .value(filter.text ?? ""), .maxlength(128),
                    .autocomplete("off"), .spellcheck(false))
            }
            form.element(.div, .class("field")) { div in
                div.element(.label, .for("problem"), text: "Problem")
                div.element(.select, .id("problem"), .name("problem")) { select in
                    select.element(.option, .value(""), text: "any or none")
                    for problem in Problem.ofLocations {
                        select.element(
                            .option, .value(problem.code), problem.code == filter.problem ? .selected : nil,
                            text: problem.title)
                    }
                }
            }
            form.element(.label, .class("check")) { label in
                label.void(
                    .input, .type("checkbox"), .name("unused"), .value("1"), filter.isUnused ? .checked : nil)
                label.text("no confirmation in \(Self.days) days")
            }
            form.element(.button, text: "Filter")
            if !filter.isEmpty {
                form.element(.a, .href(HTMLLink(.locations, of: tenant)), text: "Show all")
            }
        }
    }

    /// Links to locations whose names differ from the search term by one letter.
    private static func similar(
        _ tenant: Tenant, _ filtered: FilteredLocations, _ html: inout HTMLWriter
    ) {
        guard let text = filtered.filter.text else { return }
        let places = LocationText(text).similarPlaces(in: filtered.table, limit: maximumSimilar)
        guard !places.isEmpty else { return }
        html.element(.p, text: "Locations with a similar name:")
        html.element(.ul) { list in
            for place in places {
                list.element(.li) { item in
                    item.element(.a, .href(HTMLLink(location: place.identifier, of: tenant))) {
                        $0.name(place.name.text)
                    }
                }
            }
        }
    }

    /// The maximum number of locations with a similar name. [ours]
    private static let maximumSimilar = 5

    private func table(
        _ tenant: Tenant, _ locations: [ListedLocation], _ part: FilteredLocations.Part, isFirst: Bool,
        _ found: FindingsCache.Found?, _ html: inout HTMLWriter
    ) {
        let count = part.count
        let all = part.isCut ? "\(count.grouped) or more" : count.grouped
        let caption =
            isFirst && locations.count == count && !part.isCut
            ? (count == 1 ? "1 location" : "\(all) locations")
            : "\(locations.count.grouped) of \(all) locations"
        html.table(caption, columns: ["Location", "Identifier", "Radius", "Last confirmation"]) { rows in
            for location in locations {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"), .href(HTMLLink(location: location.identifier, of: tenant))
                        ) {
                            $0.name(location.name.text)
                        }
                        for code in Set((found?.byLocation[location.identifier] ?? []).map(\.code)).sorted() {
                            th.badge(Problem.title(of: code), "warning")
                        }
                    }
                    row.element(.td) { td in td.element(.code) { $0.name(location.identifier.text) } }
                    row.element(.td, .class("number"), text: Self.meters(location.region.radius))
                    row.element(.td) { td in
                        if let day = location.lastConfirmationDay {
                            td.element(.time, .datetime(day), text: day)
                        } else {
                            td.element(.span, .class("quiet-text"), text: "not in \(Self.days) days")
                        }
                    }
                }
            }
        }
    }

    private func paging(
        _ tenant: Tenant, _ filter: LocationFilter, _ locations: [ListedLocation], hasMore: Bool,
        isFirst: Bool,
        _ html: inout HTMLWriter
    ) {
        guard hasMore || !isFirst else { return }
        html.element(.p, .class("paging")) { p in
            if !isFirst {
                p.element(
                    .a, .href(HTMLLink(.locations, of: tenant, query: filter.query)), text: "First page")
            }
            if hasMore, let last = locations.last {
                let after = PageCursor.text(of: last.identifier.text)
                p.element(
                    .a, .href(HTMLLink(.locations, of: tenant, query: filter.query + [("after", after)])),
                    text: "Next \(Self.pageLength)")
            }
        }
    }

    private static func empty(_ tenant: Tenant, _ html: inout HTMLWriter) {
        html.element(.p, text: "No locations yet. A CSV file of locations begins with this header line:")
        html.element(.pre, .tabindex(0)) {
            $0.element(.code, text: LocationRecord.requiredColumns.joined(separator: ","))
        }
        html.element(.p) { p in
            p.element(.a, .href(HTMLLink(.import, of: tenant)), text: "Import a CSV file")
            p.text(" here or with the command:")
        }
        html.element(.pre, .tabindex(0)) { pre in
            pre.element(.code, text: "doorstep location import --tenant \(tenant.slug) locations.csv")
        }
    }

    static func meters(_ distance: Distance) -> String {
        let meters = distance.meters
        if meters >= 10_000 { return "\(Int((meters / 1_000).rounded()).grouped) km" }
        if meters >= 1_000 { return "\((meters / 100).rounded() / 10) km" }
        return meters == meters.rounded() ? "\(Int(meters)) m" : "\((meters * 10).rounded() / 10) m"
    }

    // MARK: The map

    /// The map cells in a box, for the page's script. Each is `[latitude, longitude, count, path component, name, radius]`.
    /// `bounds` is `[south, west, north, east]` of their locations, or null without any.
    @Sendable func cells(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let numbers = (request.query["bbox"] ?? "").split(separator: ",").map { Double(decimal: $0) }
        let zoom = request.query["z"].flatMap { Int($0) } ?? -1
        guard numbers.count == 4, let west = numbers[0], let south = numbers[1], let east = numbers[2],
            let north = numbers[3],
            let grid = MapGrid(south: south, west: west, north: north, east: east, zoom: zoom)
        else {
            throw ConsoleRefusal.malformed(
                "bbox must be west,south,east,north in degrees; z must be a zoom from 0 to 18.")
        }
        let (map, isComplete) = try await filtered(request, tenant).cells(in: grid)
        let json: JSONObject = [
            "cells": .array(map.cells.map { Self.json($0) }),
            "places": JSONValue(map.cells.reduce(0) { $0 + $1.count }),
            "complete": .bool(isComplete),
            "bounds": map.bounds.map { bounds in
                .array(
                    [bounds.south, bounds.west, bounds.north, bounds.east]
                        .map { JSONValue(finite: Self.degrees($0)) })
            } ?? .null,
        ]
        return .json(JSONValue.object(json).serialized())
    }

    private static func json(_ cell: MapCell) -> JSONValue {
        let center: [JSONValue] = [
            JSONValue(finite: degrees(cell.center.latitude)),
            JSONValue(finite: degrees(cell.center.longitude)),
            JSONValue(cell.count),
        ]
        guard let location = cell.place else { return .array(center) }
        return .array(
            center + [
                .string(location.identifier.text.pathComponent), .string(location.name.text),
                JSONValue(finite: location.region.radius.meters),
            ])
    }

    /// To a tenth of a metre.
    private static func degrees(_ value: Double) -> Double { (value * 1e6).rounded() / 1e6 }
}

extension HTMLWriter {
    /// A hint that the search for problems is not finished.
    mutating func findingsToCome() {
        element(
            .p, .class("hint"), .role("status"),
            text: "Doorstep is still checking for problems. Open the page again in a moment.")
    }
}

import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Notifications
import Persistence
import Tenancy

/// The search across tenants, and the list of tenants.
struct FindPage: Sendable {
    let table: LiveLookupIndex

    /// A URL is matched in at most this many tenants. [ours]
    private static let maximumTenants = 1_000
    /// An ID is searched in at most this many tenants, with some queries for each. [ours]
    private static let maximumTenantsByID = 20
    /// The maximum number of locations near a coordinate. [ours]
    private static let maximumNearest = 10
    /// The maximum number of results. [ours]
    private static let maximumHits = 50

    @Sendable func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenants = try await request.tenants()
        // From a section of one tenant, links lead to the same section of other tenants.
        let section = request.query["section"].flatMap(Page.Section.init(rawValue:)) ?? .overview
        guard let text = request.query["q"], !text.isEmpty else {
            return .page(page(tenants, section: section, text: nil, hits: []))
        }
        if let slug = try? TenantSlug(text), let tenant = tenants.first(where: { $0.slug == slug }) {
            return .seeOther(HTMLLink(.overview, of: tenant))
        }
        var hits = exact(text, in: tenants)
        if hits.isEmpty {
            if let name = ItemName(text) {
                for tenant in tenants.prefix(Self.maximumTenantsByID) {
                    if let link = try await item(named: name, of: tenant, request) { return .seeOther(link) }
                }
            }
            hits = self.hits(text, in: tenants)
        }
        if hits.count == 1, let hit = hits.first { return .seeOther(hit.link) }
        return .page(page(tenants, section: section, text: text, hits: hits))
    }

    /// Redirects every search within a tenant. Text that is neither an identifier nor a URL is searched in names.
    @Sendable func withinTenant(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let text = request.query["q"] else { return .seeOther(HTMLLink(.locations, of: tenant)) }
        if let identifier = try? LocationIdentifier(text),
            try await request.stores.administration.items.locations.item(identifier, of: tenant.id) != nil
        {
            return .seeOther(HTMLLink(location: identifier, of: tenant))
        }
        if let name = ItemName(text), let link = try await item(named: name, of: tenant, request) {
            return .seeOther(link)
        }
        if CoordinateText.coordinate(in: text) != nil {
            let hits = hits(text, in: [tenant])
            return .page(
                Page(title: "Nearest locations", tenant: tenant, section: .locations) { main in
                    Self.results(text, hits, &main)
                })
        }
        if let url = url(text, in: [tenant]) {
            return .seeOther(HTMLLink(.diagnose, of: tenant, query: [("url", url)]))
        }
        return .seeOther(HTMLLink(.locations, of: tenant, query: [("q", text)]))
    }

    /// A text that names an item of a tenant, if one exists.
    private enum ItemName {
        /// The first characters of a key.
        case key(hint: String)
        case webhook(WebhookID)
        /// The ID of a delivery, a notification, a key or a request. The IDs of requests keep the case of their letters.
        case id(UUID, text: String)
        /// Doorstep's IDs of requests have 32 hexadecimal digits.
        case request(String)

        init?(_ text: String) {
            if text.hasPrefix("dpk_") || text.hasPrefix("dsk_") {
                // The page of keys shows the first characters with an ellipsis.
                self = .key(hint: text.hasSuffix("…") ? String(text.dropLast()) : text)
            } else if let id = WebhookID(text) {
                self = .webhook(id)
            } else if let id = UUID(text: text) {
                self = .id(id, text: text)
            } else if text.utf8.count == 32, text.utf8.allSatisfy({ Character(.init($0)).isHexDigit }) {
                self = .request(text.lowercased())
            } else {
                return nil
            }
        }
    }

    /// The page of a tenant's item; nil if there is none.
    private func item(
        named name: ItemName, of tenant: Tenant, _ request: ConsoleRequest
    ) async throws -> HTMLLink? {
        let stores = request.stores
        switch name {
        case .key(let hint):
            let keys = try await stores.administration.newestKeys(of: tenant.id, withHint: hint, limit: 2)
            guard keys.count < 2 else { return HTMLLink(.keys, of: tenant) }
            return keys.first.map { HTMLLink(.keys, of: tenant, $0.id.description) }
        case .webhook(let id):
            let webhook = try await stores.webhooks?.webhook(WebhookReference(id, of: tenant.id))
            return webhook.map { HTMLLink(.webhooks, of: tenant, $0.id.description) }
        case .id(let id, let text):
            if try await stores.deliveries.hasNotificationOrDelivery(id, of: tenant.id) {
                return HTMLLink(to: "t", tenant.slug.text, "deliveries", id.uuidString.lowercased())
            }
            if try await stores.administration.keys.key(KeyID(id), of: tenant.id) != nil {
                return HTMLLink(.keys, of: tenant, KeyID(id).description)
            }
            return try await refusedRequest(text, of: tenant, stores)
        case .request(let id):
            return try await refusedRequest(id, of: tenant, stores)
        }
    }

    private func refusedRequest(
        _ id: String, of tenant: Tenant, _ stores: ConsoleStores
    ) async throws -> HTMLLink? {
        let found = try await stores.administration.auditLog.refusedRequests(
            of: tenant.id, RefusedRequestSelection(requestID: id), before: nil, limit: 1)
        return found.isEmpty ? nil : HTMLLink(.requests, of: tenant, query: [("request", id)])
    }

    private struct Hit {
        let tenant: Tenant
        let text: String
        let link: HTMLLink
        var order: String { "\(tenant.slug) \(text)" }
    }

    /// The locations with exactly this identifier.
    private func exact(_ text: String, in tenants: [Tenant]) -> [Hit] {
        guard let state = table.current, let identifier = try? LocationIdentifier(text) else { return [] }
        return tenants.prefix(Self.maximumTenants).compactMap { tenant in
            guard let location = state.table(of: tenant.id).location(identifier) else { return nil }
            return Hit(
                tenant: tenant, text: location.name ?? text, link: HTMLLink(location: identifier, of: tenant))
        }
    }

    /// For coordinates, the nearest locations. For a URL, the experiences that match it. Otherwise the tenants and locations with this
    /// text in their names, or at the start of their slugs or identifiers. If there are none, the locations whose names differ by one
    /// letter.
    private func hits(_ text: String, in tenants: [Tenant]) -> [Hit] {
        guard let state = table.current else { return [] }
        if let coordinate = CoordinateText.coordinate(in: text) {
            return nearest(to: coordinate, in: tenants, state)
        }
        if let url = url(text, in: tenants) {
            return tenants.prefix(Self.maximumTenants).compactMap { tenant in
                guard let match = (try? InvocationURL(url)).flatMap({ state.table(of: tenant.id).match($0) })
                else { return nil }
                return Hit(
                    tenant: tenant, text: match.experience.url,
                    link: HTMLLink(.diagnose, of: tenant, query: [("url", url)]))
            }
        }
        let known = Dictionary(uniqueKeysWithValues: tenants.map { ($0.id, $0) })
        let wanted = LocationText(text)
        func locations(where matches: (Span<UInt8>, Span<UInt8>) -> Bool, upTo limit: Int) -> [Hit] {
            var (found, examined): ([Hit], Int) = ([], 0)
            state.forEachLocation { tenant, _, identifier, name in
                guard let tenant = known[tenant] else { return }
                examined += 1
                guard found.count < Self.maximumHits, examined <= limit, matches(identifier, name),
                    let location = try? LocationIdentifier(String(copyingBytes: identifier))
                else { return }
                found.append(
                    Hit(
                        tenant: tenant, text: String(copyingBytes: name),
                        link: HTMLLink(location: location, of: tenant)))
            }
            return found.sorted { $0.order < $1.order }
        }
        let named = tenants.filter { wanted.finds($0.slug.text.utf8.span, $0.name.text.utf8.span) }
            .map { Hit(tenant: $0, text: "tenant \($0.slug)", link: HTMLLink(.overview, of: $0)) }
        let hits = named + locations(where: wanted.finds, upTo: .max)
        guard hits.isEmpty else { return hits }
        return locations(where: { wanted.nearlyFinds($1) }, upTo: LocationText.mostExamined)
    }

    /// The locations nearest to a coordinate, with their distances.
    private func nearest(
        to coordinate: Coordinate, in tenants: [Tenant], _ state: LiveLookupIndex.State
    ) -> [Hit] {
        let known = Dictionary(uniqueKeysWithValues: tenants.map { ($0.id, $0) })
        let position = coordinate.position
        var nearest: [(chord: Distance, distance: Distance, hit: Hit)] = []
        state.forEachLocation { tenant, center, identifier, name in
            guard let tenant = known[tenant], let center else { return }
            // A chord takes less time to compute than a geodesic. Near the coordinate, both give the same order.
            let chord = center.position.chord(to: position)
            guard nearest.count < Self.maximumNearest || chord < nearest[nearest.count - 1].chord,
                let location = try? LocationIdentifier(String(copyingBytes: identifier))
            else { return }
            let distance = center.distance(to: coordinate)
            let text = "\(String(copyingBytes: name)), \(LocationsPage.meters(distance))"
            let hit = Hit(tenant: tenant, text: text, link: HTMLLink(location: location, of: tenant))
            let index = nearest.firstIndex { chord < $0.chord } ?? nearest.count
            nearest.insert((chord, distance, hit), at: index)
            if nearest.count > Self.maximumNearest { nearest.removeLast() }
        }
        return nearest.sorted { $0.distance.meters < $1.distance.meters }.map(\.hit)
    }

    /// The text as a URL: with its scheme, or without it if an experience of a tenant then matches; nil for other texts.
    private func url(_ text: String, in tenants: [Tenant]) -> String? {
        guard !Self.isURL(text) else { return text }
        guard text.contains("."), !text.contains(" "), let state = table.current,
            let url = try? InvocationURL("https://" + text)
        else { return nil }
        let isMatched = tenants.prefix(Self.maximumTenants).contains {
            state.table(of: $0.id).match(url) != nil
        }
        return isMatched ? "https://" + text : nil
    }

    private static func isURL(_ text: String) -> Bool { text.contains("://") }

    private func page(_ tenants: [Tenant], section: Page.Section, text: String?, hits: [Hit]) -> Page {
        Page(title: text == nil ? "Tenants" : "Search results", commands: ["doorstep tenant list"]) { main in
            if let text {
                Self.results(text, hits, &main)
                if hits.isEmpty, tenants.count > Self.maximumTenantsByID, ItemName(text) != nil {
                    main.element(
                        .p, .class("hint"),
                        text:
                            "IDs and the first characters of keys are searched in the first \(Self.maximumTenantsByID) tenants only. To search in another tenant, open its page first."
                    )
                }
            }
            guard !tenants.isEmpty else { return empty(&main) }
            main.table(
                tenants.count == 1 ? "1 tenant" : "\(tenants.count.grouped) tenants",
                columns: ["Name", "Slug", "Since"]
            ) { rows in
                for tenant in tenants.prefix(TenantsPage.listLength) {
                    rows.element(.tr) { row in
                        row.element(.th, .scope("row")) { th in
                            th.element(.a, .href(HTMLLink(section, of: tenant))) { $0.name(tenant.name.text) }
                            if tenant.isTest { th.badge("test") }
                            if tenant.suspendedAt != nil { th.badge("suspended", "warning") }
                        }
                        row.element(.td) { $0.element(.code, text: tenant.slug.text) }
                        row.element(.td) { $0.time(tenant.createdAt) }
                    }
                }
            }
            TenantsPage.rest(tenants.count, &main)
        }
    }

    private static func results(_ text: String, _ hits: [Hit], _ html: inout HTMLWriter) {
        guard !hits.isEmpty else {
            return html.element(.p) { p in
                p.text("No tenant, location or URL matches ")
                p.name(text)
                p.text(".")
            }
        }
        if hits.count >= maximumHits {
            html.element(
                .p, .class("hint"),
                text: "The list has the first \(maximumHits) results. Enter more letters to see others.")
        }
        html.table("Results", columns: ["Tenant", "Result"]) { rows in
            for hit in hits.prefix(maximumHits) {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.name(hit.tenant.name.text) }
                    row.element(.td) { td in
                        td.element(.a, .href(hit.link)) { $0.name(hit.text) }
                    }
                }
            }
        }
    }

    private func empty(_ html: inout HTMLWriter) {
        html.element(.p, text: "No tenants yet. Create one:")
        html.element(.pre) { $0.element(.code, text: "doorstep tenant create acme --name 'Acme'") }
    }
}

extension HTMLLink {
    init(
        location: LocationIdentifier, of tenant: Tenant, _ further: String? = nil,
        query: [(String, String?)] = []
    ) {
        self.init(item: location, LocationRecord.self, of: tenant, further, query: query)
    }
}

import Administration
import HTML
import HTTPSyntax
import Invocation
import Lookups
import Persistence
import Tenancy

/// The search across tenants, and the list of tenants.
struct FindPage: Sendable {
    let table: LiveLookupIndex

    /// The search covers at most this many tenants. [ours]
    private static let maximumTenants = 1_000

    @Sendable func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenants = try await request.tenants()
        // From a section of one tenant, links lead to the same section of other tenants.
        let section = request.query["section"].flatMap(Page.Section.init(rawValue:)) ?? .overview
        guard let text = request.query["q"] else {
            return .page(page(tenants, section: section, text: nil, hits: []))
        }
        if let slug = try? TenantSlug(text), let tenant = tenants.first(where: { $0.slug == slug }) {
            return .seeOther(HTMLLink(.locations, of: tenant))
        }
        let hits = tenants.prefix(Self.maximumTenants).compactMap { hit(text, in: $0) }
        if hits.count == 1, let hit = hits.first { return .seeOther(hit.link) }
        return .page(page(tenants, section: section, text: text, hits: hits))
    }

    /// Redirects every search within a tenant. Text that is neither an identifier nor a URL is searched in names.
    @Sendable func withinTenant(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let text = request.query["q"] else { return .seeOther(HTMLLink(.locations, of: tenant)) }
        if Self.isURL(text) {
            return .seeOther(HTMLLink(.diagnose, of: tenant, query: [("url", text)]))
        }
        if let identifier = try? LocationIdentifier(text),
            try await request.stores.administration.items.locations.item(identifier, of: tenant.id) != nil
        {
            return .seeOther(HTMLLink(location: identifier, of: tenant))
        }
        return .seeOther(HTMLLink(.locations, of: tenant, query: [("q", text)]))
    }

    private struct Hit {
        let tenant: Tenant
        let text: String
        let link: HTMLLink
    }

    /// A tenant's location with this identifier, or its experience that matches this URL.
    private func hit(_ text: String, in tenant: Tenant) -> Hit? {
        guard let table = table.current?.table(of: tenant.id) else { return nil }
        if Self.isURL(text) {
            guard let url = try? InvocationURL(text), let match = table.match(url) else { return nil }
            return Hit(
                tenant: tenant, text: match.experience.url,
                link: HTMLLink(.diagnose, of: tenant, query: [("url", text)]))
        }
        guard let identifier = try? LocationIdentifier(text), let location = table.location(identifier) else {
            return nil
        }
        return Hit(
            tenant: tenant, text: location.name ?? text, link: HTMLLink(location: identifier, of: tenant))
    }

    private static func isURL(_ text: String) -> Bool { text.contains("://") }

    private func page(_ tenants: [Tenant], section: Page.Section, text: String?, hits: [Hit]) -> Page {
        Page(title: text == nil ? "Tenants" : "Search results", commands: ["doorstep tenant list"]) { main in
            if let text {
                if hits.isEmpty {
                    main.element(.p) { p in
                        p.text("No tenant has ")
                        p.name(text)
                        p.text(". Open a tenant to search by part of a name.")
                    }
                } else {
                    main.table("Results", columns: ["Tenant", "Result"]) { rows in
                        for hit in hits {
                            rows.element(.tr) { row in
                                row.element(.th, .scope("row")) { $0.name(hit.tenant.name.text) }
                                row.element(.td) { td in
                                    td.element(.a, .href(hit.link)) { $0.name(hit.text) }
                                }
                            }
                        }
                    }
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

    private func empty(_ html: inout HTMLWriter) {
        html.element(.p, text: "No tenants yet. Create one:")
        html.element(.pre) { $0.element(.code, text: "doorstep tenant create acme --name 'Acme'") }
    }
}

extension HTMLLink {
    init(
        location: LocationIdentifier, of tenant: Tenant, _ further: String..., query: [(String, String?)] = []
    ) {
        switch further.first {
        case let last?:
            self = HTMLLink(to: "t", tenant.slug.text, "places", location.pathComponent, last, query: query)
        case nil: self = HTMLLink(to: "t", tenant.slug.text, "places", location.pathComponent, query: query)
        }
    }
}

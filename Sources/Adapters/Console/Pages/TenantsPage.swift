import Administration
import Formats
import Invocation
import Tenancy

/// All tenants of the deployment with their limits, for sessions that see all tenants.
enum TenantsPage {
    /// The maximum number of tenants on the page. [ours]
    static let listLength = 500

    @Sendable static func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try request.requireAllTenants()
        let tenants = try await request.tenants()
        return .page(
            Page(title: "Tenants and limits", commands: ["doorstep tenant list"]) { main in
                main.element(
                    .p,
                    text: "Empty = the server's default. Limits apply per server.")
                let columns = ["Tenant", "Slug", "Since"] + TenantLimit.allCases.map(\.title)
                main.table(
                    tenants.count == 1 ? "1 tenant" : "\(tenants.count.grouped) tenants", columns: columns
                ) { rows in
                    for tenant in tenants.prefix(listLength) { row(tenant, &rows) }
                }
                rest(tenants.count, &main)
            })
    }

    /// A hint if the list is incomplete.
    static func rest(_ count: Int, _ html: inout HTMLWriter) {
        guard count > listLength else { return }
        html.element(
            .p, .class("hint"), text: "Showing \(listLength). Search above for another tenant by its slug.")
    }

    private static func row(_ tenant: Tenant, _ rows: inout HTMLWriter) {
        rows.element(.tr) { row in
            row.element(.th, .scope("row")) { th in
                th.element(.a, .class("row"), .href(HTMLLink(to: "tenants", tenant.slug.text))) {
                    $0.name(tenant.name.text)
                }
                if tenant.isTest { th.badge("test") }
                if tenant.suspendedAt != nil { th.badge("suspended", "warning") }
            }
            row.element(.td) { $0.element(.code, text: tenant.slug.text) }
            row.element(.td) { $0.time(tenant.createdAt) }
            for limit in TenantLimit.allCases {
                row.element(.td, text: tenant.limits[keyPath: limit.path].map { "\($0)" } ?? "")
            }
        }
    }
}

/// A limit that can be set per tenant.
enum TenantLimit: String, CaseIterable {
    case key
    case client
    case newInstances = "new-instances"
    case clientNewInstances = "client-new-instances"

    var title: String {
        switch self {
        case .key: "Per API key"
        case .client: "Per client IP"
        case .newInstances: "New instances"
        case .clientNewInstances: "New instances per client IP"
        }
    }

    var path: WritableKeyPath<RequestLimits, RateLimit?> {
        switch self {
        case .key: \.key
        case .client: \.client
        case .newInstances: \.newInstances
        case .clientNewInstances: \.clientNewInstances
        }
    }
}

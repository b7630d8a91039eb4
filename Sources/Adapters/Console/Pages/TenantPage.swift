import Administration
import Formats
import HTTPTypes
import Persistence
import Tenancy

/// One tenant for operators: limits, quotas and suspension.
enum TenantPage {
    @Sendable static func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        .page(page(request, try await tenant(request)))
    }

    /// The page with the limits that the tenant has.
    static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, wrongQuotas: Set<QuotaKind> = []
    ) -> Page {
        let texts = Dictionary(
            uniqueKeysWithValues: TenantLimit.allCases.map { limit in
                (limit, tenant.limits[keyPath: limit.path].map { "\($0)" } ?? "")
            })
        return page(request, tenant, texts, wrong: [], wrongQuotas)
    }

    @Sendable static func setLimits(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await tenant(request)
        var limits = RequestLimits()
        var texts: [TenantLimit: String] = [:]
        var wrong: Set<TenantLimit> = []
        for limit in TenantLimit.allCases {
            let text = request.form[limit.rawValue] ?? ""
            texts[limit] = text
            guard !text.isEmpty else { continue }
            limits[keyPath: limit.path] = RateLimit(text)
            if limits[keyPath: limit.path] == nil { wrong.insert(limit) }
        }
        guard wrong.isEmpty else { return .page(page(request, tenant, texts, wrong: wrong)) }
        let seen = request.form["seen"]
        _ = try await request.stores.administration.changeLimits(of: tenant.slug) { [limits] current in
            guard Self.text(current) == seen else {
                throw ConsoleRefusal.conflict(
                    "The limits have changed since you opened the page. Nothing was saved. Open the page again."
                )
            }
            for limit in TenantLimit.allCases {
                current[keyPath: limit.path] = limits[keyPath: limit.path]
            }
        }
        return seeOther(tenant, "limited")
    }

    @Sendable static func setSuspended(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await tenant(request)
        switch request.form["state"] {
        case "suspended":
            // The operator types the slug, because a suspension stops all of the tenant's clips.
            guard request.form["slug"] == tenant.slug.text else {
                throw ConsoleRefusal.malformed("The slug does not match. The tenant was not suspended.")
            }
            _ = try await request.stores.administration.setSuspended(true, tenant.slug)
            return seeOther(tenant, "suspended")
        case "resumed":
            _ = try await request.stores.administration.setSuspended(false, tenant.slug)
            return seeOther(tenant, "resumed")
        default: throw ConsoleRefusal.malformed("The form is incomplete. Nothing was done.")
        }
    }

    /// Differs for each set of limits.
    private static func text(_ limits: RequestLimits) -> String {
        TenantLimit.allCases.map { limit in limits[keyPath: limit.path].map { "\($0)" } ?? "-" }
            .joined(separator: " ")
    }

    private static func tenant(_ request: ConsoleRequest) async throws -> Tenant {
        try request.requireAllTenants()
        return try await request.tenant()
    }

    private static func seeOther(_ tenant: Tenant, _ done: String) -> ConsoleResponse {
        .seeOther(HTMLLink(to: "tenants", tenant.slug.text, query: [("done", done)]))
    }

    private static func notice(_ request: ConsoleRequest) -> String? {
        switch request.query["done"] {
        case "limited": "Saved. Servers apply it within a second."
        case "suspended": "Tenant suspended. Servers refuse its keys within a second."
        case "resumed": "Tenant resumed. Servers accept its keys within a second."
        default: nil
        }
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ texts: [TenantLimit: String], wrong: Set<TenantLimit>,
        _ wrongQuotas: Set<QuotaKind> = []
    ) -> Page {
        let limits = TenantLimit.allCases.compactMap { limit in
            texts[limit].flatMap { $0.isEmpty ? nil : " --\(limit.rawValue) \($0.shellQuoted)" }
        }
        let isSuspended = tenant.suspendedAt != nil
        var page = Page(
            title: "Tenant \(tenant.name)", tenant: tenant,
            commands: [
                "doorstep tenant limit \(tenant.slug) --reset\(limits.joined())\(TenantQuotasForm.arguments(tenant))",
                "doorstep tenant \(isSuspended ? "resume" : "suspend") \(tenant.slug)",
                "doorstep tenant delete \(tenant.slug)",
            ], notice: notice(request)
        ) { main in
            main.tenantFacts(tenant)
            main.element(.h2, text: "Limits")
            guard request.mayChange else {
                main.facts(
                    TenantLimit.allCases.map { limit in
                        (
                            limit.title,
                            {
                                $0.text(
                                    texts[limit].flatMap { $0.isEmpty ? nil : $0 } ?? "server default")
                            }
                        )
                    })
                TenantQuotasForm.write(request, tenant, wrong: [], &main)
                return main.readOnlyHint()
            }
            main.errors(
                TenantLimit.allCases.map { ($0.title, wrong.contains($0) ? Self.wrongLimit : nil) })
            form(request, tenant, texts, wrong: wrong, &main)
            TenantQuotasForm.write(request, tenant, wrong: wrongQuotas, &main)
            main.element(.h2, text: isSuspended ? "Resume this tenant" : "Suspend this tenant")
            suspension(tenant, &main)
            main.element(
                .p, .class("hint"), text: "Use the command to delete a tenant and all its data.")
        }
        if !wrong.isEmpty || !wrongQuotas.isEmpty { page.status = .unprocessableContent }
        return page
    }

    private static func form(
        _ request: ConsoleRequest, _ tenant: Tenant, _ texts: [TenantLimit: String],
        wrong: Set<TenantLimit>, _ html: inout HTMLWriter
    ) {
        html.element(
            .form, .class("stack"), .post, .action(HTMLLink(to: "tenants", tenant.slug.text, "limits"))
        ) { form in
            form.hiddenField("seen", wrong.isEmpty ? text(tenant.limits) : request.form["seen"] ?? "")
            for limit in TenantLimit.allCases {
                form.field(
                    limit.title, name: limit.rawValue, value: texts[limit] ?? "",
                    hint:
                        "Requests per second : burst, for example 50:200, or off. Empty = server default. Limits apply per server.",
                    error: wrong.contains(limit) ? wrongLimit : nil,
                    isRequired: false)
            }
            form.element(.p) { $0.element(.button, .class("main"), text: "Save") }
        }
    }

    private static let wrongLimit =
        "Enter 50, 50:200 or off, for example. Each number must be from 1 to 1000000."

    private static func suspension(_ tenant: Tenant, _ html: inout HTMLWriter) {
        let isSuspended = tenant.suspendedAt != nil
        html.element(
            .p,
            text: isSuspended
                ? "Servers refuse this tenant's keys and show none of its landing pages. No data was deleted."
                : "Servers refuse this tenant's keys until you resume it, so its clips stop working. No data is deleted."
        )
        html.element(
            .form, .class("stack"), .post, .action(HTMLLink(to: "tenants", tenant.slug.text, "suspension"))
        ) { form in
            form.hiddenField("state", isSuspended ? "resumed" : "suspended")
            if !isSuspended {
                form.field("Type the slug to confirm", name: "slug", value: "", hint: tenant.slug.text)
            }
            form.element(.p) { p in
                p.element(
                    .button, isSuspended ? .class("main") : .class("danger"),
                    text: isSuspended ? "Resume" : "Suspend")
            }
        }
    }
}

extension HTMLWriter {
    fileprivate mutating func tenantFacts(_ tenant: Tenant) {
        facts([
            ("Slug", { $0.element(.code, text: tenant.slug.text) }),
            ("ID", { $0.element(.code, text: tenant.id.description) }),
            (
                "Test tenant",
                { $0.text(tenant.isTest ? "yes; notifies only in the environment sandbox" : "no") }
            ),
            ("Created", { $0.time(tenant.createdAt) }),
            (
                "Suspended",
                { dd in
                    if let time = tenant.suspendedAt { dd.time(time) } else { dd.text("no") }
                }
            ), ("Notifications collapse by", { $0.text(tenant.collapsePolicy.rawValue) }),
            (
                "Web origins",
                {
                    $0.text(
                        tenant.corsOrigins.isEmpty
                            ? "none" : tenant.corsOrigins.map(\.text).joined(separator: ", "))
                }
            ),
        ])
    }
}

import Administration
import Formats
import Persistence
import Tenancy

/// The quotas of a tenant on its page: usage and limit of each kind, and the form that changes the limits.
enum TenantQuotasForm {
    @Sendable static func set(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try request.requireAllTenants()
        let tenant = try await request.tenant()
        var quotas: [QuotaKind: Quota] = [:]
        var wrong: Set<QuotaKind> = []
        for kind in kinds {
            let text = request.form[name(kind)] ?? ""
            guard !text.isEmpty else { continue }
            quotas[kind] = Quota(text)
            if quotas[kind] == nil { wrong.insert(kind) }
        }
        guard wrong.isEmpty else { return .page(TenantPage.page(request, tenant, wrongQuotas: wrong)) }
        let seen = request.form["seen"]
        _ = try await request.stores.administration.changeQuotas(of: tenant.slug) { [quotas] current in
            guard text(current) == seen else {
                throw ConsoleRefusal.conflict(
                    "The quotas have changed since you opened the page. Nothing was saved. Open the page again."
                )
            }
            current = quotas
        }
        return .seeOther(HTMLLink(to: "tenants", tenant.slug.text, query: [("done", "limited")]))
    }

    /// The options of the equivalent command.
    static func arguments(_ tenant: Tenant) -> String {
        tenant.ownQuotas.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { " --quota \($0.key.rawValue)=\($0.value)" }.joined()
    }

    static func write(
        _ request: ConsoleRequest, _ tenant: Tenant, wrong: Set<QuotaKind>, _ html: inout HTMLWriter
    ) {
        html.element(.h2, text: "Quotas")
        html.table("Stored now", columns: ["Kind", "Rows", "Bytes"]) { rows in
            for (kind, usage) in tenant.usage.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: title(kind))
                    row.element(.td, .class("number"), text: amount(usage.rows, usage.limit.rows))
                    row.element(.td, .class("number"), text: amount(usage.bytes, usage.limit.bytes))
                }
            }
        }
        guard request.mayChange else { return }
        html.errors(kinds.map { (title($0), wrong.contains($0) ? wrongQuota : nil) })
        html.element(
            .form, .class("stack"), .post, .action(HTMLLink(to: "tenants", tenant.slug.text, "quotas"))
        ) { form in
            form.hiddenField("seen", wrong.isEmpty ? text(tenant.ownQuotas) : request.form["seen"] ?? "")
            for kind in kinds {
                form.field(
                    title(kind), name: name(kind),
                    value: (wrong.isEmpty ? tenant.ownQuotas[kind]?.description : request.form[name(kind)])
                        ?? "",
                    hint: "Rows : bytes, for example 5000:64MiB, or off. Empty = default",
                    error: wrong.contains(kind) ? wrongQuota : nil, isRequired: false)
            }
            form.element(.p) { $0.element(.button, .class("main"), text: "Save quotas") }
        }
    }

    private static let kinds = QuotaKind.allCases

    private static let wrongQuota = "Enter 5000, 5000:64MiB, :64MiB or off, for example."

    private static func name(_ kind: QuotaKind) -> String { "quota-\(kind.rawValue)" }

    private static func title(_ kind: QuotaKind) -> String {
        kind == .total ? "All kinds together" : kind.rawValue.replacing("_", with: " ").capitalizedSentence
    }

    private static func amount(_ used: Int, _ limit: Int?) -> String {
        guard let limit, limit < Quota.off else { return used.grouped }
        return "\(used.grouped) of \(limit.grouped)"
    }

    /// Differs for each set of quotas.
    private static func text(_ quotas: [QuotaKind: Quota]) -> String {
        quotas.isEmpty
            ? "-"
            : quotas.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
                .joined(separator: " ")
    }
}

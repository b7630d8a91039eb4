import Administration
import Formats
import Foundation
import Lookups
import Persistence
import Tenancy

/// One domain: its proof, its association file, and a check of its live site.
struct DomainPage: Sendable {
    private let sites: ConsoleServer.Sites
    private let findings: FindingsCache
    private let checks: WorkInProgress<TenantID>
    private let table: LiveLookupIndex

    /// The maximum number of bytes of an association file on the page. [ours]
    private static let shownLength = 20_000

    init(
        _ sites: ConsoleServer.Sites, _ findings: FindingsCache, _ checks: WorkInProgress<TenantID>,
        table: LiveLookupIndex
    ) {
        self.sites = sites
        self.findings = findings
        self.checks = checks
        self.table = table
    }

    @Sendable func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let domain = try await domain(request, tenant)
        return .page(page(request, tenant, domain, notice: Self.notice(request)))
    }

    /// Checks the live site. Requires a form, because any other site can make a browser send a GET.
    @Sendable func check(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let domain = try await domain(request, tenant)
        let check = try await checks.with(tenant.id) { try await sites.check(domain.name) }
        return .page(page(request, tenant, domain, check: check))
    }

    @Sendable func verify(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let domain = try await domain(request, tenant)
        try request.requireChange()
        let outcome = try await checks.with(tenant.id) {
            try await sites.prove(domain.name, tenant.id, request.session.access, request.now)
        }
        await findings.forget(tenant.id)
        guard let lack = outcome.lack else { return seeOther(tenant, domain, "proved") }
        return .page(page(request, tenant, outcome.record, lack: lack))
    }

    @Sendable func setPages(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let domain = try await domain(request, tenant)
        guard let pages = request.form["pages"].flatMap(DomainPages.init(rawValue:)) else {
            throw ConsoleRefusal.malformed(
                "The form has no valid value for landing pages. Nothing was changed.")
        }
        _ = try await request.stores.administration.items.domains.change(
            domain.name, of: tenant.id, by: request.session.access.actor
        ) { current in
            guard let current else { throw AdministrationError.unknownDomain(domain.name) }
            return current.showing(pages)
        }
        await findings.forget(tenant.id)
        return seeOther(tenant, domain, "pages")
    }

    private func seeOther(_ tenant: Tenant, _ domain: DomainRecord, _ done: String) -> ConsoleResponse {
        .seeOther(HTMLLink(.domains, of: tenant, domain.name.text, query: [("done", done)]))
    }

    private static func notice(_ request: ConsoleRequest) -> String? {
        switch request.query["done"] {
        case "proved": "Proved. Servers now serve the association file."
        case "pages": "Saved. Servers apply it within a second."
        default: nil
        }
    }

    private func domain(_ request: ConsoleRequest, _ tenant: Tenant) async throws -> DomainRecord {
        guard let name = request.path["host"].flatMap({ try? DomainName($0) }),
            let domain = try await request.stores.administration.items.domains.item(name, of: tenant.id)
        else { throw ConsoleRefusal.notFound }
        return domain
    }

    // MARK: The page

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ domain: DomainRecord, check: SiteCheck? = nil,
        lack: DomainVerification.Outcome.Lack? = nil, notice: String? = nil
    ) -> Page {
        let host = domain.name.text
        return Page(
            title: host, tenant: tenant, section: .domains,
            commands: [
                "doorstep domain show --tenant \(tenant.slug) \(host)",
                "doorstep domain verify --tenant \(tenant.slug) \(host)", "doorstep domain check \(host)",
                "doorstep domain pages --tenant \(tenant.slug) \(host) \(domain.pages == .off ? "on" : "off")",
                "doorstep domain delete --tenant \(tenant.slug) \(host)",
            ], notice: notice
        ) { main in
            main.facts([
                ("Status", { $0.status(of: domain, at: request.now) }),
                ("Proved by", { $0.text(domain.proof?.method.title ?? "nothing") }),
                ("Claimed", { $0.time(domain.claimedAt) }),
                (
                    "Last checked",
                    { dd in
                        if let time = domain.checkedAt { dd.time(time) } else { dd.text("never") }
                    }
                ),
                (
                    "Contested since",
                    { dd in
                        if let time = domain.contestedAt { dd.time(time) } else { dd.text("not contested") }
                    }
                ), ("Landing pages", { $0.text(domain.pages.title) }),
            ])
            Self.proof(request, tenant, domain, lack, &main)
            main.element(.h2, text: "Landing pages")
            Self.pages(request, tenant, domain, &main)
            main.element(.h2, text: "Association file")
            file(tenant, domain, &main)
            main.element(.h2, .id("check"), text: "Live site check")
            Self.check(tenant, domain, check, &main)
        }
    }

    private static func proof(
        _ request: ConsoleRequest, _ tenant: Tenant, _ domain: DomainRecord,
        _ lack: DomainVerification.Outcome.Lack?, _ html: inout HTMLWriter
    ) {
        html.element(.h2, text: "Proof")
        if let lack {
            html.element(.p, .class("error"), .role("alert")) { p in
                p.text(
                    lack.isUnanswered ? "No response, so nothing was changed: " : "No proof found: ")
                p.name(lack.reason)
            }
        }
        html.element(.p, text: "Publish one of these and keep it: Doorstep checks it every day.")
        html.element(.h3, text: "TXT record")
        html.copyable(domain.recordName)
        html.copyable(domain.recordValue)
        html.element(.h3, text: "File")
        html.copyable(domain.fileURL)
        html.copyable(domain.challenge)
        guard request.mayChange else { return html.readOnlyHint() }
        html.element(
            .form, .post, .action(HTMLLink(.domains, of: tenant, domain.name.text, "verify"))
        ) { form in
            form.element(.p) { $0.element(.button, .class("main"), text: "Check now") }
        }
    }

    private static func pages(
        _ request: ConsoleRequest, _ tenant: Tenant, _ domain: DomainRecord, _ html: inout HTMLWriter
    ) {
        html.element(
            .p,
            text: """
                People who open a URL without an iPhone see its landing page. The domain must be proved, and its paths must lead to the \
                server.
                """)
        guard request.mayChange else { return html.readOnlyHint() }
        html.element(
            .form, .class("filter"), .post, .action(HTMLLink(.domains, of: tenant, domain.name.text, "pages"))
        ) { form in
            form.element(.div, .class("field")) { div in
                div.element(.label, .for("pages"), text: "Landing pages")
                div.element(.select, .id("pages"), .name("pages")) { select in
                    for pages in DomainPages.allCases {
                        select.element(
                            .option, .value(pages.rawValue), pages == domain.pages ? .selected : nil,
                            text: pages.title)
                    }
                }
            }
            form.element(.button, text: "Save")
        }
    }

    private func file(_ tenant: Tenant, _ domain: DomainRecord, _ html: inout HTMLWriter) {
        guard let site = table.current?.table.site(ofHost: domain.name.text), site.tenant == tenant.id else {
            return html.element(.p, text: "Servers serve no association file until the domain is proved.")
        }
        let bytes = sites.association(site)
        html.element(.p) { p in
            p.element(.code, text: SiteCheck.url(of: domain.name))
            p.text(" has \(bytes.count.grouped) bytes.")
            if bytes.count > Self.shownLength { p.text(" The first \(Self.shownLength.grouped) bytes:") }
        }
        html.element(.pre, .tabindex(0), .role("region"), .ariaLabel("Association file")) { pre in
            pre.element(.code, text: String(decoding: bytes.prefix(Self.shownLength), as: UTF8.self))
        }
    }

    private static func check(
        _ tenant: Tenant, _ domain: DomainRecord, _ check: SiteCheck?, _ html: inout HTMLWriter
    ) {
        guard let check else {
            return html.element(
                .form, .post, .action(HTMLLink(.domains, of: tenant, domain.name.text, "check"))
            ) { form in
                form.element(.p) { $0.element(.button, text: "Check the live site") }
            }
        }
        html.table(
            check.hasFailed ? "Findings: the check fails" : "Findings: the check passes",
            columns: ["Check", "Result", "Source of the rule", "Details"]
        ) { rows in
            for finding in check.findings {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: finding.point.rawValue.replacing("_", with: " "))
                    row.element(.td) { $0.verdict(finding.verdict) }
                    row.element(.td, text: finding.authority.rawValue)
                    row.element(.td) { $0.name(finding.detail) }
                }
            }
        }
    }
}

extension HTMLWriter {
    fileprivate mutating func verdict(_ verdict: SiteCheck.Verdict) {
        let (kind, symbol) =
            switch verdict {
            case .passed: ("ok", "✓ ")
            case .warning: ("warning", "! ")
            case .failed: ("failed", "✕ ")
            case .unknown: ("unknown", "? ")
            case .notChecked: ("unknown", "– ")
            }
        element(.span, .class("status \(kind)")) { span in
            span.element(.span, .ariaHidden, text: symbol)
            span.text(verdict.rawValue.replacing("_", with: " "))
        }
    }
}

import Administration
import Formats
import Foundation
import HTTPTypes
import Lookups
import Persistence
import Tenancy

/// A tenant's domains, and the form that claims a domain.
struct DomainsPage: Sendable {
    private let findings: FindingsCache

    init(_ findings: FindingsCache) {
        self.findings = findings
    }

    /// The maximum number of domains on the page. [ours]
    private static let listLength = 200

    @Sendable func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        return .page(try await Self.page(request, tenant))
    }

    @Sendable func claim(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let text = request.form["host"] ?? ""
        let name: DomainName
        do throws(AdministrationError) {
            name = try DomainName(text)
        } catch {
            return .page(
                try await Self.page(request, tenant, host: text, error: "\(error)".capitalizedSentence + "."))
        }
        let claim = DomainRecord(
            name: name, challenge: DomainRecord.makeChallenge(), claimedAt: request.now)
        _ = try await request.stores.administration.items.domains.change(
            name, of: tenant.id, by: request.session.access.actor
        ) { $0 ?? claim }
        await findings.forget(tenant.id)
        return .seeOther(HTMLLink(.domains, of: tenant, name.text))
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, host: String = "", error: String? = nil
    ) async throws -> Page {
        let domains = try await request.stores.administration.items.domains.items(
            of: tenant.id, after: nil, limit: listLength + 1, where: [:])
        var page = Page(
            title: "Domains", tenant: tenant, section: .domains,
            commands: [
                "doorstep domain list --tenant \(tenant.slug)",
                "doorstep domain create --tenant \(tenant.slug) \((host.isEmpty ? "shop.example.com" : host).shellQuoted)",
            ]
        ) { main in
            main.errors([("Domain", error)])
            list(domains, tenant, at: request.now, &main)
            main.element(.h2, text: "Claim a domain")
            guard request.mayChange else { return main.readOnlyHint() }
            main.element(.form, .class("stack"), .post, .action(HTMLLink(.domains, of: tenant))) { form in
                form.field(
                    "Domain", name: "host", value: host,
                    hint:
                        "For example shop.example.com. Several tenants may claim a domain; the proof decides.",
                    error: error, inputmode: "url")
                form.element(.p) {
                    $0.element(.button, .class("main"), text: "Claim domain")
                }
            }
        }
        if error != nil { page.status = .unprocessableContent }
        return page
    }

    private static func list(
        _ domains: [DomainRecord], _ tenant: Tenant, at now: Date, _ html: inout HTMLWriter
    ) {
        guard !domains.isEmpty else {
            return html.element(
                .p,
                text:
                    "No domains claimed yet. Servers serve association files only for claimed and proved domains."
            )
        }
        html.table("Domains", columns: ["Domain", "Status", "Proved by", "Last checked", "Landing pages"]) {
            rows in
            for domain in domains.prefix(listLength) {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"), .href(HTMLLink(.domains, of: tenant, domain.name.text)),
                            text: domain.name.text)
                    }
                    row.element(.td) { $0.status(of: domain, at: now) }
                    row.element(.td, text: domain.proof?.method.title ?? "nothing")
                    row.element(.td) { td in
                        if let time = domain.checkedAt { td.time(time) } else { td.text("never") }
                    }
                    row.element(.td, text: domain.pages.title)
                }
            }
        }
        if domains.count > listLength {
            html.element(.p, .class("hint"), text: "Showing \(listLength). The command lists all domains.")
        }
    }
}

extension ProofMethod {
    var title: String {
        switch self {
        case .dns: "TXT record"
        case .file: "file"
        }
    }
}

extension DomainPages {
    var title: String {
        switch self {
        case .off: "off"
        case .on: "on"
        case .redirectingShortCodes: "on, redirect short codes"
        }
    }
}

extension HTMLWriter {
    /// A domain's status and the time of its withdrawal.
    mutating func status(of domain: DomainRecord, at now: Date) {
        let (kind, symbol) =
            switch domain.status {
            case .proved: ("ok", "✓ ")
            case .lapsed: ("warning", "! ")
            case .claimed: ("unknown", "– ")
            case .withdrawn: ("failed", "✕ ")
            }
        element(.span, .class("status \(kind)")) { span in
            span.element(.span, .ariaHidden, text: symbol)
            span.text(domain.status.rawValue)
        }
        guard let end = domain.withdrawnFrom else { return }
        let hours = max(0, Int((end.timeIntervalSince(now) / 3_600).rounded(.down)))
        text(
            hours == 0
                ? "; withdrawn if the next check finds no proof"
                : "; served for \(hours / 24) days and \(hours % 24) hours more, until ")
        if hours > 0 { time(end) }
    }
}

import Administration
import Formats
import Invocation
import Tenancy

/// A tenant's short codes, and one of them.
enum ShortCodesPage {
    /// Short codes per page. [ours]
    private static let pageLength = 100

    @Sendable static func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let after = try request.query["after"].map { text in
            guard let code = PageCursor.name(in: text).flatMap({ ShortCode.key(named: $0) }) else {
                throw ConsoleRefusal.malformed(
                    "The page cursor in the URL is not valid. Open the list again.")
            }
            return code
        }
        let codes = try await request.store(ShortCode.self).items(
            of: tenant.id, after: after, limit: pageLength + 1, where: [:])
        return .page(
            Page(
                title: "Short codes", tenant: tenant, section: .codes,
                commands: ["doorstep code list --tenant \(tenant.slug)"], notice: request.changeNotice
            ) { main in
                main.element(
                    .p, .class("hint"),
                    text:
                        "A short code stands for a URL that is too long for an App Clip Code. An experience with the rule hash:NAME reads it."
                )
                main.addition(of: ShortCode.self, request, tenant)
                guard !codes.isEmpty else { return main.element(.p, text: "No short codes yet.") }
                let shown = codes.prefix(pageLength)
                main.table("Short codes", columns: ["Code", "URL"]) { rows in
                    for code in shown {
                        rows.element(.tr) { row in
                            row.element(.th, .scope("row")) { th in
                                th.element(
                                    .a, .class("row"),
                                    .href(HTMLLink(item: code.key, ShortCode.self, of: tenant))
                                ) { $0.name(code.code) }
                            }
                            row.element(.td) { td in td.element(.code) { $0.name(code.url.canonical) } }
                        }
                    }
                }
                main.element(.p, .class("paging")) { p in
                    if after != nil {
                        p.element(.a, .href(HTMLLink(.codes, of: tenant)), text: "First page")
                    }
                    if codes.count > pageLength, let last = shown.last {
                        let next = PageCursor.text(of: last.code)
                        p.element(
                            .a, .href(HTMLLink(.codes, of: tenant, query: [("after", next)])),
                            text: "Next \(pageLength)")
                    }
                }
            })
    }

    @Sendable static func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let code = try await request.itemInPath(ShortCode.self, of: tenant) else {
            throw ConsoleRefusal.notFound
        }
        return .page(
            Page(
                title: code.code, tenant: tenant, section: .codes,
                commands: ["doorstep code show --tenant \(tenant.slug) \(code.commandArguments)"],
                notice: request.changeNotice
            ) { main in
                main.facts(of: code)
                main.element(.p) { p in
                    p.element(
                        .a, .href(HTMLLink(.diagnose, of: tenant, query: [("url", code.url.canonical)])),
                        text: "Diagnose the URL")
                }
                main.changes(of: code, request, tenant)
            })
    }
}

import Administration
import Formats

/// A tenant's findings by kind.
struct ProblemsPage: Sendable {
    private let findings: FindingsCache

    /// The maximum number of findings of one kind on the page. [ours]
    private static let maximumListed = 200

    init(_ findings: FindingsCache) {
        self.findings = findings
    }

    @Sendable func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let found = try await findings.findings(
            of: tenant, at: request.now, isAbout: true)
        let chosen = request.query["code"].flatMap { code in Problem.all.first { $0.code == code } }
        return .page(
            Page(
                title: "Problems", tenant: tenant, section: .problems,
                commands: ["doorstep experience lint --tenant \(tenant.slug)"]
            ) { main in
                guard let found else { return main.findingsToCome() }
                main.element(.p, .class("hint")) { p in
                    p.text("Warnings about the catalogue, as of ")
                    p.time(found.at)
                    p.text(".")
                }
                guard !found.all.isEmpty else {
                    main.element(.p, text: "No problems found.")
                    return
                }
                Self.counts(tenant, found, &main)
                if let chosen { Self.list(tenant, chosen, found, &main) }
            })
    }

    private static func counts(_ tenant: Tenant, _ found: FindingsCache.Found, _ html: inout HTMLWriter) {
        html.table("Problems by kind", columns: ["Problem", "Count", "Remedy"]) { rows in
            for problem in Problem.all {
                guard let count = found.counts[problem.code] else { continue }
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        let link =
                            problem.isOfLocations
                            ? HTMLLink(.locations, of: tenant, query: [("problem", problem.code)])
                            : HTMLLink(.problems, of: tenant, query: [("code", problem.code)])
                        th.element(.a, .class("row"), .href(link), text: problem.title)
                        th.text(" ")
                        th.element(.code, .class("quiet-text"), text: problem.code)
                    }
                    row.element(.td, .class("number"), text: count.grouped)
                    row.element(.td, text: problem.remedy)
                }
            }
        }
    }

    private static func list(
        _ tenant: Tenant, _ problem: Problem, _ found: FindingsCache.Found, _ html: inout HTMLWriter
    ) {
        let all = found.all.filter { $0.code == problem.code }
        html.element(.h2, text: problem.title.capitalizedSentence)
        html.element(.p, text: problem.remedy)
        html.element(.ul) { list in
            for finding in all.prefix(maximumListed) {
                list.element(.li) { item in
                    item.name(finding.description)
                    if let url = finding.url {
                        item.text(" ")
                        item.element(
                            .a, .href(HTMLLink(.diagnose, of: tenant, query: [("url", url)])),
                            .ariaLabel("Diagnose \(url)"),
                            text: "Diagnose")
                    }
                }
            }
        }
        if all.count > maximumListed {
            html.element(
                .p, text: "And \((all.count - maximumListed).grouped) more. The command lists all.")
        }
    }
}

import Administration
import Cards
import Formats
import Invocation
import Lookups
import Tenancy

/// The registered URLs as a tree of hosts and paths, with the chosen experience if several match.
struct URLsPage: Sendable {
    private let findings: FindingsCache
    private let table: LiveLookupIndex

    /// A larger tree is shown one level at a time. [ours]
    private static let maximumShown = 60
    /// The maximum number of children, and of experiences, of one node. [ours]
    private static let maximumListed = 200

    init(_ findings: FindingsCache, table: LiveLookupIndex) {
        self.findings = findings
        self.table = table
    }

    @Sendable func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let table = try request.table(table, of: tenant)
        let found = try await findings.findings(of: tenant, at: request.now)
        let codes = Dictionary(
            grouping: (found?.all ?? []).filter { $0.url != nil && $0.location == nil }, by: { $0.url ?? "" })
        guard let part = URLTree(at: request.query["at"] ?? "", in: table, wholeUpTo: Self.maximumShown)
        else { throw ConsoleRefusal.notFound }
        let context = Context(tenant: tenant, table: table, findings: codes)
        return .page(
            Page(
                title: part.path.isEmpty ? "URLs" : "https://\(part.path)", tenant: tenant, section: .urls,
                commands: ["doorstep experience list --tenant \(tenant.slug)"], notice: request.changeNotice
            ) { main in
                main.addition(of: ExperienceRecord.self, request, tenant)
                Self.introduction(part, tenant, &main)
                guard part.count > 0 else {
                    return main.element(
                        .p,
                        text: "No experiences yet. Add one, or import them with 'doorstep experience import'."
                    )
                }
                if found == nil { main.findingsToCome() }
                main.element(.ul, .class("tree")) { list in
                    Self.write(part, context, &list)
                }
            })
    }

    /// The data of the tree's rows.
    private struct Context {
        let tenant: Tenant
        let table: TenantTable
        let findings: [String: [CatalogueFinding]]
    }

    private static func introduction(
        _ part: URLTree, _ tenant: Tenant, _ html: inout HTMLWriter
    ) {
        if !part.path.isEmpty {
            html.element(.p) { $0.element(.a, .href(HTMLLink(.urls, of: tenant)), text: "All hosts") }
        }
        html.element(.p) { p in
            p.text("\(part.count.grouped) \(part.count == 1 ? "experience" : "experiences"). ")
            p.text(
                "If several experiences match a URL, Doorstep chooses the longest path, then the most query items. "
            )
            p.element(.a, .href(HTMLLink(.diagnose, of: tenant)), text: "Diagnose")
            p.text(" shows the choice for any URL.")
        }
    }

    private static func write(_ part: URLTree, _ context: Context, _ list: inout HTMLWriter) {
        for experience in part.experiences.prefix(maximumListed) {
            list.element(.li) { row(experience, context, &$0) }
        }
        for child in part.children.prefix(maximumListed) {
            list.element(.li) { item in
                let at = HTMLLink(.urls, of: context.tenant, query: [("at", child.path)])
                item.element(.a, .class("row"), .href(at)) { a in
                    a.element(.code) { $0.name(part.path.isEmpty ? child.name : "/\(child.name)") }
                }
                if child.isWhole {
                    item.element(.ul) { write(child, context, &$0) }
                } else {
                    item.text(" \(child.count.grouped)")
                }
            }
        }
        let cut = max(part.children.count, part.experiences.count)
        if cut > maximumListed {
            list.element(.li, text: "Showing \(maximumListed) of \(cut.grouped)")
        }
    }

    private static func row(_ experience: Experience, _ context: Context, _ html: inout HTMLWriter) {
        let text = context.table.text(of: experience)
        let id = ExperienceID(experience.kind, experience.url)
        html.element(.div, .class("experience")) { div in
            div.element(.p) { p in
                p.element(.a, .href(HTMLLink(.urls, of: context.tenant, id.text))) { a in
                    a.element(.code) { $0.name(experience.url.canonical) }
                }
                p.badge(experience.kind.rawValue)
                for finding in context.findings[experience.url.canonical] ?? [] {
                    p.badge(Problem.title(of: finding.code), "warning")
                }
            }
            div.element(.p, .class("hint")) { p in
                p.text("\(experience.clip); ")
                p.binding(experience.binding, of: context.tenant)
                if let title = text?.title {
                    p.text("; ")
                    p.name(title)
                    p.text(" (\(title.unicodeScalars.count) of \(CardText.maximumTitleLength))")
                }
                if let subtitle = text?.subtitle {
                    p.text(", ")
                    p.name(subtitle)
                    p.text(" (\(subtitle.unicodeScalars.count) of \(CardText.maximumSubtitleLength))")
                }
            }
            div.winner(over: experience, in: context.table, of: context.tenant)
        }
    }
}

extension HTMLWriter {
    /// The binding of an experience to a location.
    mutating func binding(_ binding: LocationBinding, of tenant: Tenant) {
        switch binding {
        case .unbound: text("no location")
        case .rule(let rule): text("location by the rule \(rule.description)")
        case .location(let identifier):
            text("location ")
            element(.a, .href(HTMLLink(location: identifier, of: tenant))) { $0.name(identifier.text) }
        }
    }

    /// The experience that is chosen at another one's URL. Writes nothing if an experience is chosen at its own URL.
    mutating func winner(over experience: Experience, in table: TenantTable?, of tenant: Tenant) {
        guard let table, let url = try? InvocationURL(experience.url.canonical) else { return }
        let chosen = table.match(url)?.experience
        guard chosen?.url != experience.url.canonical || chosen?.kind != experience.kind else { return }
        element(.p, .class("finding")) { p in
            p.badge("not chosen", "warning")
            guard let chosen else { return p.text(" No experience is chosen at this URL yet.") }
            p.text(" Another experience is chosen at this URL: ")
            p.name(chosen.url)
            p.text(", \(chosen.kind.rawValue).")
        }
    }
}

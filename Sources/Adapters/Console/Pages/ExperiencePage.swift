import Administration
import Cards
import Formats
import Invocation
import Lookups
import Persistence
import Tenancy

/// One experience: its card, and the landing page at its URL.
struct ExperiencePage: Sendable {
    private let sites: ConsoleServer.Sites
    private let table: LiveLookupIndex

    init(_ sites: ConsoleServer.Sites, table: LiveLookupIndex) {
        self.sites = sites
        self.table = table
    }

    @Sendable func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let record = try await request.itemInPath(ExperienceRecord.self, of: tenant) else {
            throw ConsoleRefusal.notFound
        }
        let items = request.stores.administration.items
        let clip = try await items.clips.item(record.experience.clip, of: tenant.id)
        var location: LocationRecord?
        if case .location(let identifier) = record.experience.binding {
            location = try await items.locations.item(identifier, of: tenant.id)
        }
        let card = record.card.inheriting(location?.card ?? Card())
            .inheriting(clip?.card ?? Card())
        return .page(page(request, tenant, record, card))
    }

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ record: ExperienceRecord, _ card: Card
    ) -> Page {
        let experience = record.experience
        let url = experience.url.canonical
        return Page(
            title: url, tenant: tenant, section: .urls,
            commands: [
                "doorstep experience show --tenant \(tenant.slug) \(url.shellQuoted) --kind \(experience.kind.rawValue)",
                "doorstep diagnose --tenant \(tenant.slug) \(url.shellQuoted)",
            ], notice: request.changeNotice
        ) { main in
            main.element(.section, .class("verdict"), .ariaLabel("Experience")) { section in
                section.qrCode(url)
                section.element(.div) { div in
                    div.facts([
                        ("Kind", { $0.text(experience.kind.rawValue) }),
                        (
                            "App Clip",
                            { dd in
                                dd.element(
                                    .a, .href(HTMLLink(item: experience.clip, Clip.self, of: tenant)),
                                    text: experience.clip.text)
                            }
                        ),
                        ("Location", { $0.binding(experience.binding, of: tenant) }),
                        ("ID", { $0.element(.code, text: record.key.text) }),
                    ])
                    div.winner(
                        over: experience, in: self.table.current?.table(of: tenant.id), of: tenant)
                    div.element(.p) { p in
                        p.element(
                            .a, .href(HTMLLink(.diagnose, of: tenant, query: [("url", url)])),
                            text: "Diagnose")
                    }
                    div.changes(of: record, request, tenant)
                }
            }
            main.element(.h2, text: "Card")
            Self.sketch(record, card, tenant, &main)
            Self.card(record, card, &main)
            main.element(.h2, text: "Landing page")
            self.preview(tenant, experience, &main)
        }
    }

    /// The image, the texts and the button of the card. The arrangement is a sketch. [ours]
    private static func sketch(
        _ record: ExperienceRecord, _ card: Card, _ tenant: Tenant, _ html: inout HTMLWriter
    ) {
        let first = card.texts.min { $0.key < $1.key }?.value
        let texts = card.defaultLanguage.flatMap { card.texts[$0] } ?? first
        html.element(.figure, .class("card"), .ariaLabel("Sketch of the card")) { figure in
            if let image = card.image {
                figure.void(
                    .img, .src(HTMLLink(image: image, of: tenant, "file")), .alt("The card's image"),
                    .width(1_800), .height(1_200))
            } else {
                figure.element(.p, .class("no-image"), text: "no image")
            }
            figure.element(.div) { below in
                below.element(.div) { words in
                    words.element(.p) { p in
                        p.element(.strong) { $0.name(record.title ?? texts?.title ?? "no title") }
                    }
                    words.element(.p, .class("hint")) {
                        $0.name(record.subtitle ?? texts?.subtitle ?? "no subtitle")
                    }
                }
                guard let action = card.action else { return }
                below.element(
                    .span, .class("action"), text: action.rawValue.lowercased().capitalizedSentence)
            }
        }
        html.element(
            .p, .class("hint"),
            text:
                "A sketch of the card. iOS may arrange the values in another way, and cut long texts."
        )
    }

    /// The experience's own values, completed from its location's card and then from its clip's card.
    private static func card(_ record: ExperienceRecord, _ card: Card, _ html: inout HTMLWriter) {
        html.facts([
            ("Title", { $0.length(record.title, of: CardText.maximumTitleLength) }),
            ("Subtitle", { $0.length(record.subtitle, of: CardText.maximumSubtitleLength) }),
            ("Default language", { $0.text(card.defaultLanguage?.rawValue ?? "not set") }),
            ("Button", { $0.text(card.action?.rawValue ?? "not set") }),
            ("Category", { $0.text(card.businessCategory?.rawValue ?? "not set") }),
            (
                "Image",
                { dd in
                    if let image = card.image { dd.element(.code, text: "\(image)") } else { dd.text("none") }
                }
            ),
        ])
        guard !card.texts.isEmpty else { return }
        html.table("Texts by language", columns: ["Language", "Title", "Subtitle"]) { rows in
            for (language, text) in card.texts.sorted(by: { $0.key < $1.key }) {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: language.rawValue)
                    row.element(.td) { $0.length(text.title, of: CardText.maximumTitleLength) }
                    row.element(.td) { $0.length(text.subtitle, of: CardText.maximumSubtitleLength) }
                }
            }
        }
        html.element(
            .p, .class("hint"),
            text:
                "Values that the experience does not set come from its location's card, then from its clip's card."
        )
    }

    /// The landing page's metadata, read as Messages reads it.
    private func preview(_ tenant: Tenant, _ experience: Experience, _ html: inout HTMLWriter) {
        guard let state = table.current, let url = try? InvocationURL(experience.url.canonical) else {
            return html.element(
                .p, text: "The lookup index is not loaded yet. Open the page again in a moment.")
        }
        guard let host = state.provedHost(experience.url.host), host.tenant == tenant.id else {
            return html.element(.p) { p in
                p.text("None: ")
                p.element(.a, .href(HTMLLink(.domains, of: tenant)), text: experience.url.host)
                p.text(" is not proved.")
            }
        }
        guard host.pages != .off else {
            return html.element(.p) { p in
                p.text("None: pages are off at ")
                p.element(.a, .href(HTMLLink(.domains, of: tenant, host.name)), text: host.name)
                p.text(".")
            }
        }
        guard let page = sites.page(url, host, state) else {
            return html.element(.p, text: "None: servers show no landing page at this URL.")
        }
        let metadata = PageMetadata(ofPage: page)
        let properties = [
            ("Title", "og:title"), ("Description", "og:description"), ("Site", "og:site_name"),
            ("Image", "og:image"), ("Address", "og:url"),
        ]
        var facts: [(String, (inout HTMLWriter) -> Void)] = properties.map { title, name in
            (title, { $0.name(metadata.properties[name] ?? "none") })
        }
        facts.append(("App Clip", { $0.text(metadata.banner?.clip ?? "none") }))
        facts.append(("App Store ID", { $0.text(metadata.banner?.appID ?? "none") }))
        html.facts(facts)
        html.element(.p, .class("hint"), text: "\(page.count.grouped) bytes, as servers send it now.")
        if let link = HTMLLink(https: experience.url.canonical) {
            html.element(.p) { $0.element(.a, .href(link), .rel("noreferrer"), text: "Open the live page") }
        }
    }
}

extension HTMLWriter {
    fileprivate mutating func length(_ text: String?, of maximum: Int) {
        guard let text else { return self.text("not set") }
        name(text)
        self.text(" (\(text.unicodeScalars.count) of \(maximum))")
    }
}

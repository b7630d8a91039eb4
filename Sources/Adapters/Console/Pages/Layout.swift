import Administration
import Formats
import Foundation
import Invocation
import Platform
import Tenancy

/// The frame of every page: header, navigation, equivalent commands and footer.
struct Layout: Sendable {
    private let assets: Assets
    private let apnsDetours: [String]

    /// - Parameter apnsDetours: destinations of notifications other than Apple. Every page shows them.
    init(_ assets: Assets, apnsDetours: [String]) {
        self.assets = assets
        self.apnsDetours = apnsDetours
    }

    /// Seconds. Pages show a notice if the lookup index is older. [ours]
    private static let tolerableAge: TimeInterval = 10

    /// - Parameters:
    ///   - session: nil for a user who has not signed in.
    ///   - tableAge: seconds since the lookup index was last known to match the database.
    func html(_ page: Page, for session: ConsoleSession?, tableAge: TimeInterval = 0) -> [UInt8] {
        HTMLWriter.page(language: "en") { head in
            head.void(.meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
            head.void(.meta, .name("color-scheme"), .content("light dark"))
            let parts = [page.title, page.tenant?.name.text, "Doorstep"].compactMap(\.self)
            head.element(.title, text: parts.joined(separator: " – "))
            head.void(.link, .rel("icon"), .type("image/svg+xml"), .href(Self.icon))
            // Leaflet's styles come first, so that the console's styles override them.
            if page.hasMap { head.void(.link, .rel("stylesheet"), .href(assets.link(to: "leaflet.css"))) }
            head.void(.link, .rel("stylesheet"), .href(assets.link(to: "console.css")))
            head.module(assets.link(to: session == nil ? "login.js" : "console.js"))
            if page.hasMap, let tiles = assets.tiles {
                head.void(.meta, .name("tiles"), .content(tiles.template))
                head.void(.meta, .name("tiles-attribution"), .content(tiles.attribution))
            }
        } body: { body in
            body.element(.a, .class("skip"), .href(HTMLLink("#main")), text: "Skip to the content")
            body.element(.header, .class("top")) { header(page, session, &$0) }
            if let tenant = page.tenant {
                body.element(.nav, .ariaLabel("Tenant")) { nav(page, tenant, session, &$0) }
            }
            body.element(.main, .id("main"), .tabindex(-1)) { main in
                main.element(.h1) { $0.element(.bdi, text: page.title) }
                if let notice = page.notice {
                    main.element(.p, .class("notice"), .role("status"), text: notice)
                }
                if tableAge > Self.tolerableAge {
                    main.element(
                        .p, .class("finding"), .role("status"),
                        text:
                            "The lookup index is \(Int(tableAge).grouped) seconds old. Maps, searches by name, counts and URLs on this page may be out of date."
                    )
                }
                page.body(&main)
            }
            if !page.commands.isEmpty { commands(page.commands, &body) }
            body.element(.footer) { footer(session, &$0) }
        }
    }

    /// Part of the page, to save a request.
    private static let icon = HTMLLink(
        """
        data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' \
        fill='%230d6b58'/%3E%3Cpath d='M10 26V9.5C10 7.6 11.6 6 13.5 6h5C20.4 6 22 7.6 22 9.5V26h-3V10a1 1 0 0 0-1-1h-4a1 1 0 \
        0 0-1 1v16z' fill='%23fff'/%3E%3Cpath d='M6 25h20v2.5H6z' fill='%239ee0cd'/%3E%3C/svg%3E
        """)

    private func header(_ page: Page, _ session: ConsoleSession?, _ html: inout HTMLWriter) {
        html.element(.a, .class("brand"), .href(.home)) { brand in
            brand.void(.img, .src(Self.icon), .alt(""), .width(22), .height(22))
            brand.text("Doorstep")
        }
        guard let session else { return }
        let action = page.tenant.map { HTMLLink(to: "t", $0.slug.text, "find") } ?? .home
        html.element(.form, .class("find"), .role("search"), .action(action)) { form in
            form.element(.label, .class("quiet"), .for("find"), text: "Find a location, or paste a URL")
            form.void(
                .input, .id("find"), .name("q"), .type("search"), .autocomplete("off"), .spellcheck(false),
                .maxlength(2_048), .placeholder("Find a location, or paste a URL"))
            form.element(.button, text: "Find")
        }
        for detour in apnsDetours { html.badge(detour, "warning") }
        html.element(.form, .class("person"), .post, .action(HTMLLink("/logout"))) { form in
            form.element(.span) { span in
                span.element(.bdi, text: session.access.name.text)
                if session.access.isReadOnly { span.element(.span, .class("badge"), text: "read-only") }
            }
            // Users whom a proxy has signed in sign out at the proxy.
            if !session.isByProxy { form.element(.button, .class("plain"), text: "Sign out") }
        }
    }

    private func nav(
        _ page: Page, _ tenant: Tenant, _ session: ConsoleSession?, _ html: inout HTMLWriter
    ) {
        html.element(.a, .class("tenant"), .href(HTMLLink(.overview, of: tenant))) { a in
            a.element(.bdi, text: tenant.name.text)
            if tenant.isTest { a.element(.span, .class("badge"), text: "test") }
            if tenant.suspendedAt != nil { a.element(.span, .class("badge warning"), text: "suspended") }
        }
        // On a narrow screen, the check box shows and hides the links.
        html.void(.input, .type("checkbox"), .id("menu"), .class("quiet"))
        html.element(.label, .for("menu"), .class("button"), text: "Menu")
        html.element(.div, .class("menu")) { menu in
            for group in Page.Group.allCases {
                let title = "nav-\(group)"
                menu.element(.p, .id(title), text: group.rawValue)
                menu.element(.ul, .ariaLabelledby(title)) { list in
                    for section in Page.Section.allCases where section.group == group {
                        list.element(.li) { item in
                            item.element(
                                .a, .href(HTMLLink(section, of: tenant)), .data("key", section.key),
                                section == page.section ? .ariaCurrent("page") : nil, text: section.title)
                        }
                    }
                    if group == .settings, session?.access.tenant == nil {
                        list.element(.li) { item in
                            let section = page.section ?? .overview
                            item.element(
                                .a, .href(HTMLLink(to: "", query: [("section", section.rawValue)])),
                                text: "Other tenants")
                        }
                    }
                }
            }
        }
    }

    private func commands(_ lines: [String], _ html: inout HTMLWriter) {
        html.element(.section, .class("commands"), .ariaLabelledby("commands")) { box in
            box.element(.h2, .id("commands"), text: "Equivalent commands")
            for line in lines {
                box.copyable(line)
            }
        }
    }

    private func footer(_ session: ConsoleSession?, _ html: inout HTMLWriter) {
        html.element(.p) { p in
            if session != nil {
                p.element(.a, .href(HTMLLink("/help")), .data("key", "?"), text: "Help and shortcuts")
                p.text(" · ")
                p.element(.a, .href(HTMLLink("/sessions")), text: "Sessions")
                p.text(" · ")
                if session?.access.tenant == nil {
                    p.element(.a, .href(HTMLLink("/tenants")), text: "Tenants and limits")
                    p.text(" · ")
                    p.element(.a, .href(HTMLLink("/status")), text: "Status")
                    p.text(" · ")
                }
            }
            p.text("Times are UTC.")
            if session != nil { p.text(" · Doorstep \(BuildInfo.current)") }
        }
    }
}

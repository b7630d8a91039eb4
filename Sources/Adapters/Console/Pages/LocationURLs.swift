import Administration
import Codes
import Formats
import Invocation
import Lookups
import Persistence
import Tenancy

/// The URLs that lead to a location. Printed codes and tags may contain them.
struct LocationURLs {
    struct Lead {
        let url: String
        let experience: Experience
        /// The title of the experience's card.
        let title: String?
    }

    /// URLs that lead to the location by their own experience.
    let leads: [Lead]
    let shortCodes: [ShortCode]
    /// Whether there may be more.
    let isCut: Bool

    /// The maximum number of experiences, and of short codes. [ours]
    private static let limit = 50

    init(
        of location: LocationIdentifier, _ request: ConsoleRequest, _ tenant: TenantID, in table: TenantTable?
    )
        async throws
    {
        let records = try await request.stores.administration.experiences(
            leadingTo: location, of: tenant, limit: Self.limit + 1)
        let candidates = records.compactMap { record -> Lead? in
            let experience = record.experience
            let url: String?
            switch experience.binding {
            case .location: url = experience.url.canonical
            case .rule(let rule): url = rule.url(naming: location, at: experience.url.canonical)
            case .unbound: url = nil
            }
            return url.map { Lead(url: $0, experience: experience, title: record.title) }
        }
        leads = candidates.filter { lead in
            guard let table, let url = try? InvocationURL(lead.url), let match = table.match(url),
                table.lookUp(url, by: match).location?.identifier == location
            else { return false }
            // Another matching experience may be chosen.
            return match.experience.url == lead.experience.url.canonical
                && match.experience.kind == lead.experience.kind
        }
        shortCodes = try await request.stores.administration.shortCodes(
            of: leads.map(\.url), of: tenant, limit: Self.limit)
        isCut = records.count > Self.limit || shortCodes.count == Self.limit
    }

    /// The number of URLs and short codes that may be printed.
    var count: Int { leads.count + shortCodes.count }
}

extension LocationURLs {
    /// The QR code of a URL as a file.
    @Sendable static func code(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        _ = try await request.tenant()
        guard let text = request.query["url"], let url = try? InvocationURL(text),
            let symbol = try? QRSymbol(url.canonical)
        else { throw ConsoleRefusal.malformed("The URL is not valid, or too long for a QR code.") }
        return .file(Array(symbol.svg.utf8), type: "image/svg+xml", name: "qr-code.svg")
    }
}

extension HTMLWriter {
    /// Each URL with its QR code and the rule by which it leads to the location.
    mutating func urls(_ urls: LocationURLs, of tenant: Tenant) {
        guard urls.count > 0 else {
            return element(
                .p,
                text:
                    "No experience leads here. Bind an experience to this location, or add an experience with a rule that reads the location's identifier."
            )
        }
        element(.ul, .class("urls")) { list in
            for lead in urls.leads {
                list.element(.li) { item in
                    item.qrCode(lead.url)
                    item.element(.div) { div in
                        div.element(.p) { p in p.element(.code) { $0.name(lead.url) } }
                        div.element(.p, .class("hint")) { p in
                            p.text("\(lead.experience.kind.rawValue), \(lead.experience.clip); ")
                            switch lead.experience.binding {
                            case .rule(let rule): p.text("rule \(rule.description)")
                            default: p.text("bound to this location")
                            }
                            if let title = lead.title {
                                p.text("; card title: ")
                                p.name(title)
                            }
                        }
                        div.element(.p) { p in
                            p.element(
                                .a, .href(HTMLLink(.diagnose, of: tenant, query: [("url", lead.url)])),
                                .ariaLabel("Diagnose \(lead.url)"), text: "Diagnose")
                            if let link = HTMLLink(https: lead.url) {
                                p.text(" · ")
                                p.element(
                                    .a, .href(link), .rel("noreferrer"), .ariaLabel("Open \(lead.url)"),
                                    text: "Open")
                            }
                            p.text(" · ")
                            p.element(
                                .a,
                                .href(
                                    HTMLLink(to: "t", tenant.slug.text, "qr.svg", query: [("url", lead.url)])),
                                .ariaLabel("Download the QR code of \(lead.url)"),
                                text: "Download the QR code")
                        }
                    }
                }
            }
        }
        if !urls.shortCodes.isEmpty {
            element(.h3, text: "Short codes")
            element(.ul) { list in
                for code in urls.shortCodes {
                    list.element(.li) { item in
                        item.element(.code) { $0.name(code.code) }
                        item.text(" for ")
                        item.element(.code) { $0.name(code.url.canonical) }
                    }
                }
            }
        }
        if urls.isCut { element(.p, .class("hint"), text: "This list may be incomplete.") }
    }
}

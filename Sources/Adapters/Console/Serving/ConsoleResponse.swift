import Administration
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Invocation
import Tenancy

/// The response of an endpoint.
enum ConsoleResponse {
    case page(Page)
    /// Redirects to a page by GET after a form, so that a reload does not send the form again.
    case seeOther(HTMLLink)
    case json([UInt8])
    /// A file to download. The name has letters, digits, dots and hyphens.
    case file([UInt8], type: String, name: String)
    /// An image. The content of its address never changes.
    case image([UInt8], type: String)

    /// The page's Content Security Policy. Leaflet writes markup from strings, which Trusted Types refuse.
    /// - Parameter tiles: the origin of the map tiles.
    static func policy(trustedTypes: Bool, tiles: String? = nil) -> String {
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:\(tiles.map { " " + $0 } ?? ""); "
            + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            + (trustedTypes ? "; require-trusted-types-for 'script'" : "")
    }

    /// A plain-text response to requests that do not come from a console page.
    static func plain(_ status: HTTPResponse.Status, _ text: String) -> ServerResponse {
        ServerResponse(
            status, [.contentType: "text/plain; charset=utf-8"], body: .bytes(Array("\(text)\n".utf8)))
    }

    /// - Parameter tiles: the source of the map tiles, if the page has a map.
    static func html(
        _ bytes: [UInt8], _ status: HTTPResponse.Status, hasMap: Bool, tiles: TileSource? = nil
    ) -> ServerResponse {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        headers[.contentSecurityPolicy] = policy(trustedTypes: !hasMap, tiles: tiles?.origin)
        // Tile servers want to know the origin; OpenStreetMap's servers refuse requests without a referrer. [observed]
        if tiles != nil { headers[.referrerPolicy] = "strict-origin-when-cross-origin" }
        return ServerResponse(status, headers, body: .bytes(bytes))
    }

    static func redirect(to link: HTMLLink) -> ServerResponse {
        ServerResponse(.seeOther, [.location: link.text])
    }
}

/// An error page: status, title and text.
struct ConsoleRefusal: Error {
    let status: HTTPResponse.Status
    let title: String
    let text: String

    static let notFound = ConsoleRefusal(
        status: .notFound, title: "Not found", text: "The page does not exist, or you have no access to it.")
    static let notReady = ConsoleRefusal(
        status: .serviceUnavailable, title: "Not ready",
        text: "The console is still loading. Try again in a moment.")
    static let unreadableForm = ConsoleRefusal(
        status: .unsupportedMediaType, title: "Form expected",
        text: "The request has no form. Nothing was done.")
    static let tooManyInvalidLinks = ConsoleRefusal(
        status: .tooManyRequests, title: "Too many tries",
        text: "Your address has sent too many invalid links. Use a valid link, or wait a minute.")
    static let tooManyTriesOfLink = ConsoleRefusal(
        status: .tooManyRequests, title: "Too many tries",
        text: "This link was tried too often. Wait a minute, or create another link.")

    static func signedInByProxy(_ name: DisplayName) -> ConsoleRefusal {
        .conflict("The proxy has signed you in as \(name), so a link changes nothing. The link was not used.")
    }

    static let tooManyChecks = ConsoleRefusal(
        status: .tooManyRequests, title: "Too many checks",
        text: "Several site checks of this tenant are running. Try again when one has finished.")

    static let tooManyFiles = ConsoleRefusal(
        status: .tooManyRequests, title: "Too many files",
        text:
            "The console is still reading your other files. Nothing was done. Try again when it has finished."
    )

    static func forbidden(_ text: String) -> ConsoleRefusal {
        ConsoleRefusal(status: .forbidden, title: "Not allowed", text: text)
    }

    static func conflict(_ text: String) -> ConsoleRefusal {
        ConsoleRefusal(status: .conflict, title: "Refused", text: text)
    }

    static func malformed(_ text: String) -> ConsoleRefusal {
        ConsoleRefusal(status: .badRequest, title: "Invalid request", text: text)
    }
}

extension HTMLLink {
    /// A path in the console.
    /// - Parameters:
    ///   - components: not encoded. Each stays one component, whatever characters it contains.
    ///   - query: omits fields without a value.
    init(to components: String..., query: [(String, String?)] = []) {
        self.init(path: components, query: query)
    }

    fileprivate init(path components: [String], query: [(String, String?)]) {
        let items = query.compactMap { name, value in
            value.flatMap { $0.isEmpty ? nil : "\(Self.encoded(name))=\(Self.encoded($0))" }
        }
        let path = "/" + components.map(Self.encoded).joined(separator: "/")
        self =
            HTMLLink(path: items.isEmpty ? path : path + "?" + items.joined(separator: "&")) ?? HTMLLink("/")
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
    }
}

extension HTMLLink {
    /// A page in a section of a tenant.
    /// - Parameter further: path components after the section.
    init(
        _ section: Page.Section, of tenant: Tenant, _ further: String..., query: [(String, String?)] = []
    ) {
        self.init(path: ["t", tenant.slug.text, section.rawValue] + further, query: query)
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

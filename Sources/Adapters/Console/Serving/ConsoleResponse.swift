import Administration
import Foundation
import HTML
import HTTPTypes
import Hummingbird
import NIOCore
import Tenancy

/// What a route answers.
enum ConsoleResponse {
    case page(Page)
    /// To a page that tells what was done: after a form, by GET, so that nothing is sent twice.
    case seeOther(HTMLLink)
    case json([UInt8])
    /// An image, which never changes under its name.
    case image([UInt8], type: String)

    /// What the page's markup may load and lead to. Leaflet writes markup from strings of its own, which trusted types refuse.
    /// - Parameter tiles: the origin of what a map is drawn on.
    static func policy(trustedTypes: Bool, tiles: String? = nil) -> String {
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:\(tiles.map { " " + $0 } ?? ""); "
            + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            + (trustedTypes ? "; require-trusted-types-for 'script'" : "")
    }

    /// A sentence for whoever is no page of the console.
    static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "\(text)\n")))
    }

    /// - Parameter tiles: what the page's map is drawn on, if it has one.
    static func html(
        _ bytes: [UInt8], _ status: HTTPResponse.Status, hasMap: Bool, tiles: TileSource? = nil
    ) -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        headers[.contentSecurityPolicy] = policy(trustedTypes: !hasMap, tiles: tiles?.origin)
        // Those who give tiles away want to know to whom: OpenStreetMap's answer nobody else. [observed]
        if tiles != nil { headers[.referrerPolicy] = "strict-origin-when-cross-origin" }
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func redirect(to link: HTMLLink) -> Response {
        Response(status: .seeOther, headers: [.location: link.text])
    }
}

/// Why a request is not answered as it was asked.
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
    /// A path of the console's own.
    /// - Parameters:
    ///   - components: as they are; whatever is in one stays one.
    ///   - query: fields without a value are left out.
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
    /// A page of a tenant's section.
    /// - Parameter further: what comes behind the section in the path.
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

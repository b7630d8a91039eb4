public import HTTPTypes
public import Invocation
public import Lookups

/// The landing pages at a proved host, made from memory.
///
/// ``TenantTable/lookUp(_:)`` decides where a URL leads, as for clips. Every spelling of a URL that an experience matches has a
/// page, with the location's name if there is one. If the URL names an unknown location, the page has the status 404. There is no
/// page for
/// - demo experiences, because Apple hosts their links,
/// - locations encoded in the URL without a valid signature,
/// - suspended tenants.
public struct LandingSite: Sendable {
    public typealias Response = (response: HTTPResponse, body: [UInt8])

    private let cache = PageCache()
    private let drawsCodes: Bool

    public init() {
        self.init(drawingCodes: true)
    }

    /// - Parameter drawsCodes: false for measurements without QR codes.
    package init(drawingCodes drawsCodes: Bool) {
        self.drawsCodes = drawsCodes
    }

    /// The path of card images at each proved host, followed by the file's SHA-256.
    static let imageFolder = "/.well-known/doorstep/images/"

    /// Responds to GET and HEAD.
    /// - Parameters:
    ///   - request: a request for a path outside the API.
    ///   - host: a host with landing pages.
    public func response(
        _ request: HTTPRequest, at host: LookupIndex.ProvedHost, in state: LiveLookupIndex.State
    ) -> Response {
        let target = request.path ?? ""
        if Self.isIcon(target) { return Self.noIcon }
        let key = PageCache.Key(host: host.name, target: target)
        if let key, let page = cache.page(key, in: state.version) {
            return page.response(to: request.headerFields)
        }
        guard !host.tenantIsSuspended, target.hasPrefix("/"),
            let url = try? InvocationURL("https://\(host.name)\(target)")
        else { return Self.notFound }
        let table = state.table(of: host.tenant)
        if host.pages == .redirectingShortCodes, let target = table.target(ofCodeIn: url),
            target.isMatchable, state.provedHost(target.host)?.tenant == host.tenant
        {
            return Self.redirect(to: target)
        }
        guard let page = landingPage(at: url, of: host, in: table) else { return Self.notFound }
        let written = WrittenPage(page, Self.pageFields)
        if let key { cache.keep(written, as: key, in: state.version) }
        return written.response(to: request.headerFields)
    }

    /// The landing page at a URL of a host with landing pages; nil if there is none.
    public func page(
        at url: InvocationURL, of host: LookupIndex.ProvedHost, in state: LiveLookupIndex.State
    ) -> [UInt8]? {
        guard !host.tenantIsSuspended else { return nil }
        return landingPage(at: url, of: host, in: state.table(of: host.tenant))?.html()
    }

    private func landingPage(
        at url: InvocationURL, of host: LookupIndex.ProvedHost, in table: TenantTable
    ) -> LandingPage? {
        let lookup = table.lookUp(url)
        guard let experience = lookup.experience, experience.kind != .demo else { return nil }
        if case .rule(.coordinates) = experience.binding, lookup.location == nil { return nil }
        var page = LandingPage(
            url, experience, lookup,
            table.presentation(of: experience, at: lookup.location), at: host)
        page.drawsCode = drawsCodes
        return page
    }

    /// One minute: the same time for which clips may cache a response. [ours]
    private static let caching = "public, max-age=60"

    private static let pageFields: HTTPFields = [
        .contentType: "text/html; charset=utf-8", .cacheControl: caching,
        .contentSecurityPolicy: LandingPage.contentSecurityPolicy, .xContentTypeOptions: "nosniff",
        .referrerPolicy: "strict-origin",
    ]

    private static let notFound: Response = {
        var fields = pageFields
        fields[.contentLanguage] = LandingPage.ownLanguage
        return (HTTPResponse(status: .notFound, headerFields: fields), LandingPage.notFound)
    }()

    private static func redirect(to url: InvocationURL) -> Response {
        let fields: HTTPFields = [
            .location: url.canonical, .cacheControl: caching, .referrerPolicy: "strict-origin",
        ]
        return (HTTPResponse(status: .found, headerFields: fields), [])
    }

    // MARK: Icons

    /// Paths that browsers and LinkPresentation request if a page names no icon.
    private static func isIcon(_ target: String) -> Bool {
        let path = target.prefix { $0 != "?" }
        return path == "/favicon.ico" || path.hasPrefix("/apple-touch-icon") && path.hasSuffix(".png")
    }

    /// Cached for an hour, to reduce requests.
    private static let noIcon: Response = (
        HTTPResponse(status: .notFound, headerFields: [.cacheControl: "public, max-age=3600"]), []
    )
}

extension HTTPField.Name {
    /// W3C, "Referrer Policy".
    static let referrerPolicy: Self = {
        guard let name = Self("Referrer-Policy") else { preconditionFailure("no field can have this name") }
        return name
    }()
}

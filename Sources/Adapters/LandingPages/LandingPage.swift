import Cards
import Codes
import Crypto
import Formats
import Foundation
import Invocation
import Lookups
import Tenancy

/// The page at the URL of a code. On an iPhone it leads to the App Clip; on other devices it leads to an iPhone.
///
/// All clients get the same bytes: no script, no cookie, no other origin. Takes time linear in the URL and the texts.
struct LandingPage {
    /// The whole requested URL, canonical. Messages opens `og:url` instead of the sent URL. [observed]
    let url: InvocationURL
    let host: String
    /// The canonical URL for search engines.
    let canonical: String
    let clip: String
    let title: String
    let subtitle: String?
    let image: ImageDigest?
    let appStoreID: String?
    let androidURL: String?
    let siteName: String?
    /// The language of title and subtitle (BCP 47).
    let language: String
    /// Whether search engines must not list the page.
    let isUnlisted: Bool
    /// Whether the URL names a location that does not exist. The page is then of the brand, and launches no App Clip.
    let isOfUnknownLocation: Bool
    var drawsCode = true

    /// - Parameters:
    ///   - experience: the experience that the URL matches.
    ///   - lookup: where the URL leads.
    init(
        _ url: InvocationURL, _ experience: IndexedExperience, _ lookup: Lookup,
        _ presentation: Presentation, at host: LookupIndex.ProvedHost
    ) {
        let location = lookup.location
        isOfUnknownLocation = if case .unknownIdentifier = lookup { true } else { false }
        self.url = url
        self.host = host.name
        // If an experience is for many locations, each location has its own page.
        canonical =
            if case .location = experience.binding { experience.url } else { url.canonicalWithoutFragment }
        clip = experience.clip.text
        let brand = presentation.siteName ?? host.tenantName
        title = isOfUnknownLocation ? brand : presentation.title ?? location?.name ?? host.tenantName
        subtitle = isOfUnknownLocation ? nil : presentation.subtitle
        image = presentation.image
        appStoreID = presentation.appStoreID
        androidURL = presentation.androidURL
        siteName = presentation.siteName
        language = presentation.language.map { $0.rawValue.lowercased() } ?? Self.ownLanguage
        isUnlisted = isOfUnknownLocation || location?.isEncodedInURL == true
    }

    /// The maximum URL length of a QR code, in bytes. A longer code would be too fine to scan from a screen. [ours]
    static let maximumDrawnLength = 300

    /// The language of Doorstep's own texts.
    static let ownLanguage = "en"

    /// The page, in UTF-8.
    func html() -> [UInt8] {
        HTMLWriter.page(language: language, head: writeHead, body: writeBody)
    }

    // MARK: Head

    private func writeHead(_ head: inout HTMLWriter) {
        let visited = url.canonicalWithoutFragment
        head.element(.title, text: title)
        head.raw(#"<meta name="viewport" content="width=device-width, initial-scale=1">"#)
        if !isOfUnknownLocation { head.void(.meta, .name("apple-itunes-app"), .content(banner)) }
        if isUnlisted { head.raw(#"<meta name="robots" content="noindex">"#) }
        if let subtitle { head.void(.meta, .name("description"), .content(subtitle)) }
        head.raw(#"<meta property="og:type" content="website">"#)
        head.void(.meta, .property("og:title"), .content(title))
        if let subtitle { head.void(.meta, .property("og:description"), .content(subtitle)) }
        if let siteName { head.void(.meta, .property("og:site_name"), .content(siteName)) }
        head.void(.meta, .property("og:url"), .content(visited))
        if let image {
            head.void(.meta, .property("og:image"), .content("https://\(host)\(Self.path(of: image))"))
            // All card images have this size.
            head.raw(#"<meta property="og:image:width" content="1800">"#)
            head.raw(#"<meta property="og:image:height" content="1200">"#)
            head.void(.meta, .property("og:image:alt"), .content(title))
            head.raw(#"<meta name="twitter:card" content="summary_large_image">"#)
        } else {
            head.raw(#"<meta name="twitter:card" content="summary">"#)
        }
        if !isOfUnknownLocation, let link = HTMLLink(https: canonical) {
            head.void(.link, .rel("canonical"), .href(link))
        }
        head.style(Self.style)
    }

    /// The content of the meta tag for Safari's banner and card. Without `app-argument`, which only the full app receives.
    ///
    /// Source: Apple, "Supporting invocations from your website and the Messages app".
    private var banner: String {
        let clip = "app-clip-bundle-id=\(clip), app-clip-display=card"
        return appStoreID.map { "app-id=\($0), \(clip)" } ?? clip
    }

    private static func path(of image: ImageDigest) -> String { "\(LandingSite.imageFolder)\(image)" }

    // MARK: Body

    private func writeBody(_ body: inout HTMLWriter) {
        let own = language == Self.ownLanguage ? nil : HTMLAttribute.lang(Self.ownLanguage)
        body.element(.main) { main in
            if let image, let source = HTMLLink(path: Self.path(of: image)) {
                // The title is beside it.
                main.void(.img, .src(source), .alt(""), .width(1_800), .height(1_200))
            }
            main.element(.h1, text: title)
            if let subtitle { main.element(.p, text: subtitle) }
            if isOfUnknownLocation {
                main.element(
                    .p, own,
                    text:
                        "None of our locations has this address. If you scanned a code, ask the staff for help."
                )
            }
            if let link = appStoreID.flatMap({ HTMLLink(https: "https://apps.apple.com/app/id\($0)") }) {
                main.element(.a, own, .href(link), text: "Get the app on the App Store")
            }
            if let link = androidURL.flatMap({ HTMLLink(https: $0) }) {
                main.element(.a, own, .href(link), text: "Get the app for Android")
            }
            guard !isOfUnknownLocation else { return }
            main.element(.p, own, text: "On an iPhone, open this page in Safari.")
            writeQRCode(&main, own)
        }
    }

    private func writeQRCode(_ main: inout HTMLWriter, _ own: HTMLAttribute?) {
        let text = url.canonicalWithoutFragment
        guard drawsCode, text.utf8.count <= Self.maximumDrawnLength, let symbol = try? QRSymbol(text) else {
            return
        }
        let side = symbol.outerSize
        main.element(.figure, own) { figure in
            figure.element(
                .svg, .role("img"), .ariaLabel("QR code of this page's address"),
                .viewBox(width: side, height: side), .shapeRendering("crispEdges")
            ) { svg in
                // Also white in dark mode.
                svg.element(.rect, .width(side), .height(side), .fill("#fff"))
                svg.element(.path, .d(symbol.path))
            }
            figure.element(.figcaption, text: "Scan with the camera of an iPhone.")
        }
    }
}

extension LandingPage {
    /// The page for unknown URLs. It contains no URL, so that it is the same everywhere, and launches no App Clip.
    static let notFound = HTMLWriter.page(language: ownLanguage) { head in
        head.element(.title, text: "Page not found")
        head.raw(#"<meta name="viewport" content="width=device-width, initial-scale=1">"#)
        head.style(style)
    } body: { body in
        body.element(.main) { main in
            main.element(.h1, text: "Page not found")
            main.element(
                .p, text: "This address leads to no page. If you scanned a code, ask the staff for help.")
        }
    }

    /// Small touch screens hide the QR code, because it is for another device.
    static let style: StaticString = """
        :root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:0}\
        main{max-width:32rem;margin:0 auto;padding:2rem 1rem;text-align:center}\
        h1,p{overflow-wrap:anywhere;unicode-bidi:plaintext}h1{line-height:1.2}\
        img{display:block;width:100%;height:auto;border-radius:.75rem}\
        a{display:block;max-width:20rem;margin:1rem auto;padding:.75rem 1rem;border-radius:.75rem;\
        background:#0b5fce;color:#fff;font-weight:600;text-decoration:none}\
        a:focus-visible{outline:3px solid;outline-offset:3px}figure{max-width:16rem;margin:2rem auto 0}\
        svg{display:block;width:100%;height:auto;margin-bottom:.5rem}\
        @media (hover:none) and (max-width:48rem){figure{display:none}}
        """

    /// Allows the style sheet by its hash, and images from the page's own host.
    static let contentSecurityPolicy: String = {
        let hash = Data(SHA256.hash(data: Data("\(style)".utf8))).base64EncodedString()
        return """
            default-src 'none'; style-src 'sha256-\(hash)'; img-src 'self'; base-uri 'none'; form-action 'none'; \
            frame-ancestors 'none'
            """
    }()
}

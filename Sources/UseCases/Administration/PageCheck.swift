import Foundation
import Invocation
public import Tenancy

/// Checks a live page point by point: whether Safari can show the App Clip's banner or card, and Messages a preview.
///
/// A point that cannot be judged, because another one failed before it, is neither passed nor failed.
public struct PageCheck: Sendable {
    public enum Point: String, Sendable, CaseIterable {
        case https
        case response
        /// The end of all redirects. The association of its host counts.
        case redirects
        case status
        case contentType = "content_type"
        case size
        case banner
        case clip
        case appStoreID = "app_store_id"
        case display
        case association
        case title = "og_title"
        case url = "og_url"
        case image = "og_image"
        case imageSize = "og_image_size"

        /// The source of the rule.
        public var authority: SiteCheck.Authority {
            switch self {
            case .url: .observed
            case .response, .status: .ours
            default: .apple
            }
        }
    }

    public struct Finding: Sendable, Hashable {
        public let point: Point
        public let verdict: SiteCheck.Verdict
        /// One sentence.
        public let detail: String
    }

    /// Where redirects ended.
    public let url: String
    /// Every point, in order.
    public let findings: [Finding]

    public var hasFailed: Bool { findings.contains { $0.verdict == .failed } }

    /// The maximum number of bytes of a page. [Apple, TN2444]
    public static let maximumSize = 1 << 20
    /// The recommended width of a preview's image, in pixels. Images below ``smallestWidth`` are ignored. [Apple, TN2444]
    public static let recommendedWidth = 900
    public static let smallestWidth = 150
    /// The maximum number of redirects. [ours]
    public static let maximumRedirects = 5

    /// Fetches a page, follows its redirects, and checks the last page. Then looks for the clip in the association file of the last
    /// host.
    /// - Parameter clip: the clip that the page must name; nil for any.
    public static func run(_ url: String, clip: BundleID?, _ fetcher: some PageFetcher) async -> PageCheck {
        var judge = Judge()
        var current = url
        var redirects = 0
        while true {
            guard judge.scheme(of: current) else { break }
            do throws(NoResponse) {
                let page = try await fetcher.fetch(current, limit: maximumSize + 1)
                judge.say(.response, true, "the site responded with a valid certificate")
                if (300..<400).contains(page.status), page.status != 304 {
                    guard redirects < maximumRedirects else {
                        judge.say(.redirects, false, "more than \(maximumRedirects) redirects")
                        break
                    }
                    guard let next = page.location.flatMap({ Self.resolve($0, from: current) }) else {
                        judge.say(.redirects, false, "a redirect leads to \(page.location ?? "nowhere")")
                        break
                    }
                    (current, redirects) = (next, redirects + 1)
                    continue
                }
                judge.say(
                    .redirects, true,
                    redirects == 0 ? "no redirect" : "\(redirects) redirects, the last one to \(current)")
                judge.page(page, at: current, clip: clip)
                if let named = judge.clip { await judge.association(of: named, at: current, fetcher) }
            } catch {
                judge.say(.response, false, "no response with a valid certificate: \(error)")
            }
            break
        }
        return PageCheck(url: current, findings: judge.findings)
    }

    private static func resolve(_ location: String, from url: String) -> String? {
        guard let base = URL(string: url), let next = URL(string: location, relativeTo: base) else {
            return nil
        }
        return next.absoluteURL.absoluteString
    }
}

/// Collects the verdict on each point. Points without a verdict were not checked.
private struct Judge {
    private var verdicts: [PageCheck.Point: PageCheck.Finding] = [:]
    /// The clip that the page names.
    private(set) var clip: String?

    var findings: [PageCheck.Finding] {
        PageCheck.Point.allCases.map {
            verdicts[$0] ?? .init(point: $0, verdict: .notChecked, detail: "not checked")
        }
    }

    mutating func say(_ point: PageCheck.Point, _ passes: Bool, _ detail: String) {
        say(point, passes ? .passed : .failed, detail)
    }

    mutating func say(_ point: PageCheck.Point, _ verdict: SiteCheck.Verdict, _ detail: String) {
        // A large part of the detail is text from the page.
        verdicts[point] = .init(
            point: point, verdict: verdict,
            detail: String(detail.escapingControlCharacters.prefix(400)))
    }

    mutating func scheme(of url: String) -> Bool {
        let isHTTPS = url.lowercased().hasPrefix("https://")
        say(
            .https, isHTTPS,
            isHTTPS ? "the scheme is https" : "the scheme must be https, also after redirects")
        return isHTTPS
    }

    mutating func page(_ page: Page, at url: String, clip: BundleID?) {
        say(.status, page.status == 200, "the status is \(page.status)")
        guard page.status == 200 else { return }
        let type = page.contentType?.prefix { $0 != ";" }.lowercased().split(separator: " ").first
        say(
            .contentType, type == "text/html",
            page.contentType.map { "the content type is \($0.prefix(80))" } ?? "no content type")
        let isTooLarge = page.isCutOff || page.body.count > PageCheck.maximumSize
        say(
            .size, !isTooLarge,
            isTooLarge
                ? "the page is larger than \(PageCheck.maximumSize) bytes"
                : "\(page.body.count) of \(PageCheck.maximumSize) bytes")
        if let coding = page.contentCoding {
            return say(
                .contentType, .unknown,
                "the site sent the page with the content coding \(coding), although the request asked for none: not checked"
            )
        }
        let metadata = PageMetadata(ofPage: page.body)
        banner(metadata.banner, clip: clip)
        preview(metadata.properties, at: url)
    }

    private mutating func banner(_ banner: SmartAppBanner?, clip: BundleID?) {
        guard let banner else {
            return say(.banner, false, "the page's source has no <meta name=\"apple-itunes-app\">")
        }
        say(.banner, true, "the page asks for a banner")
        if let named = banner.clip {
            let isWanted = clip == nil || named == clip?.text
            let isName = (try? BundleID(named)) != nil
            say(
                .clip, isWanted && isName,
                !isName
                    ? "app-clip-bundle-id is not a bundle ID: \(named)"
                    : isWanted
                        ? "app-clip-bundle-id is \(named)"
                        : "app-clip-bundle-id is \(named), not \(clip?.text ?? "")")
            if isName { self.clip = named }
        } else {
            say(.clip, false, "no app-clip-bundle-id")
        }
        if let id = banner.appID {
            let isNumber = !id.isEmpty && id.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
            say(.appStoreID, isNumber, isNumber ? "app-id is \(id)" : "app-id is not a number: \(id)")
        } else {
            say(.appStoreID, false, "no app-id: devices without App Clips cannot offer the app")
        }
        switch banner.display {
        case nil: say(.display, true, "shows a banner, because app-clip-display is missing")
        case "card": say(.display, true, "shows a card")
        case let other?: say(.display, false, "app-clip-display must be card or missing; got \(other)")
        }
    }

    private mutating func preview(_ properties: [String: String], at url: String) {
        let title = properties["og:title"] ?? ""
        say(.title, !title.isEmpty, title.isEmpty ? "no og:title" : "og:title is \(title)")
        if let named = properties["og:url"] {
            say(
                .url, named.utf8.count >= url.utf8.prefix { $0 != UInt8(ascii: "#") }.count - 1,
                "og:url, which replaces the sent URL, is \(named)")
        } else {
            say(.url, true, "no og:url: the sent URL is used")
        }
        guard let image = properties["og:image"], !image.isEmpty else {
            return say(.image, false, "no og:image: Messages shows no preview")
        }
        let isHTTPS = image.lowercased().hasPrefix("https://")
        say(.image, isHTTPS, isHTTPS ? "og:image is \(image)" : "og:image is not an https URL: \(image)")
        guard let width = properties["og:image:width"].flatMap({ Int($0) }) else { return }
        let name = "og:image:width is \(width)"
        if width < PageCheck.smallestWidth {
            say(.imageSize, false, "\(name): images below \(PageCheck.smallestWidth) are ignored")
        } else {
            say(
                .imageSize, width >= PageCheck.recommendedWidth,
                "\(name); at least \(PageCheck.recommendedWidth) is recommended")
        }
    }

    /// - Parameter clip: the bundle ID. The page does not name the team.
    mutating func association(of clip: String, at url: String, _ fetcher: some PageFetcher) async {
        guard let host = URL(string: url)?.host(), let name = try? DomainName(host) else {
            return say(.association, false, "the page's host is not a domain name")
        }
        do throws(NoResponse) {
            let page = try await fetcher.fetch(
                SiteCheck.url(of: name), limit: SiteAssociation.maximumSize + 1)
            guard page.status == 200, !page.isCutOff, let file = try? AssociationFile(parsing: page.body)
            else {
                return say(.association, false, "the association file of \(name) cannot be read")
            }
            let isListed = (file.appClips ?? []).contains { (try? AppID($0))?.bundleID.text == clip }
            say(
                .association, isListed,
                isListed ? "\(name) lists \(clip)" : "the association file of \(name) does not list \(clip)")
        } catch {
            say(.association, false, "no response for the association file of \(name): \(error)")
        }
    }
}

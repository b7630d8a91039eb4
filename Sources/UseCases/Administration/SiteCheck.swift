import Formats
public import Invocation
import Tenancy

/// Checks a site's association file as iOS would, point by point.
///
/// A point that cannot be judged, because another one failed before it, is neither passed nor failed.
public struct SiteCheck: Sendable {
    public enum Point: String, Sendable, CaseIterable {
        case https
        case response
        case redirect
        case status
        case contentType = "content_type"
        case size
        case json
        case appClips = "appclips"
        case appIDs = "app_ids"
        case clipListed = "clip_listed"
        case notSwapped = "not_swapped"
        /// Whether an app opens every URL of the site.
        case wholeSite = "whole_site"

        /// The source of the rule.
        public var authority: Authority {
            switch self {
            case .status: .observed
            case .wholeSite: .ours
            default: .apple
            }
        }
    }

    public enum Authority: String, Sendable {
        case apple = "Apple"
        case observed
        case ours
    }

    public enum Verdict: String, Sendable {
        case passed
        /// Devices accept it, but it may be a mistake.
        case warning
        case failed
        /// Neither Apple nor an observation shows how devices behave.
        case unknown
        case notChecked = "not_checked"
    }

    public struct Finding: Sendable, Hashable {
        public let point: Point
        public let verdict: Verdict
        /// The source of the rule.
        public let authority: Authority
        /// One sentence.
        public let detail: String

        init(_ point: Point, _ verdict: Verdict, _ detail: String, authority: Authority? = nil) {
            self.point = point
            self.verdict = verdict
            self.authority = authority ?? point.authority
            self.detail = detail
        }
    }

    /// The file's URL.
    public let url: String
    /// Every point, in order.
    public let findings: [Finding]

    public var hasFailed: Bool { findings.contains { $0.verdict == .failed } }

    /// The URL of a host's file. [Apple, "Supporting associated domains"]
    public static func url(of name: DomainName) -> String {
        "https://\(name.text)/.well-known/apple-app-site-association"
    }

    /// Fetches and checks a file.
    /// - Parameters:
    ///   - clip: a clip that the file must list; nil for any.
    ///   - app: the clip's app; nil for the clip's bundle ID without its last component.
    public static func run(
        _ url: String, clip: AppID?, app: AppID? = nil, _ fetcher: some PageFetcher
    ) async -> SiteCheck {
        do throws(NoResponse) {
            let page = try await fetcher.fetch(url, limit: SiteAssociation.maximumSize + 1)
            return SiteCheck(url, .success(page), clip: clip, app: app)
        } catch {
            return SiteCheck(url, .failure(error), clip: clip, app: app)
        }
    }

    /// Checks the result of fetching a file.
    init(_ url: String, _ fetched: Result<Page, NoResponse>, clip: AppID?, app: AppID? = nil) {
        self.url = url
        var judge = Judge()
        judge.transport(url, fetched)
        if case .success(let page) = fetched, page.status == 200 {
            judge.content(page, clip: clip, app: app ?? clip?.parent)
        }
        findings = judge.findings
    }
}

/// Collects the verdict on each point. Points without a verdict were not checked.
private struct Judge {
    private var verdicts: [SiteCheck.Point: SiteCheck.Finding] = [:]

    var findings: [SiteCheck.Finding] {
        SiteCheck.Point.allCases.map {
            verdicts[$0] ?? .init($0, .notChecked, "not checked")
        }
    }

    private mutating func say(_ point: SiteCheck.Point, _ passes: Bool, _ detail: String) {
        say(point, passes ? .passed : .failed, detail)
    }

    private mutating func say(
        _ point: SiteCheck.Point, _ verdict: SiteCheck.Verdict, _ detail: String,
        authority: SiteCheck.Authority? = nil
    ) {
        // A large part of the detail is text from the site.
        verdicts[point] = .init(point, verdict, detail.escapingControlCharacters, authority: authority)
    }

    mutating func transport(_ url: String, _ fetched: Result<Page, NoResponse>) {
        let isHTTPS = url.lowercased().hasPrefix("https://")
        say(.https, isHTTPS, isHTTPS ? "the scheme is https" : "the scheme must be https")
        switch fetched {
        case .failure(let error):
            say(.response, false, "no response with a valid certificate: \(error)")
        case .success(let page):
            say(
                .response, true,
                isHTTPS ? "the site responded with a valid certificate" : "the site responded")
            let isRedirect = (300..<400).contains(page.status) && page.status != 304
            say(
                .redirect, !isRedirect,
                isRedirect
                    ? "redirects are not followed; this one leads to \(page.location ?? "nowhere")"
                    : "no redirect")
            if !isRedirect { say(.status, page.status == 200, "the status is \(page.status)") }
        }
    }

    mutating func content(_ page: Page, clip: AppID?, app: AppID?) {
        let type = page.contentType?.prefix { $0 != ";" }.lowercased().split(separator: " ").first
        say(
            .contentType, type == "application/json",
            page.contentType.map { "the content type is \($0.prefix(80))" } ?? "no content type")
        let limit = SiteAssociation.maximumSize
        let isTooLarge = page.isCutOff || page.body.count > limit
        say(
            .size, !isTooLarge,
            isTooLarge ? "the file is larger than \(limit) bytes" : "\(page.body.count) of \(limit) bytes")
        guard !isTooLarge else { return }
        if let coding = page.contentCoding {
            return say(
                .json, .unknown,
                "the site sent the file with the content coding \(coding), although the request asked for none: not checked",
                authority: .ours)
        }
        do throws(AssociationError) {
            let file = try AssociationFile(parsing: page.body)
            if file.oddities.isEmpty {
                say(.json, true, "the file is a JSON object")
            } else {
                let oddities = file.oddities.map(\.description).joined(separator: "; ")
                say(
                    .json, .unknown, "it is unknown whether devices read the file: \(oddities)",
                    authority: .ours)
            }
            associations(file, clip: clip, app: app)
            wholeSite(file)
        } catch .invalidJSON(.tooDeep(let limit, offset: _)) {
            say(
                .json, .unknown, "the file is nested deeper than \(limit) levels: not checked",
                authority: .ours)
        } catch {
            say(.json, false, "\(error)")
        }
    }

    private mutating func associations(_ file: AssociationFile, clip: AppID?, app: AppID?) {
        guard let clips = file.appClips, !clips.isEmpty else {
            say(
                .appClips, false,
                file.appClips == nil ? "appclips.apps is not an array of strings" : "appclips.apps is empty"
            )
            swapped(file, clip: clip, app: app)
            return
        }
        say(.appClips, true, "appclips.apps has \(clips.count)")
        let malformed = clips.filter { (try? AppID($0)) == nil }
        say(
            .appIDs, malformed.isEmpty,
            malformed.isEmpty
                ? "each is an App ID: prefix and bundle ID"
                : "not App IDs: \(Self.list(malformed))")
        if let clip {
            say(
                .clipListed, clips.contains(clip.text),
                clips.contains(clip.text) ? "\(clip) is listed" : "\(clip) is not listed")
        }
        swapped(file, clip: clip, app: app)
    }

    /// A clip belongs under `appclips`, with or without its app. Its app belongs under `applinks`. [Apple]
    ///
    /// If one of two IDs extends the other, the longer belongs to the clip. So an ID under `appclips` that no other ID extends
    /// counts as a clip's.
    private mutating func swapped(_ file: AssociationFile, clip: AppID?, app: AppID?) {
        let clips = Set(file.appClips ?? [])
        let alone = clips.subtracting(clips.flatMap(Self.extended))
        var linkedClips = file.links.filter { $0 == clip?.text }
        var listedApps = alone.filter { $0 == app?.text }
        for id in file.links {
            let extended = Self.extended(by: id).filter(alone.contains)
            guard !extended.isEmpty else { continue }
            linkedClips.append(id)
            listedApps.formUnion(extended)
        }
        let both = file.links.filter(alone.contains)
        let problems = [
            linkedClips.isEmpty ? nil : "a clip's ID under applinks: \(Self.list(linkedClips))",
            listedApps.isEmpty
                ? nil : "an app's ID under appclips without its clip's: \(Self.list(listedApps.sorted()))",
            both.isEmpty ? nil : "under both appclips and applinks: \(Self.list(both))",
        ].compactMap(\.self)
        say(
            .notSwapped, problems.isEmpty,
            problems.isEmpty
                ? "no clip's ID under applinks, no app's under appclips without its clip's"
                : problems.joined(separator: "; "))
    }

    private mutating func wholeSite(_ file: AssociationFile) {
        let apps = file.wholeSiteLinks
        say(
            .wholeSite, apps.isEmpty ? .passed : .warning,
            apps.isEmpty
                ? "no app opens every URL of the site"
                : "\(Self.list(apps)): opens every URL of the site that no exclude before the pattern * matches"
        )
    }

    /// The parts of an ID before each of its dots; none for a text that is too long to be an ID.
    ///
    /// A file may contain tens of thousands of texts, and a comparison of each with each would take too long.
    private static func extended(by id: String) -> [String] {
        guard id.utf8.count <= 256 else { return [] }
        return id.indices.filter { id[$0] == "." }.map { String(id[..<$0]) }
    }

    private static func list(_ ids: [String]) -> String {
        var known: Set<String> = []
        let different = ids.filter { known.insert($0).inserted }
        let shown = different.prefix(3).map { String($0.prefix(200)) }.joined(separator: ", ")
        return different.count > 3 ? "\(shown) and \(different.count - 3) more" : shown
    }
}

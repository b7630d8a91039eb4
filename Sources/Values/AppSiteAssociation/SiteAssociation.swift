public import Invocation
public import JSON

/// The `apple-app-site-association` file of a host: which App Clips may be launched from its URLs, and which URLs their
/// apps open.
///
/// Equal associations are written in equal bytes.
/// Source: Apple, "Associating your App Clip with your website" and "Supporting associated domains".
public struct SiteAssociation: Sendable, Hashable {
    /// The clips and the apps that they belong to, without doubles, by text.
    ///
    /// Source: Apple, "Interacting with App Clip Codes in AR": codes are decoded in AR only where the full app stands
    /// beside its clip.
    public let appClips: [AppID]
    /// By the app's text.
    public let links: [Links]
    /// What is merged into the file.
    public let content: AssociationContent?

    /// The URLs that one app opens.
    public struct Links: Sendable, Hashable {
        public let app: AppID
        public let patterns: [LinkPattern]

        public init(app: AppID, patterns: [LinkPattern]) {
            self.app = app
            self.patterns = patterns
        }
    }

    /// An App Clip, and the app whose bundle ID its own extends.
    public struct Clip: Sendable, Hashable {
        public let id: AppID
        public let app: AppID

        public init(id: AppID, app: AppID) {
            self.id = id
            self.app = app
        }
    }

    /// The largest file that devices read, in bytes. [Apple, "App Search Programming Guide"]
    public static let maximumSize = 131_072

    /// The largest file that is written with the patterns of single experiences, in bytes; content comes on top. [ours]
    public static let largestDetailedSize = 65_536

    /// What a host says of a tenant's clips.
    ///
    /// All of the tenant's clips are listed, with an experience on the host or without: Apple asks for the association
    /// before an experience can be registered. The app of each clip that has an experience here opens that experience's
    /// URLs, since an app must handle every invocation URL of its clip [Apple]. When single URLs make the file larger
    /// than ``largestDetailedSize``, or are not given, each of those apps opens every URL of the host. [ours]
    /// - Parameters:
    ///   - urls: the experiences' URLs on the host with the clip of each; nil when they are too many to list.
    ///   - content: what is kept with the domain, merged in whole.
    public init(
        clips: [Clip], urls: [(url: URLPrefix, clip: AppID)]?, content: AssociationContent? = nil
    ) {
        let apps = Dictionary(clips.map { ($0.id, $0.app) }, uniquingKeysWith: { first, _ in first })
        let appClips = Set(apps.keys).union(apps.values).sorted { $0.text < $1.text }
        guard let urls else {
            self.init(appClips: appClips, links: Self.everything(of: Set(apps.values)), content: content)
            return
        }
        var registered: [AppID: [URLPrefix]] = [:]
        for (url, clip) in urls {
            if let app = apps[clip] { registered[app, default: []].append(url) }
        }
        self.init(
            appClips: appClips,
            links: registered.map { Links(app: $0.key, patterns: Self.patterns(of: $0.value)) }
                .sorted { $0.app.text < $1.app.text },
            content: content)
        if JSONValue.object(ownJSON).serialized().count > Self.largestDetailedSize {
            self = SiteAssociation(
                appClips: appClips, links: Self.everything(of: Set(registered.keys)), content: content)
        }
    }

    private init(appClips: [AppID], links: [Links], content: AssociationContent?) {
        self.appClips = appClips
        self.links = links
        self.content = content
    }

    /// The file.
    public var json: JSONObject { content?.merged(into: ownJSON) ?? ownJSON }

    /// What Doorstep has to say.
    private var ownJSON: JSONObject {
        var object: JSONObject = ["appclips": ["apps": .array(appClips.map { .string($0.text) })]]
        if !links.isEmpty {
            let details = links.map { links -> JSONValue in
                [
                    "appIDs": [.string(links.app.text)],
                    "components": .array(links.patterns.map { .object($0.json) }),
                ]
            }
            object["applinks"] = ["details": .array(details)]
        }
        return object
    }

    /// The file's bytes.
    public func serialized() -> [UInt8] { JSONValue.object(json).serialized() }

    private static func everything(of apps: Set<AppID>) -> [Links] {
        apps.map { Links(app: $0, patterns: [.everything]) }.sorted { $0.app.text < $1.app.text }
    }

    /// The patterns of an app's URLs, less those that a shorter URL without a query covers.
    private static func patterns(of urls: [URLPrefix]) -> [LinkPattern] {
        let plain = Set(urls.filter(\.queryItems.isEmpty).map(\.pathComponents))
        var known: Set<LinkPattern> = []
        var patterns: [LinkPattern] = []
        for url in urls.sorted(by: { $0.canonical < $1.canonical }) {
            let path = url.pathComponents
            let isCovered = (0..<path.count).contains { plain.contains(Array(path.prefix($0))) }
            guard !isCovered, url.queryItems.isEmpty || !plain.contains(path) else { continue }
            patterns += LinkPattern.patterns(of: url).filter { known.insert($0).inserted }
        }
        return patterns
    }
}

public import Formats

/// The `apple-app-site-association` file of a host: the App Clips that its URLs may launch, and the URLs
/// that their apps open.
///
/// Equal associations give equal bytes.
/// Source: Apple, "Associating your App Clip with your website" and "Supporting associated domains".
public struct SiteAssociation: Sendable, Hashable {
    /// The clips and the apps that they belong to, without duplicates, by text.
    ///
    /// Source: Apple, "Interacting with App Clip Codes in AR": codes are decoded in AR only if the full app
    /// is listed beside its clip.
    public let appClips: [AppID]
    /// By the app's text.
    public let links: [Links]
    /// The content to merge into the file.
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

    /// Creates the file of a host on which a tenant has experiences.
    ///
    /// The file lists all clips of the tenant, with or without an experience on the host: Apple requires
    /// the association before an experience can be registered. If a clip has an experience here, its app
    /// opens that experience's URLs, since an app must handle every invocation URL of its clip [Apple]. If
    /// the file would be larger than ``largestDetailedSize``, or have more than ``URLGroup/maximumCount``
    /// URLs, it lists groups of URLs, as narrow as these limits allow. Only if no group fits does each of
    /// those apps open every URL of the host. [ours]
    ///
    /// - Parameters:
    ///   - links: The URLs on the host, or groups of them, with the clip of each; nil if they are too many
    ///     to list.
    ///   - content: The content stored with the domain, which is merged in whole.
    public init(
        clips: [Clip], links: [(group: URLGroup, clip: AppID)]?, content: AssociationContent? = nil
    ) {
        let apps = Dictionary(clips.map { ($0.id, $0.app) }, uniquingKeysWith: { first, _ in first })
        let appClips = Set(apps.keys).union(apps.values).sorted { $0.text < $1.text }
        guard let links else {
            self.init(appClips: appClips, links: Self.everything(of: Set(apps.values)), content: content)
            return
        }
        var registered: [AppID: Set<URLGroup>] = [:]
        for (group, clip) in links {
            if let app = apps[clip] { registered[app, default: []].insert(group) }
        }
        for round in Self.rounds {
            let groups = registered.mapValues { round.groups(of: $0) }
            guard groups.values.reduce(0, { $0 + $1.count }) <= URLGroup.maximumCount else { continue }
            self.init(
                appClips: appClips,
                links: groups.map { Links(app: $0.key, patterns: Self.patterns(of: $0.value)) }
                    .sorted { $0.app.text < $1.app.text },
                content: content)
            if JSONValue.object(ownJSON).serialized().count <= Self.largestDetailedSize { return }
        }
        self.init(appClips: appClips, links: Self.everything(of: Set(registered.keys)), content: content)
    }

    /// Creates the file with a pattern for each URL, unless it would be too large.
    ///
    /// - Parameter urls: The experiences' URLs on the host with the clip of each.
    public init(clips: [Clip], urls: [(url: URLPrefix, clip: AppID)], content: AssociationContent? = nil) {
        self.init(clips: clips, links: urls.map { (.url($0.url), $0.clip) }, content: content)
    }

    /// The apps that open every URL of the host although no experience is registered for all of it.
    ///
    /// - Parameter urls: the experiences' URLs on the host with the clip of each.
    public static func appsOfWholeHost(clips: [Clip], urls: [(url: URLPrefix, clip: AppID)]) -> [AppID] {
        let roots = Set(
            urls.filter { $0.url.pathComponents.isEmpty && $0.url.queryItems.isEmpty }.map(\.clip))
        let meant = Set(clips.filter { roots.contains($0.id) }.map(\.app))
        return SiteAssociation(clips: clips, urls: urls).links
            .filter { $0.patterns.contains(.everything) && !meant.contains($0.app) }.map(\.app)
    }

    private init(appClips: [AppID], links: [Links], content: AssociationContent?) {
        self.appClips = appClips
        self.links = links
        self.content = content
    }

    /// The file.
    public var json: JSONObject { content?.merged(into: ownJSON) ?? ownJSON }

    /// The file without the tenant's content.
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

    /// One attempt to list the registered URLs, each broader than the one before.
    private struct Round {
        /// Nil for the URLs themselves.
        let breadth: URLGroup.Breadth?
        /// The maximum number of URLs that are listed without a group.
        let smallCount: Int

        func groups(of members: Set<URLGroup>) -> [URLGroup] {
            guard let breadth else { return Array(members) }
            return Dictionary(grouping: members) { $0.broadened(to: breadth) }
                .flatMap { $0.value.count > smallCount ? [$0.key] : $0.value }
        }
    }

    private static let rounds = [
        Round(breadth: nil, smallCount: 0),
        Round(breadth: .siblings, smallCount: URLGroup.smallCount), Round(breadth: .siblings, smallCount: 1),
        Round(breadth: .firstComponent, smallCount: URLGroup.smallCount),
        Round(breadth: .firstComponent, smallCount: 1),
    ]

    /// Returns the patterns of an app's groups, without those that a shorter URL without a query, or a
    /// broader group, covers.
    private static func patterns(of groups: [URLGroup]) -> [LinkPattern] {
        let covering = Set(groups.flatMap(\.coveredTexts))
        var known: Set<LinkPattern> = []
        var patterns: [LinkPattern] = []
        for group in groups.sorted(by: { $0.text < $1.text }) where !group.isCovered(by: covering) {
            patterns += LinkPattern.patterns(of: group).filter { known.insert($0).inserted }
        }
        return patterns
    }
}

extension URLGroup {
    /// The sort key of groups.
    fileprivate var text: String {
        switch self {
        case .url(let url): String(url.canonical.dropFirst("https://".count + url.host.count))
        case .paths(let prefix): prefix
        case .query(let path, let names): Self.text(of: path) + "?" + names.joined(separator: "&")
        }
    }

    private static func text(of path: some Sequence<String>) -> String {
        path.map { "/" + $0 }.joined()
    }

    /// The text that begins every path that the group's patterns match regardless of the query: for a URL,
    /// its path and the paths below it.
    fileprivate var coveredTexts: [String] {
        switch self {
        case .url(let url) where url.queryItems.isEmpty: [Self.text(of: url.pathComponents) + "/"]
        case .paths(let prefix): [prefix]
        case .url, .query: []
        }
    }

    /// Whether another group's text covers this one.
    fileprivate func isCovered(by covering: Set<String>) -> Bool {
        // A URL without a query covers itself, and a group of paths too.
        let (path, covers): (String, Bool) =
            switch self {
            case .url(let url): (Self.text(of: url.pathComponents) + "/", url.queryItems.isEmpty)
            case .paths(let prefix): (prefix, true)
            case .query(let path, _): (Self.text(of: path) + "/", false)
            }
        let stem = path.dropFirst().prefix { $0 != "/" }
        if let stem = URLGroup.stem(of: String(stem)), "/" + stem != path || !covers,
            covering.contains("/" + stem)
        {
            return true
        }
        // Only whole components: a prefix within one is its stem.
        return path.indices.contains { index in
            guard path[index] == "/", path.index(after: index) < path.endIndex || !covers else {
                return false
            }
            return covering.contains(String(path[...index]))
        }
    }
}

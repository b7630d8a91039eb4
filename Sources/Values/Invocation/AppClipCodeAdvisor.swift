/// The advice on how to make a URL more likely to fit in an App Clip Code.
///
/// Each advice is Apple's ("Follow practices that allow for efficient encoding" and the following
/// sections); the better URL is [ours]. Advice is given only if the better URL needs fewer bits. A public
/// re-implementation of the generator encodes a number in steps of 8 bits and drops a leading `appclip.`.
/// It leaves out the names `p`, `p1` … only if the path is empty or one listed word, and nothing follows
/// the query. [observed]
struct AppClipCodeAdvisor {
    private(set) var advice: [AppClipCodeURL.Advice] = []

    private let host: String
    private let pathComponents: [String]
    private let queryItems: [(name: String, value: String)]
    private let fragment: String?
    private let hasTrailingSlash: Bool

    /// - Parameter text: the URL as written: canonical form has no trailing slash.
    init(_ url: InvocationURL, text: String) {
        host = url.host
        pathComponents = url.pathComponents
        queryItems = url.queryItems.map { ($0.name, $0.value) }
        fragment = url.fragment

        hasTrailingSlash = text.prefix { $0 != "?" && $0 != "#" }.hasSuffix("/")
        if hasTrailingSlash { add(.trailingSlash, url.canonical) }
        adviseOnHost()
        adviseOnPath()
        adviseOnQuery()
    }

    private mutating func adviseOnHost() {
        let bare = host.hasPrefix("www.") ? String(host.dropFirst(4)) : host
        if bare != host { add(.wwwSubdomain, urlText(host: bare)) }
        guard bare != registrable else { return }
        let better = "appclip." + registrable
        if !host.hasPrefix("appclip.") { add(.appclipSubdomain, urlText(host: better)) }
        if bare.dropLast(registrable.count + 1).contains(".") { add(.subdomains, urlText(host: better)) }
    }

    /// The host without subdomains, estimated without a list of public suffixes: two labels, or three under
    /// a country's code if the second is short, as in `example.co.uk`. [ours]
    private var registrable: String {
        let labels = host.split(separator: ".")
        let isUnderCountry =
            labels.count > 2 && labels[labels.count - 1].count == 2 && labels[labels.count - 2].count <= 3
        return labels.suffix(isUnderCountry ? 3 : 2).joined(separator: ".")
    }

    private mutating func adviseOnPath() {
        guard let first = pathComponents.first, fragment == nil else { return }
        let kept = Self.words.contains(first) ? [first] : []
        let moved = Array(pathComponents.dropFirst(kept.count)) + queryItems.map(\.value)
        guard kept.count < pathComponents.count, moved.allSatisfy(Self.isNumber) else { return }
        add(.pathComponents, urlText(path: kept, query: named(moved)))
    }

    /// Whether names of query items can be left out: the path is empty or one listed word, and nothing
    /// follows the query.
    private var leavesNamesOut: Bool {
        fragment == nil && !hasTrailingSlash && pathComponents.count <= 1
            && pathComponents.allSatisfy(Self.words.contains) && queryItems.allSatisfy { !$0.value.isEmpty }
    }

    private mutating func adviseOnQuery() {
        let values = queryItems.map(\.value)
        let renamed = named(values)
        if leavesNamesOut, queryItems.map(\.name) != renamed.map(\.name) {
            add(.queryNames, urlText(query: renamed))
        }

        if values.contains(where: Self.isLongText) {
            let numbered = zip(queryItems, 1...).map { item, number in
                (item.name, Self.isLongText(item.value) ? String(number) : item.value)
            }
            add(.decimalValues, urlText(query: numbered))
        }
        if (pathComponents + values).contains(where: Self.isUniqueIdentifier) {
            let numbered = zip(pathComponents + values, 1...).map { text, number in
                Self.isUniqueIdentifier(text) ? String(number) : text
            }
            add(
                .uniqueIdentifier,
                urlText(
                    path: Array(numbered.prefix(pathComponents.count)),
                    query: Array(zip(queryItems.map(\.name), numbered.dropFirst(pathComponents.count)))))
        }
    }

    /// Adds an advice. If two codes have the same better URL, the later and more specific one remains.
    private mutating func add(_ code: AppClipCodeURL.Advice.Code, _ better: String) {
        advice.removeAll { $0.better == better }
        advice.append(AppClipCodeURL.Advice(code: code, better: better))
    }

    /// The URL with some parts replaced.
    private func urlText(
        host: String? = nil, path: [String]? = nil, query: [(name: String, value: String)]? = nil
    ) -> String {
        var text = "https://" + (host ?? self.host)
        for component in path ?? pathComponents { text += "/" + component }
        let items = (query ?? queryItems).map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
        if !items.isEmpty { text += "?" + items.joined(separator: "&") }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// The values under Apple's ordered names: `p`, `p1`, `p2`.
    private func named(_ values: [String]) -> [(name: String, value: String)] {
        zip(values, 0...).map { value, number in (number == 0 ? "p" : "p\(number)", value) }
    }

    private static func isDecimal(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit)
    }

    /// Whether a text is a number without leading zeros.
    private static func isNumber(_ text: String) -> Bool {
        isDecimal(text) && (text == "0" || !text.hasPrefix("0"))
    }

    /// Whether a text is not decimal and has more than one character: a single one needs less than a number.
    private static func isLongText(_ text: String) -> Bool { text.utf8.count > 1 && !isDecimal(text) }

    /// Whether a text is a UUID, with or without its hyphens.
    private static func isUniqueIdentifier(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return [[8, 4, 4, 4, 12], [32]].contains(groups.map(\.count))
            && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    /// The path components that Apple lists under "Choose a single-word path component".
    static let words: Set<String> = [
        "about", "access", "account", "add", "app", "archives", "article", "attraction", "author", "bag",
        "biz",
        "book", "brand", "brands", "browse", "buy", "cancel", "cart", "cat", "catalog", "category",
        "categories",
        "channel", "charts", "checkin", "checkout", "collection", "collections", "company", "compare",
        "connect",
        "contact", "content", "contents", "cost", "coupons", "create", "data", "demo", "destinations",
        "detail",
        "discover", "download", "entry", "event", "events", "explore", "faq", "fetch", "finance", "find",
        "food",
        "fund", "game", "gift", "goods", "guide", "health", "help", "home", "hotel", "hotels", "id", "index",
        "info",
        "item", "item_id", "join", "lifestyle", "list", "listen", "live", "local", "location", "locations",
        "locator",
        "login", "manage", "menu", "more", "music", "name", "news", "note", "open", "order", "overview",
        "park",
        "part", "pay", "payment", "payments", "play", "post", "posts", "preview", "product", "product_id",
        "products",
        "profile", "promotion", "purchase", "rate", "recipe", "recipes", "reservation", "reservations",
        "reserve",
        "retail", "review", "rewards", "sale", "scan", "schedule", "search", "sell", "send", "service",
        "share",
        "shop", "show", "showtime", "site", "song", "special", "stations", "status", "store", "store-locator",
        "stores", "stories", "story", "tag", "tags", "terms", "tickets", "tips", "title", "today", "top",
        "topic",
        "tours", "track", "transaction", "travel", "try", "update", "upload", "use", "user", "vehicles",
        "video",
        "view", "visit", "watch", "wiki",
    ]
}

public import Formats

/// A pattern of URLs that an app opens, one of the `components` of an association file.
///
/// Source: Apple, "applinks.Details.Components": `*` stands for any characters, `?` for any one, `$(…)` for
/// a variable; patterns are percent-encoded and case counts, as in a canonical URL. Omitted parts match
/// everything.
public struct LinkPattern: Sendable, Hashable {
    /// Nil for every path.
    public let path: String?
    /// By the name of a query item, what its value is like; empty for every query.
    public let query: [String: String]

    public init(path: String?, query: [String: String] = [:]) {
        self.path = path
        self.query = query
    }

    /// Every URL of the host.
    public static let everything = LinkPattern(path: "*")

    /// Returns the patterns for the URLs that an experience's URL is a prefix of: the path itself, and
    /// paths that begin with its whole components.
    ///
    /// A pattern may match more than the prefix does, and never less: the app asks the server anyway.
    /// [ours]
    public static func patterns(of url: URLPrefix) -> [LinkPattern] {
        let query = Dictionary(
            url.queryItems.map { ($0.name, $0.value.isEmpty ? "*" : literal($0.value)) },
            // An item that comes twice cannot be written twice.
            uniquingKeysWith: { _, _ in "*" })
        return patterns(of: url.pathComponents, query: query)
    }

    /// Returns the patterns that match the URLs of a group.
    static func patterns(of group: URLGroup) -> [LinkPattern] {
        switch group {
        case .url(let url): patterns(of: url)
        case .paths(let prefix): [LinkPattern(path: literal(prefix) + "*")]
        case .query(let path, let names):
            patterns(
                of: path, query: Dictionary(names.map { ($0, "*") }, uniquingKeysWith: { first, _ in first }))
        }
    }

    private static func patterns(of path: [String], query: [String: String]) -> [LinkPattern] {
        guard !path.isEmpty else {
            return [query.isEmpty ? everything : LinkPattern(path: nil, query: query)]
        }
        let path = literal("/" + path.joined(separator: "/"))
        return [LinkPattern(path: path, query: query), LinkPattern(path: path + "/*", query: query)]
    }

    /// The pattern as an object of the file.
    public var json: JSONObject {
        var object = JSONObject()
        object["/"] = path.map(JSONValue.string)
        if !query.isEmpty {
            var items = JSONObject()
            for (name, value) in query { items[name] = .string(value) }
            object["?"] = .object(items)
        }
        return object
    }

    /// A `*` or `?` of the text matches itself as any other; a `$` would begin a variable.
    private static func literal(_ text: String) -> String {
        text.replacing("$", with: "?")
    }
}

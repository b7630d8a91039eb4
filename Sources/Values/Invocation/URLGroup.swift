/// The registered URLs that one pattern of an association file covers.
///
/// If a file with a pattern for each URL would be too large, it groups the URLs by their common parts.
/// [ours]
public enum URLGroup: Sendable, Hashable {
    /// One URL, with everything below its path.
    case url(URLPrefix)
    /// Every path that begins with this text, such as `/r/` or `/shop-`.
    case paths(prefix: String)
    /// A path, with everything below it, if the query has items with these names, whatever their values.
    case query(path: [String], names: [String])

    /// The breadth of a group, narrow groups first.
    public enum Breadth: Int, Sendable, Hashable, CaseIterable {
        /// URLs with the same path except for its last component (`/r/1`, `/r/2`), or with the same path
        /// and names of query items.
        case siblings
        /// URLs with the same first component, or whose only component begins with the same text before a
        /// digit (`/shop-1`).
        case firstComponent
    }

    /// The maximum number of groups of one host that an association file lists; beyond it, groups become
    /// broader. [ours]
    public static let maximumCount = 1_024

    /// The maximum number of URLs of one group that a file still lists one by one. [ours]
    public static let smallCount = 8

    /// The group of a URL.
    public init(_ url: URLPrefix, _ breadth: Breadth) {
        let path = url.pathComponents
        let names = Set(url.queryItems.map(\.name)).sorted()
        switch breadth {
        case .siblings:
            if !names.isEmpty {
                self = .query(path: path, names: names)
            } else if path.count > 1 {
                self = .paths(prefix: "/" + path.dropLast().joined(separator: "/") + "/")
            } else {
                self = .url(url)
            }
        case .firstComponent:
            if path.count > 1 {
                self = .paths(prefix: "/\(path[0])/")
            } else if let stem = path.first.flatMap(Self.stem(of:)) {
                self = .paths(prefix: "/\(stem)")
            } else {
                self = names.isEmpty ? .url(url) : .query(path: path, names: names)
            }
        }
    }

    /// Returns the text of a component before its first digit, if there is any.
    public static func stem(of component: String) -> String? {
        // No percent-encoded byte is split.
        let stem = component.prefix { !("0"..."9").contains($0) && $0 != "%" }
        return stem.isEmpty || stem.endIndex == component.endIndex ? nil : String(stem)
    }

    /// Returns the group of that breadth that contains this one.
    public func broadened(to breadth: Breadth) -> URLGroup {
        switch (self, breadth) {
        case (.url(let url), _): URLGroup(url, breadth)
        case (_, .siblings): self
        case (.paths(let prefix), .firstComponent):
            // A prefix that ends within the first component has one slash.
            prefix.dropFirst().firstIndex(of: "/").map { .paths(prefix: String(prefix[...$0])) } ?? self
        case (.query(let path, _), .firstComponent):
            if path.count > 1 {
                .paths(prefix: "/\(path[0])/")
            } else {
                path.first.flatMap(Self.stem(of:)).map { .paths(prefix: "/\($0)") } ?? self
            }
        }
    }
}

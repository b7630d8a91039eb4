import Invocation
import Lookups

/// Registered URLs as a tree of hosts and path components.
struct URLTree {
    /// A host or a path component. Empty for the root, whose children are hosts.
    let name: String
    /// Host and path components from the root, joined by slashes.
    let path: String
    /// By name. If the tree is too large to be shown as a whole, the children have no children themselves.
    private(set) var children: [URLTree] = []
    /// The experiences whose path ends here, in the order of choice. Empty in the children of a tree that is too large.
    private(set) var experiences: [Experience] = []
    /// The number of experiences here and below.
    private(set) var count: Int
    let isWhole: Bool

    /// The part of a tenant's URLs at a path; nil if there is none.
    /// - Parameter limit: the maximum number of experiences of a whole tree.
    init?(at path: String, in table: TenantTable, wholeUpTo limit: Int) {
        let steps = path.split(separator: "/").map(String.init)
        var count = 0
        var counts: [String: Int] = [:]
        let found = table.experiences { url in
            var position = Self.scheme.utf8.count
            for step in steps {
                guard let range = url.step(from: position), url.text(range) == step else {
                    return false
                }
                position = range.upperBound
            }
            count += 1
            guard let next = url.step(from: position) else { return true }
            counts[url.text(next), default: 0] += 1
            return count <= limit
        }
        guard count > 0 || steps.isEmpty else { return nil }
        let all = found.compactMap { routed in
            try? Experience(
                url: URLPrefix(routed.url), kind: routed.kind, clip: routed.clip, binding: routed.binding)
        }
        guard count > limit else {
            self.init(name: steps.last ?? "", path: path, all, depth: steps.count)
            return
        }
        self.init(name: steps.last ?? "", path: path, count: count)
        experiences = all.filter { $0.url.step(steps.count) == nil }.sorted { $0.precedes($1) }
        children = counts.sorted { $0.key < $1.key }.map { name, count in
            URLTree(name: name, path: Self.path(path, name), count: count)
        }
    }

    private init(name: String, path: String, count: Int) {
        self.name = name
        self.path = path
        self.count = count
        isWhole = false
    }

    private init(name: String, path: String, _ all: [Experience], depth: Int) {
        self.name = name
        self.path = path
        count = all.count
        isWhole = true
        var below: [String: [Experience]] = [:]
        for experience in all {
            if let step = experience.url.step(depth) {
                below[step, default: []].append(experience)
            } else {
                experiences.append(experience)
            }
        }
        experiences.sort { $0.precedes($1) }
        // The depth is limited by the number of components in a URL.
        children = below.sorted { $0.key < $1.key }.map { name, experiences in
            URLTree(name: name, path: Self.path(path, name), experiences, depth: depth + 1)
        }
    }

    private static let scheme = "https://"

    private static func path(_ path: String, _ name: String) -> String {
        path.isEmpty ? name : "\(path)/\(name)"
    }
}

extension Span<UInt8> {
    /// The next host or path component of a canonical URL; nil after the last. Skips empty components, as in a trailing slash.
    fileprivate func step(from position: Int) -> Range<Int>? {
        var start = position
        while start < count, self[start] == UInt8(ascii: "/") { start += 1 }
        var end = start
        while end < count, self[end] != UInt8(ascii: "/"), self[end] != UInt8(ascii: "?") { end += 1 }
        return start < end ? start..<end : nil
    }

    /// Part of a URL, which is ASCII.
    fileprivate func text(_ range: Range<Int>) -> String {
        extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}

extension URLPrefix {
    /// The host (number 0) or a path component by its number.
    fileprivate func step(_ number: Int) -> String? {
        let url = canonical.utf8.span
        var position = "https://".utf8.count
        for _ in 0..<number {
            guard let range = url.step(from: position) else { return nil }
            position = range.upperBound
        }
        return url.step(from: position).map { url.text($0) }
    }
}

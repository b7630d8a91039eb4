import Invocation

/// The positions of the parts of a registered URL. A registered URL is canonical: `https`, a host, no port and no fragment.
struct URLShape {
    /// The end of the host.
    let hostEnd: Int
    /// The end of the path.
    let matchLength: Int
    let pathComponentCount: Int

    static let schemeLength = "https://".utf8.count

    /// Nil if the URL cannot be a registered URL.
    init?(_ url: Span<UInt8>) {
        guard url.count > Self.schemeLength, url.count <= InvocationURL.maximumLength,
            url.extracting(0..<Self.schemeLength).isEqual(to: "https://")
        else { return nil }
        var end = Self.schemeLength
        while end < url.count, url[end] != UInt8(ascii: "/"), url[end] != UInt8(ascii: "?") { end += 1 }
        guard end > Self.schemeLength else { return nil }
        hostEnd = end
        var components = 0
        while end < url.count, url[end] != UInt8(ascii: "?") {
            if url[end] == UInt8(ascii: "/") { components += 1 }
            end += 1
        }
        matchLength = end
        pathComponentCount = components
        guard components <= URLPrefix.maximumPathComponents else { return nil }
    }

    /// Returns the range of the query's items: after the question mark.
    func query(of url: Span<UInt8>) -> Range<Int> {
        min(matchLength + 1, url.count)..<url.count
    }
}

/// The hashes by which a registered URL is found.
struct ExperienceHashes {
    let host: UInt64
    let path: UInt64
    /// The hashes of the path with one query item, with two, and so on, in the order of the items' own hashes. The last hash is the
    /// experience's own. Without items, this is the hash of the path.
    let nodes: [UInt64]

    var own: UInt64 { nodes.last ?? path }

    init(_ url: Span<UInt8>, _ shape: URLShape, host: ByteHash) {
        var hash = host
        hash.combine(url.extracting(URLShape.schemeLength..<shape.hostEnd))
        self.host = hash.value
        url.forEachPathComponent(in: shape.hostEnd..<shape.matchLength) { component in
            hash.combine(url.extracting(component))
            return true
        }
        path = hash.value
        var items: [UInt64] = []
        url.forEachQueryItem(in: shape.query(of: url)) { item in
            items.append(host.item(url.extracting(item)))
            return true
        }
        items.sort()
        var nodes: [UInt64] = []
        for (index, item) in items.enumerated() where index == 0 || item != items[index - 1] {
            hash.combine(item)
            nodes.append(hash.value)
        }
        self.nodes = nodes
    }
}

extension ByteHash {
    /// Returns the hash of a query item, regardless of its position.
    func item(_ bytes: Span<UInt8>) -> UInt64 {
        var hash = self
        hash.combine(bytes)
        return hash.value
    }
}

extension Span<UInt8> {
    /// Visits the components of a path, which is empty or begins with a slash, until the closure returns false.
    @inline(__always)
    func forEachPathComponent(in path: Range<Int>, _ body: (Range<Int>) -> Bool) {
        var start = path.lowerBound + 1
        while start <= path.upperBound {
            var end = start
            while end < path.upperBound, self[end] != UInt8(ascii: "/") { end += 1 }
            guard body(start..<end) else { return }
            start = end + 1
        }
    }

    /// Visits the items of a query until the closure returns false.
    @inline(__always)
    func forEachQueryItem(in query: Range<Int>, _ body: (Range<Int>) -> Bool) {
        var start = query.lowerBound
        while start < query.upperBound {
            var end = start
            while end < query.upperBound, self[end] != UInt8(ascii: "&") { end += 1 }
            guard body(start..<end) else { return }
            start = end + 1
        }
    }
}

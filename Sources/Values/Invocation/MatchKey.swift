/// A host and path as one text, by which a store selects the experiences that may match.
///
/// `example.com`, `example.com/menu`, `example.com/menu/lunch`: components are percent-encoded, so a slash in
/// one never stands for itself.
enum MatchKey {
    static func text(host: String, pathComponents: some Sequence<String>) -> String {
        pathComponents.reduce(into: host) { key, component in key += "/" + component }
    }
}

extension URLPrefix {
    /// The host and path; an invocation that matches has it among its `matchKeys`.
    public var matchKey: String {
        MatchKey.text(host: host, pathComponents: pathComponents)
    }

    /// The different query items as text; an invocation that matches has them all among its `queryItemTexts`.
    public var queryItemTexts: [String] { queryItems.map(\.text) }
}

extension InvocationURL {
    /// The keys of the registered URLs that may match: the host alone, then with one path component more
    /// each.
    ///
    /// At most `URLPrefix.maximumPathComponents` + 1 of them; none when nothing can match.
    public var matchKeys: [String] {
        guard isMatchable else { return [] }
        // A URL that can match has no port, so its path stands right after its host.
        var keys = [host]
        var end = pathRange.lowerBound
        while end < pathRange.upperBound, keys.count <= URLPrefix.maximumPathComponents {
            end = bytes.span.firstIndex(of: UInt8(ascii: "/"), in: (end + 1)..<pathRange.upperBound)
            keys.append(text(hostRange.lowerBound..<end))
        }
        return keys
    }

    /// The different query items as text, ordered by their bytes.
    public var queryItemTexts: [String] { distinctQueryItems.map(\.text) }
}

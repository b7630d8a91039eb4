/// Searches for rules and prefixes in a URL's bytes: only results become a `String`.
extension InvocationURL {
    /// Whether the host is this one, in canonical form.
    func hasHost(_ host: String) -> Bool {
        bytes[hostRange].elementsEqual(host.utf8)
    }

    /// Returns the percent-decoded path component at an index; nil if there is none, or if its bytes are
    /// not UTF-8.
    func decodedPathComponent(at index: Int) -> String? {
        var rest = bytes[pathRange]
        for _ in 0..<index {
            guard let slash = rest.dropFirst().firstIndex(of: UInt8(ascii: "/")) else { return nil }
            rest = rest[slash...]
        }
        guard !rest.isEmpty else { return nil }
        return PercentEncoding.decoded(rest.dropFirst().prefix { $0 != UInt8(ascii: "/") })
    }

    /// Returns the percent-decoded value of the first query item with a name in canonical form.
    ///
    /// Nil if no item has the name, or if the bytes of its value are not UTF-8.
    func firstValue(named name: String) -> String? {
        firstQueryItem { hasName(name, $0) }.flatMap { PercentEncoding.decoded(value($0)) }
    }

    func hasQueryItem(_ item: QueryItem) -> Bool {
        firstQueryItem { hasName(item.name, $0) && value($0).elementsEqual(item.value.utf8) } != nil
    }

    /// Whether these are the first components of the path.
    func pathStarts(with components: [String]) -> Bool {
        var rest = bytes[pathRange]
        for component in components {
            guard rest.popFirst() != nil, rest.starts(with: component.utf8) else { return false }
            rest = rest.dropFirst(component.utf8.count)
            guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return false }
        }
        return true
    }

    /// The canonical text without the fragment and without the query items of a name.
    func text(withoutItemsNamed name: String) -> String {
        var kept = Array(bytes[..<pathRange.upperBound])
        var separator = UInt8(ascii: "?")
        _ = firstQueryItem { item in
            if !hasName(name, item) {
                kept.append(separator)
                kept += bytes[item]
                separator = UInt8(ascii: "&")
            }
            return false
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private func hasName(_ name: String, _ item: Range<Int>) -> Bool {
        bytes[item].prefix { $0 != UInt8(ascii: "=") }.elementsEqual(name.utf8)
    }

    /// Returns the bytes after the first `=` of a query item.
    private func value(_ item: Range<Int>) -> ArraySlice<UInt8> {
        bytes[item].drop { $0 != UInt8(ascii: "=") }.dropFirst()
    }

    /// Returns the range of the first query item that satisfies the condition.
    private func firstQueryItem(where isSought: (Range<Int>) -> Bool) -> Range<Int>? {
        let query = queryRange
        var start = query.lowerBound
        while start < query.upperBound {
            let end = bytes.span.firstIndex(of: UInt8(ascii: "&"), in: start..<query.upperBound)
            if isSought(start..<end) { return start..<end }
            start = end + 1
        }
        return nil
    }
}

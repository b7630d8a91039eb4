/// Path, query and fragment of a URL: the encodings that the format allows for them.
struct Payload {
    let isEmpty: Bool

    /// The cheapest encoding; nil if the format cannot write the URL.
    private(set) var cheapest: (encoding: CodeSizeEstimate.Encoding, size: TextCost)?

    /// The least size among encodings without compressed text, in bits.
    private(set) var upperBound: Int?

    init(_ parts: CodeURLParts) {
        isEmpty = parts.path.isEmpty && parts.query.isEmpty && parts.fragment.isEmpty
        guard !isEmpty else {
            cheapest = (.none, TextCost())
            return
        }
        add(.template, Self.template(parts))
        add(.combined, Self.combined(parts))
        add(.segmented, Self.segmented(parts))
    }

    /// Of two encodings with the same size, the earlier one remains.
    private mutating func add(_ encoding: CodeSizeEstimate.Encoding, _ size: PieceSize?) {
        guard let size else { return }
        if size.cheapest.bits < cheapest?.size.bits ?? .infinity { cheapest = (encoding, size.cheapest) }
        if let exact = size.exact { upperBound = min(exact, upperBound ?? exact) }
    }

    private static func template(_ parts: CodeURLParts) -> PieceSize? {
        let items = parts.items.filter { !$0.isEmpty }
        guard parts.fragment.isEmpty, parts.components.count <= 1,
            parts.path.count < 2 || parts.path.last != UInt8(ascii: "/"),
            parts.query.last != UInt8(ascii: "&"), parts.components.allSatisfy(ListedWords.contains),
            !(parts.components.isEmpty && items.isEmpty)
        else { return nil }
        var size = PieceSize(exact: (parts.components.isEmpty ? 0 : 9) + (items.isEmpty ? 0 : 1))
        for (index, item) in items.enumerated() {
            let name = index == 0 ? "p=" : "p\(index)="
            guard item.starts(with: name.utf8),
                let value = PieceSize(
                    item.dropFirst(name.utf8.count), startingWith: .value, hasMore: index + 1 < items.count)
            else { return nil }
            size += value.adding(2)
        }
        return size
    }

    private static func combined(_ parts: CodeURLParts) -> PieceSize? {
        var text = Array(parts.path)
        if !parts.query.isEmpty { text += [UInt8(ascii: "?")] + parts.query }
        if !parts.fragment.isEmpty { text += [UInt8(ascii: "#")] + parts.fragment }
        if text.first == UInt8(ascii: "/"), text.count < 2 || text[1] != UInt8(ascii: "#") {
            text.removeFirst()
        }
        guard !text.isEmpty, text.allSatisfy({ $0.isAlphanumeric || "#%&+,-./:;=?_".utf8.contains($0) })
        else {
            return nil
        }
        return PieceSize(
            cheapest: TextCost(text[...], startingWith: .text, .combined).adding(bits: 1), exact: nil)
    }

    private static func segmented(_ parts: CodeURLParts) -> PieceSize? {
        guard parts.fragment.isEmpty else { return nil }
        let endsWithSlash = parts.path.last == UInt8(ascii: "/")
        let hasQuery = !parts.query.isEmpty
        var size = PieceSize(exact: 1 + (endsWithSlash ? 2 : 0) + (hasQuery ? 2 : 0))
        for (index, component) in parts.components.enumerated() {
            let hasMore = index + 1 < parts.components.count || endsWithSlash || hasQuery
            guard var piece = PieceSize(component, startingWith: .text, hasMore: hasMore) else { return nil }
            if ListedWords.contains(component) { piece.consider(exact: 8) }
            size += piece.adding(3)
        }
        for (index, item) in parts.items.enumerated() {
            guard let piece = queryItem(item, hasMore: index + 1 < parts.items.count) else { return nil }
            size += piece.adding(2)
        }
        return size
    }

    /// The name of a query item is compressed text, so that no size of the item is exact.
    private static func queryItem(_ item: ArraySlice<UInt8>, hasMore: Bool) -> PieceSize? {
        guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = item[..<equals]
        let value = item[(equals + 1)...]
        guard name.allSatisfy(\.isSegmentText),
            let text = PieceSize(text: value, startingWith: .value, hasMore: hasMore)
        else { return nil }
        let closedName = TextCost(name, startingWith: .name, .segmented, isClosed: true)
        var cheapest = closedName + text.cheapest
        if let number = PieceSize.numberBits(value) {
            // The end of the number is known without a mark after the name.
            let openName = TextCost(name, startingWith: .name, .segmented, isClosed: hasMore)
            let asNumber = openName.adding(bits: Double(number))
            if asNumber.bits < cheapest.bits { cheapest = asNumber }
        }
        return PieceSize(cheapest: cheapest, exact: nil)
    }
}

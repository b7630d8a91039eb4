/// Finds the `meta` elements of a page. Reads forward only.
struct TagScanner {
    private let page: [UInt8]
    private var position = 0

    init(_ page: [UInt8]) {
        self.page = page
    }

    /// The attributes of the next element, by their names in lower case. Of two with the same name, the first counts, as in browsers.
    mutating func nextMeta() -> [String: String]? {
        while let tag = page[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = tag + 1
            if starts(with: "!--") {
                skip(past: "-->")
            } else if let name = ["script", "style", "textarea", "title"].first(where: isName) {
                skip(past: "</" + name)
            } else if isName("meta") {
                position += 4
                return attributes()
            }
        }
        position = page.count
        return nil
    }

    private func starts(with text: String) -> Bool {
        page[position...].prefix(text.utf8.count).lazy.map(\.lowercasedASCII).elementsEqual(text.utf8)
    }

    private func isName(_ name: String) -> Bool {
        guard starts(with: name) else { return false }
        let end = position + name.utf8.count
        return end >= page.count || page[end].isSpace || page[end] == UInt8(ascii: ">")
            || page[end] == UInt8(ascii: "/")
    }

    private mutating func skip(past text: String) {
        while position < page.count, !starts(with: text) { position += 1 }
        position = min(position + text.utf8.count, page.count)
    }

    private mutating func attributes() -> [String: String] {
        var attributes: [String: String] = [:]
        while position < page.count, page[position] != UInt8(ascii: ">") {
            guard !page[position].isSpace, page[position] != UInt8(ascii: "/") else {
                position += 1
                continue
            }
            let name = take {
                $0.isSpace || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "/")
            }
            skipSpace()
            var value = ""
            if position < page.count, page[position] == UInt8(ascii: "=") {
                position += 1
                skipSpace()
                value = self.value()
            } else if name.isEmpty {
                position += 1
            }
            let key = name.lowercased()
            if attributes[key] == nil { attributes[key] = value }
        }
        return attributes
    }

    private mutating func value() -> String {
        guard position < page.count,
            page[position] == UInt8(ascii: "\"") || page[position] == UInt8(ascii: "'")
        else {
            return take { $0.isSpace || $0 == UInt8(ascii: ">") }
        }
        let quote = page[position]
        position += 1
        let text = take { $0 == quote }
        position = min(position + 1, page.count)
        return text
    }

    private mutating func skipSpace() {
        while position < page.count, page[position].isSpace { position += 1 }
    }

    private mutating func take(until isEnd: (UInt8) -> Bool) -> String {
        let end = page[position...].firstIndex(where: isEnd) ?? page.count
        defer { position = end }
        return String(decoding: page[position..<end], as: UTF8.self)
    }
}

extension UInt8 {
    /// White space in HTML.
    fileprivate var isSpace: Bool {
        switch self {
        case 0x09, 0x0A, 0x0C, 0x0D, 0x20: true
        default: false
        }
    }

    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

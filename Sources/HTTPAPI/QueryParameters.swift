import HTTPTypes

/// The parameters of a request's query, each of which may come once.
///
/// Percent-encoding is decoded; `+` stays a plus, since an invocation URL holds no space that it could stand for.
struct QueryParameters {
    /// UTF-8 all of them.
    private var unread: [(name: String, value: [UInt8])] = []

    /// - Throws: `invalid_parameter` for malformed percent-encoding, text that is not UTF-8, or a repeated name.
    init(_ query: Span<UInt8>) throws(Problem) {
        var start = 0
        while start < query.count {
            var end = start
            while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
            if end > start { try append(query.extracting(start..<end)) }
            start = end + 1
        }
    }

    private mutating func append(_ item: Span<UInt8>) throws(Problem) {
        var nameEnd = 0
        while nameEnd < item.count, item[nameEnd] != UInt8(ascii: "=") { nameEnd += 1 }
        guard let nameBytes = Self.decoded(item.extracting(0..<nameEnd)),
            let name = String(validating: nameBytes, as: UTF8.self)
        else {
            throw Problem(
                .badRequest, "invalid_parameter", "a parameter's name is not percent-encoded UTF-8")
        }
        guard let value = Self.decoded(item.extracting(min(nameEnd + 1, item.count)..<item.count)),
            value.allSatisfy({ $0 < 0x80 }) || String(validating: value, as: UTF8.self) != nil
        else {
            throw .field(name, code: "invalid_parameter", "the parameter is not percent-encoded UTF-8")
        }
        guard !unread.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw .field(name, code: "invalid_parameter", "the parameter comes twice")
        }
        unread.append((name, value))
    }

    /// - Returns: UTF-8.
    mutating func required(_ name: String) throws(Problem) -> [UInt8] {
        guard let index = unread.firstIndex(where: { $0.name == name }) else {
            throw .field(name, code: "missing_parameter", "the parameter is missing")
        }
        return unread.remove(at: index).value
    }

    /// - Returns: UTF-8; nil when the parameter is not there.
    mutating func optional(_ name: String) -> [UInt8]? {
        unread.firstIndex { $0.name == name }.map { unread.remove(at: $0).value }
    }

    /// Refuses parameters that were not asked for.
    func finish() throws(Problem) {
        guard let name = unread.map(\.name).min() else { return }
        throw .field(name, code: "unknown_parameter", "the parameter is unknown")
    }

    private static func decoded(_ bytes: Span<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "%") {
                decoded.append(bytes[index])
                index += 1
            } else {
                guard bytes.count - index > 2, let high = hexadecimal(bytes[index + 1]),
                    let low = hexadecimal(bytes[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            }
        }
        return decoded
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

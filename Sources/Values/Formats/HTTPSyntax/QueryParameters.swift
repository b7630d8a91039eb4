import Foundation

/// The parameters of a request's query, each of which may occur once.
///
/// Percent-encoding is decoded, and `+` is a space (URL Standard §5.1), except in the value of `url`. An
/// invocation URL can contain a plus and never a space, and clients often do not encode its `+` [ours].
/// Reading stops at the first parameter that is refused, so that each of many costs no more than its bytes.
package struct QueryParameters: Sendable {
    /// UTF-8 all of them.
    private var values: [(name: String, value: [UInt8])] = []

    /// - Parameters:
    ///   - query: The raw query, without the question mark.
    ///   - names: The known parameters.
    /// - Throws: The first refusal.
    package init(_ query: Span<UInt8>, named names: [String]) throws(QueryRefusal) {
        var start = 0
        while start < query.count {
            let end = query.firstIndex(of: UInt8(ascii: "&"), from: start)
            if end > start { try take(query.extracting(start..<end), named: names) }
            start = end + 1
        }
    }

    private mutating func take(_ item: Span<UInt8>, named names: [String]) throws(QueryRefusal) {
        let nameEnd = item.firstIndex(of: UInt8(ascii: "="), from: 0)
        let name = try Self.name(item.extracting(0..<nameEnd), among: names)
        let text = item.extracting(min(nameEnd + 1, item.count)..<item.count)
        guard let value = text.formDecoded(plus: name == Self.url ? UInt8(ascii: "+") : UInt8(ascii: " ")),
            value.span.isASCII || String(validating: value, as: UTF8.self) != nil
        else {
            throw .unreadable(name)
        }
        guard self[name] == nil else { throw .repeated(name) }
        values.append((name, value))
    }

    private static func name(_ bytes: Span<UInt8>, among names: [String]) throws(QueryRefusal) -> String {
        // The fast path: nearly all clients write names without encoding.
        for name in names where bytes.isEqual(to: name) { return name }
        guard let decoded = bytes.formDecoded(), let text = String(validating: decoded, as: UTF8.self) else {
            throw .unreadableName
        }
        guard let name = names.first(where: { $0.utf8.elementsEqual(decoded) }) else {
            throw .unknown(text)
        }
        return name
    }

    /// The value, in UTF-8; nil if the parameter is missing. There are never more values than known
    /// parameters.
    package subscript(_ name: String) -> [UInt8]? { values.first { $0.name == name }?.value }

    /// The only parameter in whose value a plus is a plus.
    private static let url = "url"
}

extension Span<UInt8> {
    /// Returns the index of the first occurrence of a byte from another index on; the end if there is none.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int {
        withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let first = rest.baseAddress, let found = memchr(first, Int32(byte), rest.count) else {
                return count
            }
            return start + (UnsafeRawPointer(found) - first)
        }
    }

    /// By index, so that the compiler vectorizes the loop.
    fileprivate var isASCII: Bool {
        var bits: UInt8 = 0
        for index in indices { bits |= self[index] }
        return bits < 0x80
    }
}

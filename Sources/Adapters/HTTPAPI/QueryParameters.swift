import Foundation
import HTTPTypes

/// The parameters of a request's query, each of which may come once.
///
/// Percent-encoding is decoded; `+` stays a plus, since an invocation URL holds no space that it could stand for. Nothing is
/// looked at behind the first parameter that is refused, so that each of many costs no more than its bytes.
struct QueryParameters {
    /// UTF-8 all of them.
    private var values: [(name: String, value: [UInt8])] = []

    /// - Parameter names: those that the route reads.
    /// - Throws: `unknown_parameter` for another name, `invalid_parameter` for malformed percent-encoding, text that is not
    ///   UTF-8, or a repeated name: whichever comes first.
    init(_ query: Span<UInt8>, named names: String...) throws(Problem) {
        try self.init(query, named: names)
    }

    init(_ query: Span<UInt8>, named names: [String]) throws(Problem) {
        var start = 0
        while start < query.count {
            let end = query.firstIndex(of: UInt8(ascii: "&"), from: start)
            if end > start { try take(query.extracting(start..<end), named: names) }
            start = end + 1
        }
    }

    private mutating func take(_ item: Span<UInt8>, named names: [String]) throws(Problem) {
        let nameEnd = item.firstIndex(of: UInt8(ascii: "="), from: 0)
        let name = try Self.name(item.extracting(0..<nameEnd), among: names)
        guard let value = Self.decoded(item.extracting(min(nameEnd + 1, item.count)..<item.count)),
            value.span.isASCII || String(validating: value, as: UTF8.self) != nil
        else {
            throw .field(name, code: "invalid_parameter", "the parameter is not percent-encoded UTF-8")
        }
        guard self[name] == nil else {
            throw .field(name, code: "invalid_parameter", "the parameter comes twice")
        }
        values.append((name, value))
    }

    private static func name(_ bytes: Span<UInt8>, among names: [String]) throws(Problem) -> String {
        // As nearly all are written.
        for name in names where bytes.isEqual(to: name) { return name }
        guard let decoded = decoded(bytes), let text = String(validating: decoded, as: UTF8.self) else {
            throw Problem(
                .badRequest, "invalid_parameter", "a parameter's name is not percent-encoded UTF-8")
        }
        guard let name = names.first(where: { $0.utf8.elementsEqual(decoded) }) else {
            throw .field(text, code: "unknown_parameter", "the parameter is unknown")
        }
        return name
    }

    /// - Returns: UTF-8.
    func required(_ name: String) throws(Problem) -> [UInt8] {
        guard let value = self[name] else {
            throw .field(name, code: "missing_parameter", "the parameter is missing")
        }
        return value
    }

    /// - Returns: The text; nil when the parameter is not there.
    func optional(_ name: String) -> String? {
        self[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// How many items a page has at most, from `limit`.
    func pageLength() throws(Problem) -> Int {
        guard let text = optional("limit") else { return Self.pageLength }
        guard let limit = Int(text), Self.pageLengths.contains(limit) else {
            throw .field(
                "limit", code: "invalid_parameter",
                "the parameter must be a number from \(Self.pageLengths.lowerBound) to \(Self.pageLengths.upperBound)"
            )
        }
        return limit
    }

    private static let pageLength = 100
    static let pageLengths = 1...1_000

    /// True or false, which it is without the parameter.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch optional(name) {
        case nil, "false": return false
        case "true": return true
        default: throw .field(name, code: "invalid_parameter", "the parameter must be true or false")
        }
    }

    /// A number from 0 on; nil without the parameter.
    func count(_ name: String) throws(Problem) -> Int? {
        guard let text = optional(name) else { return nil }
        guard let count = Int(text), count >= 0 else {
            throw .field(name, code: "invalid_parameter", "the parameter must be a number from 0 on")
        }
        return count
    }

    /// There are never more than the route reads.
    private subscript(_ name: String) -> [UInt8]? { values.first { $0.name == name }?.value }

    private static func decoded(_ bytes: Span<UInt8>) -> [UInt8]? {
        var isWellFormed = true
        let decoded = [UInt8](unsafeUninitializedCapacity: bytes.count) { decoded, count in
            bytes.withUnsafeBufferPointer { bytes in
                var index = 0
                while index < bytes.count {
                    let byte = bytes[index]
                    if byte != UInt8(ascii: "%") {
                        decoded[count] = byte
                        index += 1
                    } else if bytes.count - index > 2, let high = hexadecimal(bytes[index + 1]),
                        let low = hexadecimal(bytes[index + 2])
                    {
                        decoded[count] = high << 4 | low
                        index += 3
                    } else {
                        isWellFormed = false
                        return
                    }
                    count += 1
                }
            }
        }
        return isWellFormed ? decoded : nil
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

extension Span<UInt8> {
    /// The index of the first such byte from another on; the end where there is none.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int {
        withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let first = rest.baseAddress, let found = memchr(first, Int32(byte), rest.count) else {
                return count
            }
            return start + (UnsafeRawPointer(found) - first)
        }
    }

    /// By index, so that the compiler takes many bytes at once.
    fileprivate var isASCII: Bool {
        var bits: UInt8 = 0
        for index in indices { bits |= self[index] }
        return bits < 0x80
    }
}

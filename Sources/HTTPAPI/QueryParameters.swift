import HTTPTypes
import Hummingbird

/// The parameters of a request's query, each of which may come once.
///
/// Percent-encoding is decoded; `+` stays a plus, since an invocation URL holds no space that it could stand for.
struct QueryParameters {
    private var unread: [String: String] = [:]

    /// - Throws: `invalid_parameter` for malformed percent-encoding, text that is not UTF-8, or a repeated name.
    init(_ request: Request) throws(Problem) {
        guard let query = request.uri.query else { return }
        for item in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = item.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]) else {
                throw Problem(
                    .badRequest, "invalid_parameter", "a parameter's name is not percent-encoded UTF-8")
            }
            guard let value = parts.count == 1 ? "" : Self.decoded(parts[1]) else {
                throw .field(name, code: "invalid_parameter", "the parameter is not percent-encoded UTF-8")
            }
            guard unread.updateValue(value, forKey: name) == nil else {
                throw .field(name, code: "invalid_parameter", "the parameter comes twice")
            }
        }
    }

    mutating func required(_ name: String) throws(Problem) -> String {
        guard let value = unread.removeValue(forKey: name) else {
            throw .field(name, code: "missing_parameter", "the parameter is missing")
        }
        return value
    }

    /// Refuses parameters that were not asked for.
    func finish() throws(Problem) {
        guard let name = unread.keys.min() else { return }
        throw .field(name, code: "unknown_parameter", "the parameter is unknown")
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal),
                let low = rest.popFirst().flatMap(hexadecimal)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}

/// An item of the part of CBOR (RFC 8949) that App Attest uses: integers, byte and text strings, arrays and maps.
enum CBORValue: Sendable, Hashable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([CBORKey: CBORValue])

    var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var array: [CBORValue]? { if case .array(let value) = self { value } else { nil } }
    var map: [CBORKey: CBORValue]? { if case .map(let value) = self { value } else { nil } }
}

/// The key of a map's entry: COSE uses numbers, the rest of App Attest uses names.
enum CBORKey: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case integer(Int64)
    case text(String)

    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral number: Int64) { self = .integer(number) }
}

import Foundation

/// Text, in UTF-8.
///
/// The server determines the type of a bound string, so it can also be an enum, a `uuid`, a `json` or a `date`. If the server
/// cannot infer the type, write `\(value)::text`.
extension String: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .text }
    public static var arrayType: PostgreSQLType { .textArray }
    public static var scalarName: String { "text" }
    public static var postgreSQLType: PostgreSQLType { .inferred }

    public static func canDecode(_ type: PostgreSQLType) -> Bool {
        [.text, .varchar, .bpchar, .name, .char, .unknown].contains(type)
    }

    public init?(binary: UnsafeRawBufferPointer) {
        self.init(validating: binary, as: UTF8.self)
    }

    public func encode(into bytes: inout [UInt8]) throws(PostgreSQLError) {
        try encodeBinary(into: &bytes)
    }

    public func encodeBinary(into bytes: inout [UInt8]) throws(PostgreSQLError) {
        var text = self
        let isComplete = text.withUTF8 { utf8 in
            // libpq passes text up to the first zero byte: refuse rather than cut.
            if let start = utf8.baseAddress, memchr(start, 0, utf8.count) != nil { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        guard isComplete else { throw .encoding(reason: "text with a zero byte") }
    }
}

/// The text of a `json` or `jsonb` value, unparsed.
public struct JSONText: Sendable, Hashable, PostgreSQLEncodable, PostgreSQLDecodable {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static var postgreSQLType: PostgreSQLType { .inferred }

    public func encode(into bytes: inout [UInt8]) throws(PostgreSQLError) {
        try text.encode(into: &bytes)
    }

    public init(_ cell: Cell) throws(PostgreSQLError) {
        // `jsonb_send` puts the version of its format, 1, before the text.
        let version: [UInt8]? =
            switch cell.column.type {
            case .json: []
            case .jsonb: [1]
            default: nil
            }
        let text = version.flatMap { version in
            cell.withBytes { bytes in
                bytes.starts(with: version)
                    ? String(validating: bytes.dropFirst(version.count), as: UTF8.self) : nil
            }
        }
        guard let text else { throw cell.mismatch(expected: "json or jsonb") }
        self.text = text
    }
}

import Foundation

/// The fields of a query or a form, as `application/x-www-form-urlencoded` has them (URL Standard §5).
package struct FormFields: Sendable {
    /// The longest form that is read, in bytes. [ours]
    package static let maximumLength = 1_048_576

    /// The fields as they were sent, by name.
    package var all: [String: String] { values }

    private var values: [String: String] = [:]

    /// Reads the fields. If a field occurs more than once, the first counts; a field that cannot be decoded
    /// is ignored.
    package init(_ text: some StringProtocol) {
        for item in text.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]),
                let value = parts.count == 2 ? Self.decoded(parts[1]) : ""
            else { continue }
            if values[name] == nil { values[name] = value }
        }
    }

    /// The field without the white space around it; nil for one that is missing or empty.
    package subscript(name: String) -> String? {
        guard let value = values[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !value.isEmpty else {
            return nil
        }
        return value
    }

    package func has(_ name: String) -> Bool { values[name] != nil }

    /// Nil also for a text that contains U+0000, which PostgreSQL's texts cannot contain.
    private static func decoded(_ text: some StringProtocol) -> String? {
        guard let bytes = String(text).utf8.span.formDecoded(), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

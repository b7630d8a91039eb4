import Foundation

/// The fields of a query or a form, as `application/x-www-form-urlencoded` has them (URL Standard §5).
package struct FormFields: Sendable {
    /// The longest form that is read, in bytes. [ours]
    package static let maximumLength = 1_048_576

    private var values: [String: String] = [:]

    /// Of fields that come more than once the first counts; what cannot be decoded is nothing.
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

    /// Nil also for what holds U+0000, which PostgreSQL's texts cannot.
    private static func decoded(_ text: some StringProtocol) -> String? {
        let decoded = String(text).replacing("+", with: " ").removingPercentEncoding
        return decoded?.utf8.contains(0) == true ? nil : decoded
    }
}

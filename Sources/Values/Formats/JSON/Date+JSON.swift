public import Foundation

extension JSONValue {
    /// A date and time of RFC 3339, to the second.
    public init(_ date: Date) {
        self = .string(date.rfc3339)
    }
}

extension JSONObjectReader {
    /// Takes a date and time of RFC 3339, such as `2026-03-01T12:30:00Z`.
    public mutating func optionalDate(_ key: String) throws(JSONFieldError) -> Date? {
        guard let text = try optionalString(key) else { return nil }
        guard let date = Date(rfc3339: text) else {
            throw .invalid(
                path: path(of: key), reason: "must be a date and time such as 2026-03-01T12:30:00Z")
        }
        return date
    }
}

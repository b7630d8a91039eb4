import Formats

/// Why a notification is refused before anything is sent.
public enum PayloadError: Error, Sendable, Hashable {
    /// A field is missing, unknown, of the wrong type, out of range, or contradicts another.
    ///
    /// The field is a JSON path such as `aps.sound.volume` or `headers.priority`; the reason is a
    /// predicate, such as "must be from 0 to 1".
    case invalid(field: String, reason: String)
    /// The payload has more bytes than APNs takes.
    case payloadTooLarge(size: Int, limit: Int)

    init(_ error: JSONFieldError) {
        self = .invalid(field: error.path, reason: error.reason)
    }

    public var code: String {
        switch self {
        case .invalid: "invalid_notification"
        case .payloadTooLarge: "payload_too_large"
        }
    }

    /// The path of the field that is refused, if it is one field.
    public var field: String? {
        switch self {
        case .invalid(let field, _): field
        case .payloadTooLarge: nil
        }
    }
}

extension PayloadError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalid(let field, let reason):
            "The field \(field) \(reason)"
        case .payloadTooLarge(let size, let limit):
            "The payload has \(size) bytes, more than the \(limit) that APNs accepts"
        }
    }
}

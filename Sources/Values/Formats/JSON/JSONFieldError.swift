/// Why a field of a JSON object is refused, with the field's path (`aps.alert.title`).
public enum JSONFieldError: Error, Sendable, Hashable {
    /// A field that must be there is not.
    case missing(path: String)
    /// The value has another type than `expected`, such as "a string"; null is a type of its own.
    case wrongType(path: String, expected: String)
    /// The value has the right type but is not allowed; the reason is a predicate, such as "must be
    /// positive".
    case invalid(path: String, reason: String)
    /// An unknown field.
    case unknown(path: String)

    public var path: String {
        switch self {
        case .missing(let path), .wrongType(let path, _), .invalid(let path, _), .unknown(let path): path
        }
    }

    public var code: String {
        switch self {
        case .missing: "missing_field"
        case .wrongType, .invalid: "invalid_field"
        case .unknown: "unknown_field"
        }
    }
}

extension JSONFieldError: CustomStringConvertible {
    /// The defect of the field, as a predicate: "is missing", "must be a string".
    public var reason: String {
        switch self {
        case .missing: "is missing"
        case .wrongType(_, let expected): "must be \(expected)"
        case .invalid(_, let reason): reason
        case .unknown: "is unknown"
        }
    }

    public var description: String {
        path.isEmpty ? "The JSON text \(reason)" : "The field \(path) \(reason)"
    }
}

/// Why a query is refused.
package enum QueryRefusal: Refusal, Hashable {
    /// A name that is not percent-encoded UTF-8.
    case unreadableName
    /// An unknown name.
    case unknown(String)
    /// A value that is not percent-encoded UTF-8, by its parameter's name.
    case unreadable(String)
    /// A parameter that comes twice, by its name.
    case repeated(String)

    package var code: String {
        switch self {
        case .unknown: "unknown_parameter"
        case .unreadableName, .unreadable, .repeated: "invalid_parameter"
        }
    }

    package var description: String {
        switch self {
        case .unreadableName: "a parameter's name is not percent-encoded UTF-8"
        case .unknown: "the parameter is unknown"
        case .unreadable: "the parameter is not percent-encoded UTF-8"
        case .repeated: "the parameter comes twice"
        }
    }

    package var members: JSONObject {
        switch self {
        case .unreadableName: [:]
        case .unknown(let name), .unreadable(let name), .repeated(let name): ["field": .string(name)]
        }
    }
}

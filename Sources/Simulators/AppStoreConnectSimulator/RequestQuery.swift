import Formats
import Foundation

/// The query of a request, checked against the specification.
struct RequestQuery: Sendable {
    private(set) var include: Set<String> = []
    /// The requested fields by type.
    private(set) var fields: [String: Set<String>] = [:]
    private(set) var filters: [String: Set<String>] = [:]
    private(set) var limit = RequestQuery.defaultLimit
    /// The limits of included relationships by name.
    private(set) var relationshipLimits: [String: Int] = [:]
    /// The number of rows before the page.
    private(set) var offset = 0
    /// The query as it was received, without the cursor.
    private(set) var parameters: [(name: String, value: String)] = []

    /// The default number of rows of a page. [ours]
    static let defaultLimit = 50

    /// - Parameter refused: Parameters that the specification allows and the service refuses.
    init(
        _ text: Substring, for operation: Specification.Operation, refused: Set<String> = []
    ) throws(ErrorDocument) {
        var errors: [ErrorObject] = []
        var seen: Set<String> = []
        for (name, value) in Self.pairs(text) {
            guard let parameter = operation.parameters[name], !refused.contains(name) else {
                errors.append(
                    .parameter("ILLEGAL", name, "The parameter '\(name)' can not be used with this request"))
                continue
            }
            guard seen.insert(name).inserted else {
                errors.append(.parameter("DUPLICATE", name, "The parameter '\(name)' comes more than once"))
                continue
            }
            if name != "cursor" { parameters.append((name, value)) }
            if !take(name, value, parameter) {
                let detail =
                    name == "cursor" ? "not a valid cursor" : "The parameter has a value that it cannot have"
                errors.append(.parameter("INVALID", name, detail))
            }
        }
        guard errors.isEmpty else { throw ErrorDocument(errors) }
    }

    /// Whether the parameter can have the value.
    private mutating func take(_ name: String, _ value: String, _ parameter: Specification.Parameter) -> Bool
    {
        let values = Set(value.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        switch parameter {
        case .strings: filters[Self.key(of: name)] = values
        case .choices(let choices):
            guard values.isSubset(of: choices) else { return false }
            if name == "include" {
                include = values
            } else if name.hasPrefix("fields[") {
                fields[Self.key(of: name)] = values
            } else {
                filters[Self.key(of: name)] = values
            }
        case .limit(let maximum):
            guard let limit = Int(value), (1...maximum).contains(limit) else { return false }
            if name == "limit" { self.limit = limit } else { relationshipLimits[Self.key(of: name)] = limit }
        case .cursor:
            guard let offset = Self.offset(ofCursor: value) else { return false }
            self.offset = offset
        }
        return true
    }

    /// The text in the brackets.
    private static func key(of name: String) -> String {
        String(name.drop { $0 != "[" }.dropFirst().prefix { $0 != "]" })
    }

    /// The pairs of a query, decoded.
    static func pairs(_ text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? String(parts[1]) : ""
            return (
                String(parts[0]).removingPercentEncoding ?? String(parts[0]),
                value.removingPercentEncoding ?? value
            )
        }
    }

    /// The form of Apple's cursors: an offset in a JSON object, in base64. [observed]
    static func cursor(ofOffset offset: Int) -> String {
        Data(JSONValue.object(["offset": .string(String(offset))]).serialized()).base64EncodedString()
    }

    private static func offset(ofCursor text: String) -> Int? {
        guard let bytes = Data(base64Encoded: text), let json = try? JSONValue(parsing: Array(bytes)),
            let offset = json.objectValue?["offset"]?.stringValue.flatMap(Int.init), offset >= 0
        else { return nil }
        return offset
    }

    /// The query of another page.
    func text(ofOffset offset: Int) -> String {
        var parts = parameters.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }
        if offset > 0 { parts.append("cursor=\(Self.encoded(Self.cursor(ofOffset: offset)))") }
        return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
    }

    /// Characters that a query contains without encoding: the unreserved characters of RFC 3986 §2.3, and the comma of lists.
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,")

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.plain) ?? text
    }
}

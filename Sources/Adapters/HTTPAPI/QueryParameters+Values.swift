import Formats
import HTTPTypes

extension APIRequest {
    /// - Parameter names: The names that the endpoint reads.
    /// - Throws: `unknown_parameter` for another name, `invalid_parameter` for malformed percent-encoding, text that is not
    ///   UTF-8, or a repeated name. The first error is thrown.
    func queryParameters(named names: [String]) throws(Problem) -> QueryParameters {
        do throws(QueryRefusal) {
            return try QueryParameters(query.utf8.span, named: names)
        } catch {
            throw Problem(.badRequest, error)
        }
    }
}

extension AdmittedRequest {
    func queryParameters(named names: [String]) throws(Problem) -> QueryParameters {
        try request.queryParameters(named: names)
    }
}

extension QueryParameters {
    /// - Returns: The value as UTF-8.
    func required(_ name: String) throws(Problem) -> [UInt8] {
        guard let value = self[name] else {
            throw .field(name, code: "missing_parameter", "the parameter is missing")
        }
        return value
    }

    /// - Returns: The text; nil without the parameter.
    func optional(_ name: String) -> String? {
        self[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// The most items of a page, from `limit`.
    func pageLength() throws(Problem) -> Int {
        guard let text = optional("limit") else { return Self.pageLength }
        guard let limit = Int(text), Self.pageLengths.contains(limit) else {
            throw .field(
                "limit", code: "invalid_parameter",
                "the parameter must be a number from \(Self.pageLengths.lowerBound) to \(Self.pageLengths.upperBound)"
            )
        }
        return limit
    }

    static let pageLength = 100
    static let pageLengths = 1...1_000

    /// The value of a flag; false without the parameter.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch optional(name) {
        case nil, "false": return false
        case "true": return true
        default: throw .field(name, code: "invalid_parameter", "the parameter must be true or false")
        }
    }

    /// A number from 0 on; nil without the parameter.
    func count(_ name: String) throws(Problem) -> Int? {
        guard let text = optional(name) else { return nil }
        guard let count = Int(text), count >= 0 else {
            throw .field(
                name, code: "invalid_parameter", "the parameter must be a whole number, 0 or greater")
        }
        return count
    }

    /// The value of a parameter; nil without the parameter.
    /// - Parameter read: Reads the text; returns nil if it is not a value of the parameter.
    func value<Value>(
        _ name: String, _ requirement: String, _ read: (String) -> Value?
    ) throws(Problem) -> Value? {
        guard let text = optional(name) else { return nil }
        guard let value = read(text) else {
            throw .field(name, code: "invalid_parameter", requirement)
        }
        return value
    }
}

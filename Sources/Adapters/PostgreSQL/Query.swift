/// A statement and the values bound to it.
///
/// Written as a literal: `"SELECT name FROM location WHERE id = \(id)"` sends `… WHERE id = $1` and the value separately.
/// `\(identifier: name)` writes a quoted name, and `\(part)` another query with its values. Only `\(unsafeSQL: text)` inserts text.
public struct Query: Sendable, ExpressibleByStringInterpolation {
    /// The statement, with `$1`, `$2`… where values are bound.
    public let sql: String

    let parameters: [Parameter]

    /// Whether the text is the same on every call, so that preparing it once pays.
    let isPreparable: Bool

    struct Parameter: Sendable {
        let type: PostgreSQLType
        /// `nil` for NULL; a failure is thrown when the query runs.
        let bytes: Result<[UInt8]?, PostgreSQLError>
        /// Where its `$n` begins in the statement, in bytes of UTF-8.
        let position: Int
    }

    public init(stringLiteral sql: String) {
        self.sql = sql
        parameters = []
        isPreparable = true
    }

    public init(stringInterpolation: StringInterpolation) {
        sql = stringInterpolation.sql
        parameters = stringInterpolation.parameters
        isPreparable = stringInterpolation.isPreparable
    }

    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        var sql = ""
        var parameters: [Parameter] = []
        var isPreparable = true

        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.reserveCapacity(literalCapacity + 4 * interpolationCount)
            parameters.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) {
            sql += literal
        }

        /// Binds a value; `nil` is NULL.
        public mutating func appendInterpolation<Value: PostgreSQLEncodable>(_ value: Value?) {
            append(type: Value.postgreSQLType, bytes: Self.encode(value))
        }

        /// Writes another statement, with its values, as a part of this one.
        public mutating func appendInterpolation(_ part: Query) {
            var rest = Substring(part.sql)
            for (index, parameter) in part.parameters.enumerated() {
                let start = part.sql.utf8.index(part.sql.startIndex, offsetBy: parameter.position)
                sql += rest[..<start]
                append(type: parameter.type, bytes: parameter.bytes)
                rest = rest[start...].dropFirst("$\(index + 1)".count)
            }
            sql += rest
            isPreparable = isPreparable && part.isPreparable
        }

        private mutating func append(type: PostgreSQLType, bytes: Result<[UInt8]?, PostgreSQLError>) {
            parameters.append(Parameter(type: type, bytes: bytes, position: sql.utf8.count))
            sql += "$\(parameters.count)"
        }

        private static func encode<Value: PostgreSQLEncodable>(
            _ value: Value?
        ) -> Result<[UInt8]?, PostgreSQLError> {
            guard let value else { return .success(nil) }
            var bytes: [UInt8] = []
            do throws(PostgreSQLError) {
                try value.encode(into: &bytes)
            } catch {
                return .failure(error)
            }
            // libpq reads a text parameter up to its zero byte.
            if Value.postgreSQLType == .inferred { bytes.append(0) }
            return .success(bytes)
        }

        /// Writes a name in double quotes, its own quotes doubled.
        public mutating func appendInterpolation(identifier name: String) {
            sql += Query.quoted(name)
        }

        /// Writes a constant of the program without changes.
        public mutating func appendInterpolation(constant text: StaticString) {
            sql += text.description
        }

        /// Writes text without changes. The text must never come from outside the program.
        public mutating func appendInterpolation(unsafeSQL text: String) {
            sql += text
            isPreparable = false
        }
    }

    /// The name of the statement without its values: the operation and its first table, such as `UPDATE doorstep.locations`.
    ///
    /// Only a table that the statement names with its schema counts. At most 80 characters.
    public var summary: String {
        let words = sql.split { $0.isWhitespace || "(,;".contains($0) }
        guard let operation = words.first?.uppercased() else { return "" }
        let table = words.indices.dropFirst().first { index in
            let word = words[index]
            return ["FROM", "INTO", "UPDATE", "COPY"].contains(words[index - 1].uppercased())
                // `extract(epoch FROM d.due_at …)` names no table.
                && (index < 3 || words[index - 3].uppercased() != "EXTRACT")
                && word.contains(".")
                && word.allSatisfy { $0.isLetter || $0.isNumber || "._\"".contains($0) }
        }
        return String((table.map { "\(operation) \(words[$0])" } ?? operation).prefix(80))
    }

    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

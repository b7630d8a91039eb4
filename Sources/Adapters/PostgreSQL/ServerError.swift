import CLibPQ

/// A report of the server: an error, a warning or a notice.
///
/// `message`, `detail`, `hint` and `context` may quote values of rows: they are for a person at a terminal,
/// never for a log. `description` leaves them out.
public struct ServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The five characters of PostgreSQL's appendix "Error Codes"; empty when the server gave none.
    public let sqlState: String
    /// `ERROR`, `FATAL`, `PANIC`, `WARNING`, `NOTICE`…, never translated.
    public let severity: String
    public let message: String
    public let detail: String?
    public let hint: String?
    public let context: String?
    public let schema: String?
    public let table: String?
    public let column: String?
    public let constraint: String?
    /// The position in the statement, in characters from 1.
    public let position: Int?

    /// The function of the server's source that reported: the one trace of a cause that is not translated.
    let sourceFunction: String?

    public var description: String {
        var text = "\(severity) \(sqlState)"
        if let constraint { text += ", constraint \(constraint)" }
        if let table { text += ", table \(schema.map { $0 + "." } ?? "")\(table)" }
        if let column { text += ", column \(column)" }
        return text
    }

    /// Copies the fields of a result or a notice.
    init(_ result: OpaquePointer?) {
        // The letters of PostgreSQL's "Error and Notice Message Fields"; Swift does not see libpq's macros.
        func field(_ code: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        sqlState = field("C") ?? ""
        severity = field("V") ?? "ERROR"
        message = field("M") ?? ""
        detail = field("D")
        hint = field("H")
        context = field("W")
        schema = field("s")
        table = field("t")
        column = field("c")
        constraint = field("n")
        position = field("P").flatMap { Int($0) }
        sourceFunction = field("R")
    }
}

public import Formats
public import OutboundHTTP

/// The reason why a request to a server failed.
public enum ServerError: Error, Sendable, CustomStringConvertible {
    case invalidURL
    case insecureURL
    /// It has letters that no key has.
    case invalidKey
    case refused(ServerProblem)
    case unreached(OutboundError)
    /// The responding program is not Doorstep, or is another version.
    case unexpected(status: Int)
    /// Others have changed the same thing each time.
    case contended

    public var description: String {
        switch self {
        case .invalidURL: "name a server by its URL, such as https://doorstep.example.com"
        case .insecureURL: "keys are sent over plain HTTP to this machine only: use https"
        case .invalidKey: "the key is not valid: it contains blanks or characters that keys do not have"
        case .refused(let problem): problem.description
        case .unreached(let error): "the server cannot be reached: \(error.detail)"
        case .unexpected(let status): "the response, with status \(status), is not from a Doorstep server"
        case .contended: "the item was changed by others several times meanwhile: try again"
        }
    }
}

/// A server's refusal (RFC 9457).
public struct ServerProblem: Sendable, Hashable, CustomStringConvertible {
    public let code: String
    /// The text that a command at the database would print too.
    public let detail: String
    /// Nil from an API in this process.
    let requestID: String?
    private let members: JSONObject

    /// The refusal in the words of a command at a database, without additions of HTTP.
    public var refusal: JSONObject {
        ["type", "title", "status", "requestID"].reduce(into: members) { $0[$1] = nil }
    }

    /// Nil for a body that is not a problem of Doorstep.
    init?(_ members: JSONObject) {
        guard let code = members["code"]?.stringValue, let detail = members["detail"]?.stringValue
        else { return nil }
        (self.code, self.detail, requestID) = (code, detail, members["requestID"]?.stringValue)
        self.members = members
    }

    /// The sentence, the code (which the guide explains) and the request's ID (which the server's log has).
    /// From an API in this process, the sentence alone.
    public var description: String {
        Self.printable(requestID.map { "\(detail) (\(code); request \($0))" } ?? detail)
    }

    /// The same without the code, for a message that begins with the code.
    public var text: String {
        Self.printable(requestID.map { "\(detail) (request \($0))" } ?? detail)
    }

    /// Without control characters: the text comes from a server and goes to a terminal.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

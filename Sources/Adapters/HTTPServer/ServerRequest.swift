package import Formats
package import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP1

/// The head of a request.
///
/// A class, because many closures hold it and each copy of a structure would count its references.
package final class ServerRequest: Sendable {
    enum Fields: Sendable {
        case http1(HTTPHeaders)
        case http2(HPACKHeaders)
    }

    package let method: String
    /// The path and query, as they came. A proxy's request has its absolute form, with scheme and authority.
    package let target: String
    /// The host and port, as they came: `Host`, or `:authority` of HTTP/2.
    package let authority: String?
    /// The other end of the connection: the client, or a proxy.
    package let peer: IPAddress?
    private let received: Fields

    init(method: String, target: String, authority: String?, peer: IPAddress?, _ fields: Fields) {
        self.method = method
        self.target = target
        self.authority = authority
        self.peer = peer
        received = fields
    }

    /// A request that came by no connection.
    package init(
        _ method: HTTPRequest.Method, _ target: String, authority: String? = nil, peer: IPAddress? = nil,
        fields: HTTPFields = [:]
    ) {
        self.method = method.rawValue
        self.target = target
        self.authority = authority
        self.peer = peer
        received = .http1(HTTPHeaders(fields.map { ($0.name.rawName, $0.value) }))
    }

    /// Calls a function with each header field in order, with the name as it came.
    package func forEachField(_ body: (_ name: String, _ value: String) -> Void) {
        switch received {
        case .http1(let headers): for (name, value) in headers { body(name, value) }
        case .http2(let headers):
            for (name, value, _) in headers where name.utf8.first != UInt8(ascii: ":") { body(name, value) }
        }
    }

    /// All header fields. Building them costs more than ``forEachField(_:)``.
    package var fields: HTTPFields {
        var fields = HTTPFields()
        forEachField { name, value in
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    /// The path without the query.
    package var path: Substring { parts.path }

    /// The query without the question mark.
    package var query: Substring { parts.query }

    private var parts: (path: Substring, query: Substring) {
        var rest = target[...]
        if rest.utf8.first != UInt8(ascii: "/"), let scheme = rest.firstRange(of: "://") {
            rest = rest[scheme.upperBound...]
            rest = rest[(rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex)...]
        }
        rest = rest[..<(rest.firstIndex(of: "#") ?? rest.endIndex)]
        guard let question = rest.firstIndex(of: "?") else { return (rest, "") }
        return (rest[..<question], rest[rest.index(after: question)...])
    }
}

import AppSiteAssociation
import HTTPTypes
import Invocation
import Routing

/// The association file of each host that a tenant has proved, which anyone may fetch, by whatever User-Agent.
///
/// Source: Apple, "Supporting associated domains".
struct SiteAssociationRoutes: Sendable {
    let table: LiveRoutingTable
    private let files = SiteFileCache()

    init(table: LiveRoutingTable) {
        self.table = table
    }

    var routes: [Route] { [Route(.get, "/.well-known/apple-app-site-association", .open(association))] }

    private func association(_ request: APIRequest) throws(Problem) -> Answer {
        guard let state = table.current else { throw .unavailable }
        guard let host = request.authority.flatMap(Self.host), let file = files.file(of: host, in: state)
        else { throw .unknownHost }
        return Answer(shared: file, ifNoneMatch: request.fields.ifNoneMatch)
    }

    /// A domain name, the dot behind it, and a port.
    private static let maximumAuthorityLength = 253 + 1 + ":65535".utf8.count

    /// The host of an authority as domains are registered: in lower case, without port and trailing dot.
    static func host(_ authority: String) -> String? {
        guard authority.utf8.count <= maximumAuthorityLength else { return nil }
        var host = authority.lowercased()[...]
        if let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) {
            host = host[..<colon]
        }
        if host.hasSuffix(".") { host.removeLast() }
        return host.isEmpty ? nil : String(host)
    }
}

import Formats
import HTTPTypes
import Invocation
import Lookups

/// The endpoint for the association file of each proved host. It needs no key and ignores `User-Agent`.
///
/// Source: Apple, "Supporting associated domains".
struct SiteAssociationEndpoints: Sendable {
    let table: LiveLookupIndex
    private let files = SiteFileCache()

    init(table: LiveLookupIndex) {
        self.table = table
    }

    /// Apple's CDN fetches the files of all hosts from few addresses, so it has a higher limit than other clients. [ours]
    private static let limitFactor = 20

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get, "/.well-known/apple-app-site-association", .open(association),
                limitFactor: Self.limitFactor, problems: [.unknownHost, .internalError, .unavailable])
        ]
    }

    private func association(_ request: APIRequest) throws(Problem) -> APIResponse {
        guard let state = table.current else { throw .unavailable }
        guard let host = request.authority.flatMap(Authority.host), let file = files.file(of: host, in: state)
        else { throw .unknownHost }
        return APIResponse(file, to: request)
    }
}

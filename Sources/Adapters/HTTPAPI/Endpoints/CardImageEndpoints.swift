import Cards
import Formats
import HTTPTypes
import Lookups

/// The endpoint for images of cards on pages and previews. Anyone can load them at the proved hosts of their tenant.
struct CardImageEndpoints: Sendable {
    private let table: LiveLookupIndex
    private let downloads: ImageDownloads
    private let access: AccessControl

    init(_ access: AccessControl, _ downloads: ImageDownloads) {
        self.access = access
        table = access.table
        self.downloads = downloads
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get, "/.well-known/doorstep/images/{sha256}", .openStored(image),
                problems: [.unknownHost, .unknownImage, .notFound, .internalError, .unavailable])
        ]
    }

    /// Returns an image. If the client has it, no database query is needed, because the content of a digest never changes.
    private func image(_ request: APIRequest) async throws -> APIResponse {
        guard let state = table.current else { throw Problem.unavailable }
        guard let host = request.authority.flatMap(Authority.host).flatMap(state.provedHost),
            !host.tenantIsSuspended
        else { throw Problem.unknownHost }
        try access.limiter.admitVisitor(of: host, from: request.client)
        guard let digest = try? ImageDigest(String(request.parameters["sha256"] ?? "")) else {
            throw Problem.notFound
        }
        let tag = "\"\(digest)\""
        if let known = request.fields.ifNoneMatch, known.utf8.span.hasEntityTag(tag) {
            return APIResponse(notModified: tag)
        }
        do {
            var response = try await downloads.response(
                digest, of: host.tenant, to: .address(request.client.address), .immutable(tag: tag))
            response.headers = [.xContentTypeOptions: "nosniff"]
            return response
        } catch let problem as Problem {
            throw access.limiter.holdingBack(problem, from: request.client)
        }
    }
}

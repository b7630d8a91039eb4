import Administration
import Cards
import HTTPTypes
import Routing

/// The images of cards, as pages and previews show them: for anyone, at the hosts that their tenant has proved.
struct CardImageRoutes: Sendable {
    private let table: LiveRoutingTable
    private let images: any CatalogueStore<CardImage>
    private let files: any ImageFiles
    private let access: AccessControl
    /// Each holds a file of up to 10 MiB.
    private let downloads = TenantConcurrency(maximum: 4, ofAll: 8)

    init(_ access: AccessControl, _ catalogue: ManagedCatalogue) {
        self.access = access
        table = access.table
        images = catalogue.items.images
        files = catalogue.imageFiles
    }

    var routes: [Route] {
        [Route(.get, "/.well-known/doorstep/images/{sha256}", .openStored(image))]
    }

    /// Without asking the database where the client has the image: what has its name never changes.
    private func image(_ request: APIRequest) async throws -> Answer {
        guard let state = table.current else { throw Problem.unavailable }
        guard let host = request.authority.flatMap(SiteAssociationRoutes.host).flatMap(state.provedHost),
            !host.tenantIsSuspended
        else { throw Problem.unknownHost }
        try access.limiter.admitVisitor(of: host, from: request.client)
        guard let digest = try? ImageDigest(String(request.parameters["sha256"] ?? "")) else {
            throw Problem.notFound
        }
        let tag = "\"\(digest)\""
        if let known = request.fields.ifNoneMatch, Answer.matches(known.utf8.span, tag) {
            return Answer(.notModified, immutable: tag)
        }
        do {
            return try await downloads.with(host.tenant) {
                guard let image = try await images.item(digest, of: host.tenant),
                    let file = try await files.file(of: digest, of: host.tenant)
                else { throw Problem(.notFound, .unknownImage(digest)) }
                var answer = Answer(.ok, immutable: tag, file, as: image.format.rawValue)
                answer.headers = [.xContentTypeOptions: "nosniff"]
                return answer
            }
        } catch let problem as Problem {
            throw access.limiter.holdingBack(problem, from: request.client)
        }
    }
}

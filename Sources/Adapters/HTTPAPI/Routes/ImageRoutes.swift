import Administration
import Cards
import HTTPTypes
import JSON
import Tenancy

/// The routes by which a tenant keeps the images that its cards name: a file is put where its SHA-256 says, and read there.
struct ImageRoutes: Sendable {
    private let images: CatalogueRoutes<CardImage>
    private let store: any CatalogueStore<CardImage>
    private let files: any ImageFiles
    /// Each holds a file of up to 10 MiB.
    private let downloads = TenantConcurrency(maximum: 2, ofAll: 8)

    init(_ store: any CatalogueStore<CardImage>, _ files: any ImageFiles) {
        images = CatalogueRoutes("sha256", store)
        self.store = store
        self.files = files
    }

    var routes: [Route] {
        images.commonRoutes + [
            Route(.put, images.itemPath, .streamed(.manage, put), taking: [.png, .jpeg]),
            Route(.get, "\(images.itemPath)/file", .stored(.read, file)),
        ]
    }

    /// The media type is what the file is, whichever of the two is said.
    private func put(_ request: AdmittedRequest) throws(Problem) -> Route.BodyHandler {
        let digest = try images.key(of: request)
        return { body in
            var file: [UInt8] = []
            for try await piece in body { file += piece }
            return try await Problem.managing(nil) { [file] in
                let image = try CardImage(file: file, addedAt: request.now)
                guard image.key == digest else { throw AdministrationError.otherImage(image.key) }
                return try await images.change(digest, request) { current in
                    try request.checkConditions(on: current)
                    return current ?? image
                }
            }
        }
    }

    private func file(_ request: AdmittedRequest) async throws -> Answer {
        let digest = try images.key(of: request)
        return try await downloads.with(request.tenant) {
            guard let image = try await store.item(digest, of: request.tenant),
                let file = try await files.file(of: digest, of: request.tenant)
            else { throw Problem(.notFound, .unknownImage(digest)) }
            return Answer(uncached: file, as: image.format.rawValue)
        }
    }
}

import Administration
import Cards
import HTTPTypes
import JSON
import Tenancy

/// The routes by which a tenant keeps the images that its cards name: a file is put where its SHA-256 says, and read there.
struct ImageRoutes: Sendable {
    private let images: CatalogueRoutes<CardImage>
    private let downloads: ImageDownloads

    init(_ store: any CatalogueStore<CardImage>, _ downloads: ImageDownloads) {
        images = CatalogueRoutes("sha256", store)
        self.downloads = downloads
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
            return try await Problem.managing { [file] in
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
        try await downloads.answer(
            try images.key(of: request), of: request.tenant, to: nil, .none)
    }
}

import Administration
import Cards
import Formats
import HTTPTypes
import Tenancy

/// The endpoints for the images of a tenant's cards. A file's path contains its SHA-256.
struct ImageEndpoints: Sendable {
    private let images: CatalogueEndpoints<CardImage>
    private let downloads: ImageDownloads

    init(_ store: any CatalogueStore<CardImage>, _ downloads: ImageDownloads) {
        images = CatalogueEndpoints(
            "sha256", store, unknown: .unknownImage, writing: [.invalidImage], hasDependents: true)
        self.downloads = downloads
    }

    var endpoints: [Endpoint] {
        images.commonEndpoints + [
            Endpoint(
                .put, images.itemPath, .streamed(.manage, put), taking: [.png, .jpeg],
                problems: images.replacing)
        ]
    }

    /// The endpoint that returns an image's file, piece by piece.
    var fileEndpoint: Endpoint {
        Endpoint(.get, "\(images.itemPath)/file", .stored(.read, file), problems: images.reading)
    }

    /// Stores an image. The file's content determines its media type, not `Content-Type`.
    private func put(_ request: AdmittedRequest) throws(Problem) -> Endpoint.BodyHandler {
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

    private func file(_ request: AdmittedRequest) async throws -> APIResponse {
        try await downloads.response(
            try images.key(of: request), of: request.tenant, to: nil, .none)
    }
}

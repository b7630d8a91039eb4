import Administration
import Cards
import HTTPServer
import HTTPTypes
import NIOCore
import Tenancy

/// Sends the files of tenants' images, of up to 10 MiB each.
///
/// Each piece is read from the database after the previous one has been sent, so that slow clients occupy little memory.
struct ImageDownloads: Sendable {
    /// The bytes of a piece. [ours]
    static let pieceLength = 262_144

    private let images: any CatalogueStore<CardImage>
    private let files: any ImageFiles
    /// Limits the downloads that run at once, from the first piece to the last. [ours]
    private let underWay: TenantConcurrency

    init(
        _ images: any CatalogueStore<CardImage>, _ files: any ImageFiles, maximum: Int = 100,
        ofClient clientMaximum: Int = 20, ofAll total: Int = 400
    ) {
        self.images = images
        self.files = files
        underWay = TenantConcurrency(
            maximum: maximum, ofClient: clientMaximum, ofAll: total, refusalOfAll: .tooManyDownloads)
    }

    /// How long a download may take. A client that reads more slowly would keep its place from others. [ours]
    static func timeLimit(of byteCount: Int) -> Duration { .seconds(30 + byteCount / 4_096) }

    /// - Parameter client: The client; nil if the key is secret.
    /// - Throws: A problem: `unknown_image`, or 429 if too many downloads run.
    func response(
        _ digest: ImageDigest, of tenant: TenantID, to client: Client.Identity?,
        _ caching: APIResponse.Caching
    ) async throws -> APIResponse {
        let permit = try underWay.permit(tenant, client: client)
        guard let image = try await images.item(digest, of: tenant),
            let first = try await piece(at: 0, of: image, tenant)
        else { throw Problem(.notFound, .unknownImage(digest)) }
        let pieces = APIResponse.Pieces(
            length: image.byteCount, timeLimit: Self.timeLimit(of: image.byteCount)
        ) { [self] writer in
            defer { withExtendedLifetime(permit) {} }
            var piece = first
            var position = 0
            while true {
                try await writer.write(ByteBuffer(bytes: piece))
                position += piece.count
                guard position < image.byteCount else { break }
                // If the image has been deleted meanwhile, the response ends early.
                guard let next = try await self.piece(at: position, of: image, tenant), !next.isEmpty else {
                    throw Problem(.notFound, .unknownImage(digest))
                }
                piece = next
            }
        }
        return APIResponse(pieces, as: image.format.rawValue, caching)
    }

    private func piece(at position: Int, of image: CardImage, _ tenant: TenantID) async throws -> [UInt8]? {
        let range = position..<min(position + Self.pieceLength, image.byteCount)
        return try await files.bytes(range, of: image.key, of: tenant)
    }
}

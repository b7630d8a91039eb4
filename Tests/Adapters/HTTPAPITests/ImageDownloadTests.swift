import Administration
import Cards
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import NIOCore
import StoreSupport
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Memory for images during downloads, also for slow readers.
@Suite struct ImageDownloadTests {
    private static let tenant = TenantID(number: 1)
    /// The image has four whole pieces and a partial one.
    private static let file = HeaderPicture.png(pixelCount: 4 * ImageDownloads.pieceLength)

    /// Records which parts are read.
    private final class Files: ImageFiles {
        private let images: MemoryImageFiles
        private let asked = Mutex<[Range<Int>]>([])
        private let isDeleted = Mutex(false)

        init(_ images: MemoryImageFiles) {
            self.images = images
        }

        var ranges: [Range<Int>] { asked.withLock { $0 } }

        func delete() { isDeleted.withLock { $0 = true } }

        func bytes(_ range: Range<Int>, of image: ImageDigest, of tenant: TenantID) async throws -> [UInt8]? {
            asked.withLock { $0.append(range) }
            guard !isDeleted.withLock({ $0 }) else { return nil }
            return try await images.bytes(range, of: image, of: tenant)
        }
    }

    /// Calls the closure with the length of each piece before it takes the next one.
    private static func reader(_ afterPiece: @escaping @Sendable (Int) async throws -> Void) -> BodyWriter {
        BodyWriter { try await afterPiece($0.readableBytes) }
    }

    private struct Desk {
        let downloads: ImageDownloads
        let files: Files
        let digest: ImageDigest

        init(maximum: Int = 100) async throws {
            let api = TestAPI()
            let image = try CardImage(file: ImageDownloadTests.file, addedAt: Date(timeIntervalSince1970: 0))
            _ = try await api.images.change(image.key, of: ImageDownloadTests.tenant, by: "test") { _ in image
            }
            files = Files(MemoryImageFiles(images: api.images))
            downloads = ImageDownloads(api.images, files, maximum: maximum)
            digest = image.key
        }

        func response(to client: Client.Identity? = nil) async throws -> APIResponse {
            try await downloads.response(digest, of: ImageDownloadTests.tenant, to: client, .none)
        }
    }

    @Test func nextPieceIsReadAfterThePreviousIsTaken() async throws {
        let desk = try await Desk()
        let body = try #require(try await desk.response().pieces)
        #expect(body.length == Self.file.count && desk.files.ranges.count == 1)
        let collected = Mutex<(count: Int, bytes: Int)>((0, 0))
        let files = desk.files
        try await body.write(
            Self.reader { length in
                let pieces = collected.withLock { collected in
                    collected.count += 1
                    collected.bytes += length
                    return collected.count
                }
                #expect(length <= ImageDownloads.pieceLength && files.ranges.count == pieces)
            })
        #expect(collected.withLock { $0.bytes } == Self.file.count)
        #expect(files.ranges.map(\.count).reduce(0, +) == Self.file.count)
        #expect(zip(files.ranges, files.ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }

    /// Otherwise a slow reader could have many downloads at once.
    @Test func downloadCountsUntilItIsFinished() async throws {
        let desk = try await Desk(maximum: 20)
        @Sendable func client(_ number: Int) -> Client.Identity { .installation([UInt8(number)]) }
        var first: APIResponse? = try await desk.response(to: client(1))
        let second = try await desk.response(to: client(1))
        await #expect(throws: Problem.self) { try await desk.response(to: client(1)) }
        _ = try await desk.response(to: client(2))
        // A response whose body is never read.
        #expect(first != nil)
        first = nil
        // A response whose body is read.
        let body = try #require(second.pieces)
        try await body.write(
            Self.reader { _ in
                _ = try await desk.response(to: client(1))
                let other = try await desk.response(to: client(1))
                await #expect(throws: Problem.self) { try await desk.response(to: client(1)) }
                withExtendedLifetime(other) {}
            })
    }

    @Test func slowDownloadIsCutOff() async throws {
        let desk = try await Desk()
        let response = try await desk.response()
        let length = try #require(response.pieces?.length)
        let sent = ServerResponse(response, requestID: "a")
        #expect(sent.timeLimit == ImageDownloads.timeLimit(of: length))
        #expect(ImageDownloads.timeLimit(of: 0) == .seconds(30))
        #expect(ImageDownloads.timeLimit(of: 10 << 20) == .seconds(2_590))
    }

    @Test func oneClientCannotUseTheDownloadsOfAllTenants() async throws {
        let api = TestAPI()
        let image = try CardImage(file: Self.file, addedAt: Date(timeIntervalSince1970: 0))
        for number in 1...21 {
            _ = try await api.images.change(image.key, of: TenantID(number: UInt8(number)), by: "test") { _ in
                image
            }
        }
        let downloads = ImageDownloads(api.images, MemoryImageFiles(images: api.images))
        func response(_ tenant: UInt8, _ client: UInt8) async throws -> APIResponse {
            try await downloads.response(
                image.key, of: TenantID(number: tenant), to: .installation([client]), .none)
        }
        var running: [APIResponse] = []
        for tenant in 1...20 { running.append(try await response(UInt8(tenant), 1)) }
        await #expect(throws: Problem.self) { try await response(21, 1) }
        running.append(try await response(21, 2))
        withExtendedLifetime(running) {}
    }

    @Test func downloadOfDeletedImageIsCutOff() async throws {
        let desk = try await Desk()
        let body = try #require(try await desk.response().pieces)
        let files = desk.files
        await #expect(throws: Problem.self) {
            try await body.write(Self.reader { _ in files.delete() })
        }
        #expect(files.ranges.count == 2)
        await #expect(throws: Problem.self) { try await desk.response() }
    }
}

import Administration
import ArgumentParser
import Cards
import Foundation
import JSON
import Tenancy

struct ImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: "The images that a tenant's cards name by their SHA-256.",
        subcommands: [Create.self, List.self, Show.self, Delete.self])

    fileprivate static let columns = ["sha256", "mediaType", "byteCount", "addedAt"]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep an image, which cards can name from then on.",
            discussion: """
                PNG or JPEG of 1800 × 1200 pixels in RGB without transparency, at most 10 MiB: what else it is, it is \
                refused for. An image that is there already stays.
                """, aliases: ["add"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The image's file; - for standard input.", completion: .file()) var file: String

        func run() async throws {
            let bytes = try await InputFile(path: file).bytes(limit: HeaderImage.maximumByteCount) { _ in
                AdministrationError.invalidImage(.tooLarge)
            }
            let image = try CardImage(file: bytes, addedAt: Date())
            let kept = try await tenant.withItems(\.images) { try await $0.add(image) }
            output.print(kept.json, line: "Keeps image \(image.key)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a tenant's images.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let images = try await tenant.withItems(\.images) { try await $0.list() }
            output.print(images.map(\.json), columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show what an image is.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The SHA-256 of the image's file.") var digest: ImageDigest

        func run() async throws {
            let image = try await tenant.withItems(\.images) { try await $0.show(digest) }
            output.print(image.json, columns: columns)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an image that no card names.",
            discussion: "With --cascade the cards that name it name none any more.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var deletion: DeletionOptions
        @Argument(help: "The SHA-256 of the image's file.") var digest: ImageDigest

        func run() async throws {
            let counts = try await tenant.withItems(\.images) {
                try await $0.delete(digest, cascade: deletion.cascade)
            }
            output.printDeletion(of: "image", digest.description, counts)
        }
    }
}

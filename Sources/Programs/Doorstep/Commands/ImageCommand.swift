import Administration
import ArgumentParser
import Cards
import Formats
import Foundation
import ServerClient
import Tenancy

struct ImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: "Manage the images of a tenant's cards.",
        discussion: "Example: doorstep image list",
        subcommands: [Create.self, List.self, Show.self, Delete.self])

    fileprivate static let columns = ["sha256", "mediaType", "byteCount", "addedAt"]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Upload an image for cards.",
            discussion: """
                PNG or JPEG of 1800 × 1200 pixels in RGB without transparency, at most 10 MiB. Cards name an image \
                by its SHA-256. An image that exists already stays.

                Example: doorstep image create header.png
                """, aliases: ["add"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "File of the image; - for standard input.", completion: .file()) var file: String

        func run() async throws {
            let bytes = try await InputFile(path: file).bytes(limit: HeaderImage.maximumByteCount) { _ in
                AdministrationError.invalidImage(.tooLarge)
            }
            let image = try CardImage(file: bytes, addedAt: Date())
            let kept = try await tenant.withItems(CardImage.self) { try await $0.add(image) }
            output.print(kept.json, line: "Keeps image \(image.key)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List a tenant's images.",
            discussion: "Example: doorstep image list")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let images = try await tenant.withItems(CardImage.self) { try await $0.list() }
            output.print(images.map(\.json), columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show an image's properties.",
            discussion: "Example: doorstep image show SHA-256")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "SHA-256 of the image's file.") var digest: ImageDigest

        func run() async throws {
            let image = try await tenant.withItems(CardImage.self) { try await $0.show(digest) }
            output.print(image.json, columns: columns)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete an image that no card names.",
            discussion: """
                With --cascade, the image is also removed from the cards that name it.

                Example: doorstep image delete SHA-256
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var deletion: DeletionOptions
        @Argument(help: "SHA-256 of the image's file.") var digest: ImageDigest

        func run() async throws {
            let counts = try await tenant.withItems(CardImage.self) {
                try await $0.delete(digest, cascade: deletion.cascade)
            }
            output.printDeletion(of: "image", digest.description, counts)
        }
    }
}

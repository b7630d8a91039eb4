import Administration
import ArgumentParser
import Formats
import Foundation
import Invocation
import Persistence
import ServerClient
import Tenancy

extension DomainCommand {
    struct Content: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "content",
            abstract: "Manage additional content of a domain's association file.",
            discussion: """
                The server merges this content into the association file that it serves: webcredentials, \
                activitycontinuation, further applinks.details with their excludes, defaults and \
                substitutionVariables, and any other member. Content that conflicts with Doorstep's part is refused.

                Example: doorstep domain content set shop.example.com content.json
                """,
            subcommands: [Set.self, Show.self, Remove.self])

        struct Set: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "set",
                abstract: "Set a domain's additional content, a JSON object.",
                discussion: "Example: doorstep domain content set shop.example.com content.json")

            @OptionGroup var tenant: TenantOptions
            @OptionGroup var output: OutputOptions
            @Argument(help: "Domain.") var host: DomainName
            @Argument(
                help: "File with one JSON object of at most 32 KiB; - for standard input.",
                completion: .file())
            var file: String

            func run() async throws {
                let content = try await InputFile(path: file).associationContent()
                _ = try await tenant.withItems(DomainRecord.self) {
                    try await $0.update(host) { $0.with(content) }
                }
                let size = JSONValue.object(content.json).serialized().count
                output.print(
                    ["host": .string(host.text), "content": .object(content.json), "size": JSONValue(size)],
                    line: "Stored \(size) bytes for \(host)")
            }
        }

        struct Show: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "show",
                abstract: "Show a domain's additional content as JSON.",
                discussion: "Example: doorstep domain content show shop.example.com")

            @OptionGroup var tenant: TenantOptions
            @Argument(help: "Domain.") var host: DomainName

            func run() async throws {
                let record = try await tenant.withItems(DomainRecord.self) { try await $0.show(host) }
                guard let content = record.content else { throw CommandError.noDomainContent(host) }
                JSONValue.object(content.json).printPretty()
            }
        }

        struct Remove: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "remove",
                abstract: "Remove a domain's additional content.",
                discussion: "Example: doorstep domain content remove shop.example.com")

            @OptionGroup var tenant: TenantOptions
            @OptionGroup var output: OutputOptions
            @Argument(help: "Domain.") var host: DomainName

            func run() async throws {
                _ = try await tenant.withItems(DomainRecord.self) { domains in
                    try await domains.update(host) { record in
                        guard record.content != nil else { throw CommandError.noDomainContent(host) }
                        return record.with(nil)
                    }
                }
                output.print(["removed": .string(host.text)], line: "Removed the content of \(host)")
            }
        }
    }
}

extension InputFile {
    /// Reads a file up to the maximum size of association files, because a file may contain much white space.
    func associationContent() async throws -> AssociationContent {
        try AssociationContent(
            parsing: await bytes(limit: SiteAssociation.maximumSize) {
                AssociationContentError.tooLarge($0)
            })
    }
}

import Administration
import AppSiteAssociation
import ArgumentParser
import Foundation
import JSON
import Persistence
import Tenancy

extension DomainCommand {
    struct Content: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep what other services need in a domain's association file.",
            discussion: """
                What is kept is merged into the file that the server answers with: webcredentials, activitycontinuation, \
                further applinks.details with their excludes, defaults and substitutionVariables, and whatever else an \
                object holds. What contradicts Doorstep's part is refused by its path.
                """,
            subcommands: [Set.self, Show.self, Remove.self])

        struct Set: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Keep a JSON object with a domain, in the place of what was kept.")

            @OptionGroup var tenant: TenantOptions
            @OptionGroup var output: OutputOptions
            @Argument(help: "The domain.") var host: DomainName
            @Argument(
                help: "A file with one JSON object, of at most 32 KiB; - for standard input.",
                completion: .file())
            var file: String

            func run() async throws {
                let content = try await InputFile(path: file).associationContent()
                _ = try await tenant.withItems(\.domains) { try await $0.keep(content, with: host) }
                let size = JSONValue.object(content.json).serialized().count
                output.print(
                    ["host": .string(host.text), "content": .object(content.json), "size": JSONValue(size)],
                    line: "Kept \(size) bytes with \(host)")
            }
        }

        struct Show: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Show what is kept with a domain, as JSON.")

            @OptionGroup var tenant: TenantOptions
            @Argument(help: "The domain.") var host: DomainName

            func run() async throws {
                let record = try await tenant.withItems(\.domains) { try await $0.show(host) }
                guard let content = record.content else { throw CommandError.noDomainContent(host) }
                JSONValue.object(content.json).printPretty()
            }
        }

        struct Remove: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Keep nothing with a domain any more.")

            @OptionGroup var tenant: TenantOptions
            @OptionGroup var output: OutputOptions
            @Argument(help: "The domain.") var host: DomainName

            func run() async throws {
                _ = try await tenant.withItems(\.domains) { domains in
                    try await domains.update(host) { record in
                        guard record.content != nil else { throw CommandError.noDomainContent(host) }
                        return record.with(nil)
                    }
                }
                output.print(["removed": .string(host.text)], line: "Removed what was kept with \(host)")
            }
        }
    }
}

extension InputFile {
    /// Reads a file as large as any association file may be, so that one with much white space is taken too.
    func associationContent() async throws -> AssociationContent {
        try AssociationContent(
            parsing: await bytes(limit: SiteAssociation.maximumSize) {
                AssociationContentError.tooLarge($0)
            })
    }
}

import Administration
import ArgumentParser
import Invocation
import JSON
import Persistence
import ServerClient
import Tenancy

struct CodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code",
        abstract: "Manage short codes; export App Clip Codes and QR codes; estimate whether URLs fit.",
        discussion: """
            A short code stands for a longer URL; the identifier rule hash:NAME reads it.

            Example: doorstep code list
            """,
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Import.self, Export.self, Fit.self,
            MeasureHost.self,
        ])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a short code.",
            discussion: "Example: doorstep code create d42 --url https://appclip.example.com/shop/42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Short code.") var code: String
        @Option(help: "URL that the code stands for.") var url: String

        func run() async throws {
            try code.requireVisibleEdges(in: "code")
            let record = try ShortCode(code: code, url: InvocationURL(url))
            try await tenant.withItems(ShortCode.self) { try await $0.create(record) }
            output.print(record.json, line: "Created short code \(code)")
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import short codes: all rows or none.",
            discussion: """
                The first line names the columns: code, url. A code that exists already is changed.

                Example: doorstep code import codes.csv --dry-run
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var file: ImportFile

        func run() async throws {
            let outcome = try await file.reading { chunks, options in
                try await tenant.withItems(ShortCode.self) { try await $0.importTable(chunks, options) }
            }
            try file.report(outcome, output)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List a tenant's short codes by code.",
            discussion: "Example: doorstep code list --limit 20")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Only codes after this one.") var after: String?
        @Option(help: "Maximum number of codes.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            let codes = try await tenant.withItems(ShortCode.self) {
                try await $0.list(after: after, limit: limit)
            }
            output.print(codes.map(\.json), columns: ShortCode.tableColumns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a short code.",
            discussion: "Example: doorstep code show d42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Short code.") var code: String

        func run() async throws {
            let record = try await tenant.withItems(ShortCode.self) { try await $0.show(code) }
            output.print(record.json, columns: ShortCode.tableColumns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the URL of a short code.",
            discussion: "Example: doorstep code update d42 --url https://appclip.example.com/shop/43")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Short code.") var code: String
        @Option(help: "URL that the code stands for.") var url: String

        func run() async throws {
            let record = try ShortCode(code: code, url: InvocationURL(url))
            _ = try await tenant.withItems(ShortCode.self) { codes in
                try await codes.update(code) { _ in record }
            }
            output.print(record.json, line: "Updated short code \(code)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a short code.",
            discussion: "Example: doorstep code delete d42")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Short code.") var code: String

        func run() async throws {
            _ = try await tenant.withItems(ShortCode.self) { try await $0.delete(code) }
            output.printDeletion(of: "short code", code)
        }
    }
}

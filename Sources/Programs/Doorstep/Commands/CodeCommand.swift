import Administration
import ArgumentParser
import JSON
import Tenancy

struct CodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code",
        abstract: "Import and list a tenant's short codes, and export its App Clip Codes.",
        discussion: "Short codes stand for longer URLs; the identifier rule hash:NAME reads them.",
        subcommands: [Import.self, List.self, Export.self])

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import short codes: all rows or none.",
            discussion: """
                The first line names the columns: code, url. A code that is there already is changed to what the \
                file says.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var file: ImportFile

        func run() async throws {
            let outcome = try await tenant.withTenant { store, tenant in
                try await store.importShortCodes(of: tenant.id) { try await file.feed($0) }
            }
            try file.report(outcome, output)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a tenant's short codes by code.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Begin after this code.") var after: String?
        @Option(help: "How many, at most.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more") }
        }

        func run() async throws {
            let codes = try await tenant.withTenant { store, tenant in
                try await store.shortCodes(of: tenant.id, after: after, limit: limit)
            }
            output.print(codes.map { JSONObject($0) }, columns: ["code", "url"])
        }
    }
}

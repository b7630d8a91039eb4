import Administration
import AppAttest
import ArgumentParser
import Confirmations
import Formats
import Foundation
import Invocation
import Persistence
import Receipts
import ServerClient
import Tenancy

struct ConfirmationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirmation",
        abstract: "Read a tenant's confirmations: list, count, export.",
        discussion: """
            Confirmations are stored without coordinates, for the days of 'doorstep serve --confirmation-retention'. \
            Days are in UTC.

            Example: doorstep confirmation count
            """,
        subcommands: [List.self, Count.self, Export.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List confirmations, the newest first.",
            discussion: "Example: doorstep confirmation list --limit 20")

        @OptionGroup var confirmations: ConfirmationOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of confirmations.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            let records = try await confirmations.tenant.withAPI { api in
                try await api.list("/v1/confirmations", limit: limit, where: confirmations.filter)
            }
            output.print(
                records, columns: ["minute", "location", "outcome", "source", "attestation"])
        }
    }

    struct Count: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "count",
            abstract: "Count confirmations by day and outcome, the newest day first.",
            discussion: "Example: doorstep confirmation count --from 2026-03-01 --to 2026-03-31")

        @OptionGroup var confirmations: ConfirmationOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let counts = try await confirmations.tenant.withAPI { api in
                try await api.data("/v1/confirmations/summary", confirmations.filter)
            }
            output.print(
                counts,
                columns: ["day"] + Confirmation.Outcome.allCases.map(\.rawValue) + ["total"])
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write confirmations as CSV to standard output, the oldest first.",
            discussion:
                """
                Columns: minute, location, outcome, source, id, attestation. The command streams the rows.

                Example: doorstep confirmation export --day 2026-03-01 > confirmations.csv
                """
        )

        @OptionGroup var confirmations: ConfirmationOptions
        @OptionGroup var spreadsheet: SpreadsheetOptions

        func run() async throws {
            let output = FileHandle.standardOutput
            var writer = CSVWriter(forSpreadsheets: spreadsheet.isForSpreadsheets) {
                try output.write(contentsOf: Data($0))
            }
            try writer.append(Self.columns)
            try await confirmations.tenant.withAPI { api in
                try await api.eachPage(
                    "/v1/confirmations", where: [("order", "oldest")] + confirmations.filter
                ) { page in
                    for confirmation in page {
                        try writer.append(Self.columns.map { confirmation[$0]?.stringValue ?? "" })
                    }
                }
            }
            try writer.finish()
        }

        private static let columns = ["minute", "location", "outcome", "source", "id", "attestation"]
    }
}

/// The tenant and the selection of its confirmations or statistics.
struct ConfirmationOptions: ParsableArguments {
    @OptionGroup var tenant: TenantOptions
    @OptionGroup var days: DayOptions
    @Option(help: "A location's identifier.") var location: LocationIdentifier?

    /// The query that selects the confirmations, or the statistics.
    var filter: [(String, String)] {
        let days = [("from", (days.day ?? days.from)?.text), ("to", (days.day ?? days.to)?.text)]
        return (days + [("location", location?.text)]).compactMap { name, value in value.map { (name, $0) } }
    }
}

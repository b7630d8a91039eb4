import Administration
import ArgumentParser
import Confirmations
import Formats
import Foundation
import ServerClient

struct StatisticsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statistics",
        abstract: "Count lookups, confirmations, launch reports and deliveries: list, export.",
        discussion: """
            Counts are by day of UTC, location, source or experience. They contain no person and no coordinate. Servers \
            write the counts of lookups and launch reports every ten seconds.

            Example: doorstep statistics list --by location
            """,
        subcommands: [List.self, Export.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List counts by day, location, source or experience.",
            discussion: "Example: doorstep statistics list --from 2026-03-01 --to 2026-03-31")

        @OptionGroup var selection: ConfirmationOptions
        @OptionGroup var grouping: GroupingOption
        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of rows.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            let rows = try await selection.tenant.withAPI { api in
                try await api.list("/v1/statistics", limit: limit, where: grouping.query + selection.filter)
            }
            output.print(rows, columns: grouping.columns)
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write counts as CSV to standard output.",
            discussion: """
                The first column is the day, location, source or experience. The others: lookups, confirmations, inRegion, \
                launchReports, delivered. A cell is empty if these events have no such attribute.

                Example: doorstep statistics export --by location --day 2026-03-01 > statistics.csv
                """)

        @OptionGroup var selection: ConfirmationOptions
        @OptionGroup var grouping: GroupingOption
        @OptionGroup var spreadsheet: SpreadsheetOptions

        func run() async throws {
            let output = FileHandle.standardOutput
            var writer = CSVWriter(forSpreadsheets: spreadsheet.isForSpreadsheets) {
                try output.write(contentsOf: Data($0))
            }
            try writer.append(grouping.columns)
            try await selection.tenant.withAPI { api in
                try await api.eachPage("/v1/statistics", where: grouping.query + selection.filter) { page in
                    for row in page {
                        try writer.append(grouping.columns.map { row[$0].flatMap(\.cell) ?? "" })
                    }
                }
            }
            try writer.finish()
        }
    }
}

/// The attribute by which a command groups counts.
struct GroupingOption: ParsableArguments {
    @Option(help: "Group the counts by day, location, source or experience.") var by = StatisticsGrouping.day

    fileprivate var query: [(String, String)] { [("by", by.rawValue)] }

    fileprivate var columns: [String] {
        [by.rawValue, "lookups", "confirmations", "inRegion", "launchReports", "delivered"]
    }
}

extension JSONValue {
    /// Nil for null.
    fileprivate var cell: String? { self == .null ? nil : stringValue ?? text }
}

import ArgumentParser

/// Whether a table is written for a spreadsheet.
struct SpreadsheetOptions: ParsableArguments {
    @Flag(
        name: .customLong("spreadsheet-safe"),
        help: ArgumentHelp(
            "Put an apostrophe before each cell that a spreadsheet would read as a formula.",
            discussion: """
                Such a cell begins with =, +, -, @, a tab or a line break, and is not a plain number. Without this \
                option the cells are exported as stored, which an import needs.
                """))
    var isForSpreadsheets = false
}

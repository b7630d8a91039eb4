import Administration
import ArgumentParser
import Formats
import Foundation

/// The format of the output: tables for people, JSON for scripts. Responses of the API and new keys are always JSON.
struct OutputOptions: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
    }

    @Option(help: "Output format.")
    var format = Format.table

    /// Prints rows. The table shows the named members.
    func print(_ rows: [JSONObject], columns: [String]) {
        switch format {
        case .json: JSONValue.array(rows.map(JSONValue.object)).printPretty()
        case .table: Swift.print(Table(rows, columns: columns))
        }
    }

    /// Prints one row in the format of rows.
    func print(_ row: JSONObject, columns: [String]) {
        switch format {
        case .json: JSONValue.object(row).printPretty()
        case .table: print([row], columns: columns)
        }
    }

    /// Prints the deleted item and its deleted dependents.
    /// - Parameter counts: The number of rows by relation. The last one is the relation of the item.
    func printDeletion(of noun: String, _ name: String, _ counts: [RowCount] = []) {
        var rows = JSONObject()
        for count in counts { rows[count.relation] = JSONValue(count.count) }
        var object: JSONObject = ["deleted": .string(name)]
        if !counts.isEmpty { object["rows"] = .object(rows) }
        let others = counts.dropLast().map { " and \($0)" }.joined()
        print(object, line: "Deleted \(noun) \(name)\(others)")
    }

    /// Prints rows. The table has its own texts.
    func print(_ rows: [JSONObject], tableRows: [JSONObject], columns: [String]) {
        print(format == .json ? rows : tableRows, columns: columns)
    }

    /// Prints a note on standard error.
    func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// Prints the result: the object, or one line.
    func print(_ object: JSONObject, line: String) {
        switch format {
        case .json: JSONValue.object(object).printPretty()
        case .table: Swift.print(line)
        }
    }
}

extension JSONValue {
    func printPretty() {
        Swift.print(prettyPrinted())
    }
}

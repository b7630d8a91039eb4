import ArgumentParser
import JSON

/// Tables for people, JSON for scripts.
struct OutputOptions: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
    }

    @Option(help: "How to print.")
    var format = Format.table

    /// Prints rows, of which the table shows the named members.
    func print(_ rows: [JSONObject], columns: [String]) {
        switch format {
        case .json: JSONValue.array(rows.map(JSONValue.object)).printPretty()
        case .table: Swift.print(Table(rows, columns: columns))
        }
    }

    /// Prints what was done: the object, or one line.
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

import ArgumentParser
import Formats

struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "List all settings, with their variables and defaults.",
        discussion: """
            A flag wins over the environment, and the environment over the default.

            Example: doorstep settings --format markdown
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
        /// The table of the guide.
        case markdown
    }

    @Option(help: "Output format.") var format = Format.table

    func run() {
        let rows = Settings.all.map(\.row)
        switch format {
        case .table: print(Table(rows, columns: ["flag", "environment", "default", "help"]))
        case .json: JSONValue.array(rows.map(JSONValue.object)).printPretty()
        case .markdown:
            print("| flag | environment | default | |\n| --- | --- | --- | --- |")
            for setting in Settings.all { print(setting.markdown) }
        }
    }
}

extension SettingDescription {
    fileprivate var row: JSONObject {
        [
            "flag": flag.map { .string("--\($0)") } ?? .null,
            "environment": variable.map(JSONValue.string) ?? .null,
            "default": standard.map(JSONValue.string) ?? .null, "help": .string(text),
        ]
    }

    fileprivate var markdown: String {
        let flag = flag.map { "`--\($0)\(placeholder.map { " " + $0.uppercased() } ?? "")`" }
        let cells = [flag, variable.map { "`\($0)`" }, standard.map { "`\($0)`" }, text]
        return "|" + cells.map { $0.map { " \($0) |" } ?? " |" }.joined()
    }
}

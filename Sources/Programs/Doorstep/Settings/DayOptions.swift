import ArgumentParser
import Formats
import Foundation

/// The days that a command selects; all days if none is named.
struct DayOptions: ParsableArguments {
    @Option(help: "One day in UTC, such as 2026-03-01.") var day: Day?
    @Option(help: "First day in UTC.") var from: Day?
    @Option(help: "Last day in UTC.") var to: Day?

    func validate() throws {
        guard day == nil || (from == nil && to == nil) else {
            throw ValidationError("--day excludes --from and --to")
        }
        if let from, let to, from.start > to.start { throw ValidationError("--from must not be after --to") }
    }
}

/// A day of UTC.
struct Day: ExpressibleByArgument {
    let start: Date
    /// The text of the argument.
    var text: String { String(start.rfc3339.prefix(10)) }

    init?(argument: String) {
        guard let start = Date(rfc3339: argument + "T00:00:00Z") else { return nil }
        self.start = start
    }
}

import Administration
import ArgumentParser
import Foundation
import JSON

/// The CSV file of an import.
struct ImportFile: ParsableArguments {
    @Argument(help: "A CSV file; - for standard input.")
    var file: String

    /// Lends the file's rows, showing how far they are read.
    func withRows<Row: ImportableRow, Result>(
        _ body: (TableRows<Row>) async throws -> Result
    ) async throws -> Result {
        try await InputFile(path: file).reading { try await body(TableRows($0)) }
    }

    /// Says what was done, or names every bad row on standard error: the first hundred, then a count.
    func report(_ outcome: ImportOutcome, _ output: OutputOptions) throws {
        switch outcome {
        case .done(let counts):
            output.print(
                counts.json,
                line: "\(counts.added) added, \(counts.changed) changed, \(counts.unchanged) unchanged")
        case .refused(let problems):
            throw problems.reported(of: file)
        }
    }
}

extension ImportProblems {
    /// Names every bad line of a file on standard error; returns the error to end with.
    func reported(of file: String) -> CommandError {
        report { "\(file):\($0.line): \($0.reason)" }
        return .importRefused(self)
    }

    /// Writes what is wrong to standard error: the first hundred, then a count.
    func report(_ text: (ImportProblem) -> String) {
        var lines = first.map(text)
        if count > first.count { lines.append("and \(count - first.count) more") }
        FileHandle.standardError.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}

import Administration
import ArgumentParser
import Foundation
import JSON

/// The CSV file of an import.
struct ImportFile: ParsableArguments {
    @Argument(help: "A CSV file; - for standard input.")
    var file: String

    /// Reads the file into a sink, showing how far it is.
    func feed<Row: ImportableRow>(_ sink: any RowSink<Row>) async throws -> ImportProblems {
        try await InputFile(path: file).reading { source in
            try await TableImport<Row>(source).feed(sink) { _ in }
        }
    }

    /// Says what was done, or names every bad row on standard error: the first hundred, then a count.
    func report(_ outcome: ImportOutcome, _ output: OutputOptions) throws {
        switch outcome {
        case .done(let counts):
            output.print(
                JSONObject(counts),
                line: "\(counts.added) added, \(counts.changed) changed, \(counts.unchanged) unchanged")
        case .refused(let problems):
            throw problems.reported(of: file)
        }
    }
}

extension ImportProblems {
    /// Names every bad line of a file on standard error, the first hundred and then a count; returns the error to end with.
    func reported(of file: String) -> CommandError {
        var text = first.map { "\(file):\($0.line): \($0.reason)\n" }.joined()
        if count > first.count { text += "and \(count - first.count) more\n" }
        FileHandle.standardError.write(Data(text.utf8))
        return .importRefused(self)
    }
}

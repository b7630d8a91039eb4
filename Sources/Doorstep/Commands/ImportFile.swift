import Administration
import ArgumentParser
import Foundation
import JSON

/// The CSV file of an import.
struct ImportFile: ParsableArguments {
    @Argument(help: "A CSV file; - for standard input.")
    var file: String

    private static let chunkLength = 1 << 18

    /// Reads the file into a sink, showing how far it is.
    func feed<Row: ImportableRow>(_ sink: any RowSink<Row>) async throws -> ImportProblems {
        let handle = try open()
        let bar = ProgressBar(total: file == "-" ? nil : try Self.length(of: file))
        defer { bar.finish() }
        let source = TableImport<Row> {
            do {
                let chunk = try handle.read(upToCount: Self.chunkLength) ?? Data()
                return chunk.isEmpty ? nil : Array(chunk)
            } catch {
                throw CommandError.unreadableFile(file)
            }
        }
        return try await source.feed(sink) { bar.update($0) }
    }

    /// Says what was done, or names every bad row on standard error: the first hundred, then a count.
    func report(_ outcome: ImportOutcome, _ output: OutputOptions) throws {
        switch outcome {
        case .done(let counts):
            output.print(
                JSONObject(counts),
                line: "\(counts.added) added, \(counts.changed) changed, \(counts.unchanged) unchanged")
        case .refused(let problems):
            var text = problems.first.map { "\(file):\($0.line): \($0.reason)\n" }.joined()
            if problems.count > problems.first.count {
                text += "and \(problems.count - problems.first.count) more\n"
            }
            FileHandle.standardError.write(Data(text.utf8))
            throw CommandError.importRefused(problems)
        }
    }

    private func open() throws(CommandError) -> FileHandle {
        if file == "-" { return .standardInput }
        guard let handle = FileHandle(forReadingAtPath: file) else { throw .unreadableFile(file) }
        return handle
    }

    private static func length(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }
}

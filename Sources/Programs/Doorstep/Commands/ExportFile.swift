import ArgumentParser
import Foundation
import Platform

/// The destination of an export.
struct ExportFile: ParsableArguments {
    @Option(help: "File to write, readable by its owner only; - for standard output.", completion: .file())
    var output = "-"

    /// Runs the closure with a sink for the bytes.
    ///
    /// The file replaces the old one only after it was written completely. A device or a pipe is written directly.
    func writing<Result>(
        _ body: (@escaping ([UInt8]) throws -> Void) async throws -> Result
    ) async throws
        -> Result
    {
        guard output != "-" else {
            return try await body { try FileHandle.standardOutput.write(contentsOf: Data($0)) }
        }
        if let device = try device() {
            let result = try await body { bytes in
                do { try device.write(contentsOf: Data(bytes)) } catch {
                    throw CommandError.unwritableFile(output)
                }
            }
            try device.close()
            return result
        }
        var file: UnfinishedFile
        do { file = try UnfinishedFile(for: output) } catch { throw CommandError.unwritableFile(output) }
        let handle = file.handle
        let result = try await body { bytes in
            do { try handle.write(contentsOf: Data(bytes)) } catch {
                throw CommandError.unwritableFile(output)
            }
        }
        do { try file.putInPlace() } catch { throw CommandError.unwritableFile(output) }
        return result
    }

    /// Whether the path is a device or a pipe, such as `/dev/null`, which must be written to and not replaced.
    private func device() throws(CommandError) -> FileHandle? {
        guard let status = FileStatus(path: output), !status.isRegularFile else { return nil }
        let descriptor = open(output, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unwritableFile(output) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes texts to numbered files in one folder, all or none.
    ///
    /// Existing files are not replaced.
    /// - Throws: `CommandError.invalidOption` if no file is named, `.fileExists` with the first file that exists.
    func writeNumbered(_ texts: some Collection<[UInt8]>) throws(CommandError) {
        guard output != "-", FileStatus(path: output)?.isRegularFile != false else {
            throw .invalidOption(
                "--output", "the list takes \(texts.count) files; name them, such as codes.csv")
        }
        do {
            var files = UnfinishedFiles()
            for (number, text) in zip(1..., texts) { try files.write(text, for: numbered(number)) }
            try files.putInPlace()
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw .fileExists(error.filePath ?? output)
        } catch {
            throw .unwritableFile(output)
        }
    }

    /// The name of one of several files: `codes-0001.csv` for the first file of `codes.csv`.
    func numbered(_ number: Int) -> String {
        let digits = String(number)
        let suffix = "-" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let start = output.lastIndex(of: "/").map(output.index(after:)) ?? output.startIndex
        guard let dot = output.lastIndex(of: "."), dot > start else { return output + suffix }
        return output[..<dot] + suffix + output[dot...]
    }

    /// Prints a line to standard error.
    func note(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    /// Prints how much was written, unless the export itself goes to standard output.
    func note(_ count: Int, _ noun: String) {
        guard output != "-" else { return }
        note("\(count) \(noun)\(count == 1 ? "" : "s") in \(output)")
    }
}

import ArgumentParser
import Foundation
import Platform

/// Where an export is written.
struct ExportFile: ParsableArguments {
    @Option(help: "The file to write, for its owner alone; - for standard output.", completion: .file())
    var output = "-"

    /// Lends a sink for the bytes.
    ///
    /// A file is put in its place when all of it is written, and whatever happens before that, what was there stays. A
    /// device or a pipe stays what it is.
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

    /// What is no file, such as `/dev/null` or a pipe: to be written to, since another file must not take its place.
    private func device() throws(CommandError) -> FileHandle? {
        guard let status = FileStatus(path: output), !status.isRegularFile else { return nil }
        let descriptor = open(output, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unwritableFile(output) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Says how much was written, where that is not in its midst.
    func note(_ count: Int, _ noun: String) {
        guard output != "-" else { return }
        FileHandle.standardError.write(Data("\(count) \(noun)\(count == 1 ? "" : "s") in \(output)\n".utf8))
    }
}

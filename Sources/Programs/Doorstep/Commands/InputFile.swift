import Foundation

/// A file or standard input that is read piece by piece, with a progress bar.
struct InputFile {
    /// The path; `-` is standard input.
    let path: String

    private static let chunkLength = 1 << 18

    /// Runs the closure with the file as a source of pieces, which returns nil at the end.
    func reading<Result>(
        _ body: (@escaping @Sendable () throws -> [UInt8]?) async throws -> Result
    ) async throws -> Result {
        let handle = try open()
        let bar = ProgressBar(total: path == "-" ? nil : try length())
        defer { bar.finish() }
        let path = path
        return try await body {
            do {
                let chunk = try handle.read(upToCount: Self.chunkLength) ?? Data()
                bar.advance(by: chunk.count)
                return chunk.isEmpty ? nil : Array(chunk)
            } catch {
                throw CommandError.unreadableFile(path)
            }
        }
    }

    /// The content of a file with a maximum length.
    /// - Parameter refusal: Makes the error for a longer file from the number of bytes that were read.
    func bytes(limit: Int, _ refusal: @Sendable (Int) -> any Error) async throws -> [UInt8] {
        try await reading { source in
            var bytes: [UInt8] = []
            while let more = try source() {
                bytes += more
                guard bytes.count <= limit else { throw refusal(bytes.count) }
            }
            return bytes
        }
    }

    private func open() throws(CommandError) -> FileHandle {
        if path == "-" { return .standardInput }
        guard let handle = FileHandle(forReadingAtPath: path) else { throw .unreadableFile(path) }
        return handle
    }

    private func length() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }
}

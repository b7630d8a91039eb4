import Foundation

/// A file that is read piece by piece, or standard input, with a bar that shows how far it is.
struct InputFile {
    /// `-` is standard input.
    let path: String

    private static let chunkLength = 1 << 18

    /// Lends the file as a source of pieces, which gives nil at the end.
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

    /// All of a file that may have so many bytes.
    /// - Parameter refusal: of a longer one, given how much of it was read.
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

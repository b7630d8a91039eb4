import Dispatch
import Foundation
import HTTPTypes

/// A long body that has arrived completely, stored in a file without a name. While it arrives, a slow client occupies only a file,
/// and no database connection.
///
/// Each iterator reads the body from the beginning. Throws the problem `insufficient_storage` if the file cannot be read.
struct SpooledBody: AsyncSequence, Sendable {
    private let file: File

    /// The folders for the file: `TMPDIR`, otherwise folders with room for large files.
    static let directories =
        ProcessInfo.processInfo.environment["TMPDIR"].map { [$0] } ?? ["/var/tmp", "/tmp"]

    /// Writes a body to a file while it arrives.
    /// - Parameter directories: The file is in the first of these folders in which it can be created.
    /// - Throws: The problem `insufficient_storage` if the file cannot be created or written; the errors of the upload.
    init(_ upload: Upload, in directories: [String] = directories) async throws {
        file = try File(in: directories)
        // Received pieces are small, and each write waits for the disk's thread. Therefore the pieces are collected.
        var gathered: [UInt8] = []
        for try await piece in upload {
            gathered += piece
            guard gathered.count >= File.pieceLength else { continue }
            try await file.append(gathered)
            gathered.removeAll(keepingCapacity: true)
        }
        if !gathered.isEmpty { try await file.append(gathered) }
    }

    func makeAsyncIterator() -> Iterator { Iterator(file: file) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let file: File
        private var offset = 0

        fileprivate init(file: File) {
            self.file = file
        }

        mutating func next() async throws -> [UInt8]? {
            let piece = try await file.read(at: offset)
            offset += piece.count
            return piece.isEmpty ? nil : piece
        }
    }

    /// A file with its own thread, so that waiting for the disk does not block responses.
    fileprivate final class File: Sendable {
        private let descriptor: CInt
        private let queue = DispatchQueue(label: "doorstep.spooled-body")

        /// The bytes of one write or read. [ours]
        static let pieceLength = 262_144

        init(in directories: [String]) throws(Problem) {
            for directory in directories {
                // The name cannot be guessed. O_EXCL never opens an existing file; O_CLOEXEC keeps the file from child processes.
                let path = "\(directory)/doorstep-body-\(UUID().uuidString)"
                let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else { continue }
                unlink(path)
                self.descriptor = descriptor
                return
            }
            throw .bodyNotKept(errno)
        }

        deinit { close(descriptor) }

        func append(_ piece: [UInt8]) async throws {
            try await run { descriptor in
                var rest = piece[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                    if count >= 0 {
                        rest = rest.dropFirst(count)
                    } else if errno != EINTR {
                        throw Problem.bodyNotKept(errno)
                    }
                }
            }
        }

        func read(at offset: Int) async throws -> [UInt8] {
            try await run { descriptor in
                try [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, count in
                    while true {
                        let length = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                        if length >= 0 {
                            count = length
                            return
                        }
                        guard errno == EINTR else { throw Problem.bodyNotKept(errno) }
                    }
                }
            }
        }

        private func run<Result: Sendable>(
            _ body: @escaping @Sendable (CInt) throws -> Result
        ) async throws -> Result {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Swift.Result { try body(self.descriptor) }) }
            }
        }
    }
}

extension Problem {
    fileprivate static func bodyNotKept(_ code: CInt) -> Problem {
        Problem(
            .serviceUnavailable, "insufficient_storage",
            "the server cannot store the body in a file: \(String(cString: strerror(code)))",
            headers: [.retryAfter: "60"])
    }
}

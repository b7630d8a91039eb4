import Dispatch
import Foundation
import HTTPTypes

/// A long body that has come whole, in a file without a name: whoever sends it slowly holds a file open, and nothing that
/// others wait for.
///
/// Each iterator reads it from the beginning. Throws a problem, `insufficient_storage`, where the file cannot be read.
struct SpooledBody: AsyncSequence, Sendable {
    private let file: File

    /// Where the file is made: in `TMPDIR`, else where there is room for what is large.
    static let directories =
        ProcessInfo.processInfo.environment["TMPDIR"].map { [$0] } ?? ["/var/tmp", "/tmp"]

    /// Takes a body while it comes.
    /// - Parameter directories: the first in which a file can be made has it.
    /// - Throws: A problem: `insufficient_storage` where the file cannot be made or written, and what the upload throws.
    init(_ upload: Upload, in directories: [String] = directories) async throws {
        file = try File(in: directories)
        // A connection is read a little at a time, and each write is a wait for the disk's thread.
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

    /// A disk makes a thread wait, which is none of those that answer others.
    fileprivate final class File: Sendable {
        private let descriptor: CInt
        private let queue = DispatchQueue(label: "doorstep.spooled-body")

        /// How much is written or read at once, in bytes. [ours]
        static let pieceLength = 262_144

        init(in directories: [String]) throws(Problem) {
            for directory in directories {
                // A name that nobody foresees, or else a file that was there; and no program that is started meanwhile has it.
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

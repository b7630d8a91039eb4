import Foundation
import HTTPAPI

/// The file that holds the keys for receipts, and that nobody reads but its owner and its group.
struct ReceiptKeyFile {
    let path: String

    /// Tells one state of the file from another.
    struct Version: Hashable {
        private let device: dev_t
        private let file: ino_t
        private let seconds: Int
        private let nanoseconds: Int
        private let length: off_t

        fileprivate init(_ status: stat) {
            device = status.st_dev
            file = status.st_ino
            seconds = Int(status.st_mtim.tv_sec)
            nanoseconds = Int(status.st_mtim.tv_nsec)
            length = status.st_size
        }
    }

    private static let maximumLength = 65_536

    /// Reads the file.
    /// - Parameter known: A version that need not be read again.
    /// - Returns: Nil when the file is that version still.
    /// - Throws: `CommandError` for a file that cannot be read or that others can, `ReceiptKeyError` for what it holds.
    func read(unlessVersionIs known: Version? = nil) throws -> (keys: ReceiptKeySet, version: Version)? {
        guard let file = FileHandle(forReadingAtPath: path) else { throw CommandError.unreadableFile(path) }
        defer { try? file.close() }
        // Of the file that is open, whatever its name stands for by now.
        var status = stat()
        guard fstat(file.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandError.unreadableFile(path)
        }
        let version = Version(status)
        if version == known { return nil }
        // A group may read it, since that is how secrets reach a container.
        guard status.st_mode & 0o027 == 0 else { throw CommandError.exposedFile(path) }
        guard let text = try? file.read(upToCount: Self.maximumLength), text.count < Self.maximumLength else {
            throw CommandError.unreadableFile(path)
        }
        return (try ReceiptKeySet(parsing: Array(text)), version)
    }

    /// The keys in the file.
    func keys() throws -> ReceiptKeySet {
        guard let read = try read() else { throw CommandError.unreadableFile(path) }
        return read.keys
    }

    /// Makes the file.
    /// - Throws: `CommandError.fileExists` when there is one already.
    func create(_ keys: ReceiptKeySet) throws {
        // Not renamed into its place, since that would replace a file that somebody else has just made.
        try write(keys, to: path) { $0 == EEXIST ? .fileExists(path) : .unwritableFile(path) }
    }

    /// Puts other keys into the file: all of them or, whatever happens, those before. Its mode stays.
    func replace(by keys: ReceiptKeySet) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw CommandError.unreadableFile(path) }
        let unfinished = "\(path).\(getpid()).unfinished"
        unlink(unfinished)
        do {
            try write(keys, to: unfinished) { _ in .unwritableFile(path) }
            // Who may read the one may read the other.
            guard chown(unfinished, status.st_uid, status.st_gid) == 0,
                chmod(unfinished, status.st_mode & 0o750) == 0, rename(unfinished, path) == 0
            else { throw CommandError.unwritableFile(path) }
        } catch {
            unlink(unfinished)
            throw error
        }
    }

    private func write(
        _ keys: ReceiptKeySet, to path: String, failure: (Int32) -> CommandError
    ) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(keys.serialized()))
            try file.synchronize()
            try file.close()
        } catch {
            unlink(path)
            throw failure(EIO)
        }
    }
}

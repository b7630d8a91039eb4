import Foundation
import Platform
import Receipts

/// The file with the keys for receipts, readable only by its owner and its group.
struct ReceiptKeyFile {
    let path: String

    /// Reads the file.
    /// - Parameter known: The version that is in use.
    /// - Returns: Nil if the file has not changed.
    /// - Throws: `CommandError` if the file cannot be read or other users can read it, `ReceiptKeyError` for invalid content.
    func read(
        unlessVersionIs known: FileStatus? = nil
    ) throws -> (keys: ReceiptKeySet, version: FileStatus)? {
        guard let read = try SecretFile(path: path).read(unlessVersionIs: known) else { return nil }
        return (try ReceiptKeySet(parsing: read.bytes), read.version)
    }

    /// The keys in the file.
    func keys() throws -> ReceiptKeySet {
        guard let read = try read() else { throw CommandError.unreadableFile(path) }
        return read.keys
    }

    /// Creates the file.
    /// - Throws: `CommandError.fileExists` if it exists already.
    func create(_ keys: ReceiptKeySet) throws {
        // The file is created at its final path, because a rename would replace a file that another process has just created.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == EEXIST ? CommandError.fileExists(path) : .unwritableFile(path)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(keys.serialized()))
            try file.synchronize()
            try file.close()
        } catch {
            unlink(path)
            throw CommandError.unwritableFile(path)
        }
    }

    /// Replaces the keys in the file atomically. The permissions stay.
    func replace(by keys: ReceiptKeySet) throws {
        guard let status = FileStatus(path: path) else { throw CommandError.unreadableFile(path) }
        do {
            var file = try UnfinishedFile(for: path)
            try file.handle.write(contentsOf: Data(keys.serialized()))
            // A user who may read the old file may read the new one.
            try file.share(as: status, mask: 0o750)
            try file.putInPlace()
        } catch {
            throw CommandError.unwritableFile(path)
        }
    }
}

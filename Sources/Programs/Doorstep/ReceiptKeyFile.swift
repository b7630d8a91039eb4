import Foundation
import Platform
import Receipts

/// The file with the keys for receipts, readable only by its owner and its group.
struct ReceiptKeyFile {
    let path: String

    /// Reads the file.
    /// - Parameter known: A version that need not be read again.
    /// - Returns: Nil when the file is that version still.
    /// - Throws: `CommandError` for a file that cannot be read or that others can read, `ReceiptKeyError` for invalid content.
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

    /// Makes the file.
    /// - Throws: `CommandError.fileExists` when there is one already.
    func create(_ keys: ReceiptKeySet) throws {
        // Not renamed, because that would replace a file that another process has just made.
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

    /// Puts other keys into the file: all of them or, whatever happens, those before. Its mode stays.
    func replace(by keys: ReceiptKeySet) throws {
        guard let status = FileStatus(path: path) else { throw CommandError.unreadableFile(path) }
        do {
            var file = try UnfinishedFile(for: path)
            try file.handle.write(contentsOf: Data(keys.serialized()))
            // A user who may read one may read the other.
            try file.share(as: status, mask: 0o750)
            try file.putInPlace()
        } catch {
            throw CommandError.unwritableFile(path)
        }
    }
}

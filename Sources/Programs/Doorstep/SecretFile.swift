import Foundation
import Platform

/// A file with secrets, readable only by its owner and its group.
struct SecretFile {
    let path: String

    /// The maximum length in bytes.
    private static let maximumLength = 65_536

    /// Reads the file.
    /// - Parameter known: The version that is in use.
    /// - Returns: Nil if the file has not changed.
    /// - Throws: `CommandError` if the file cannot be read or other users can read it.
    func read(
        unlessVersionIs known: FileStatus? = nil
    ) throws(CommandError) -> (bytes: [UInt8], version: FileStatus)? {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadableFile(path) }
        defer { try? file.close() }
        guard let version = FileStatus(descriptor: file.fileDescriptor), version.isRegularFile else {
            throw .unreadableFile(path)
        }
        if version == known { return nil }
        // A group may read the file, because containers get secrets this way.
        guard version.permissions & 0o027 == 0 else { throw .exposedFile(path) }
        guard let bytes = try? file.read(upToCount: Self.maximumLength), bytes.count < Self.maximumLength
        else {
            throw .unreadableFile(path)
        }
        return (Array(bytes), version)
    }

    /// Creates the file, in a new private folder if there is none, or replaces its content.
    /// - Throws: `CommandError`, also if the content is too long to be read again.
    func replace(by bytes: [UInt8]) throws(CommandError) {
        guard bytes.count < Self.maximumLength else { throw .unwritableFile(path) }
        do {
            try makeFolder()
            var file = try UnfinishedFile(for: path)
            try file.handle.write(contentsOf: Data(bytes))
            try file.putInPlace()
        } catch {
            throw .unwritableFile(path)
        }
    }

    /// Locks the file against other processes that change it in the same way.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        try makeFolder()
        // The lock is on another file beside it, because each change replaces the file itself.
        let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError.unwritableFile(path) }
        // Closing the file releases the lock.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return try body()
    }

    private func makeFolder() throws {
        let folder = (path as NSString).deletingLastPathComponent
        // The current folder exists.
        guard !folder.isEmpty else { return }
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The current content of the file.
    func bytes() throws(CommandError) -> [UInt8] {
        guard let read = try read() else { throw .unreadableFile(path) }
        return read.bytes
    }
}

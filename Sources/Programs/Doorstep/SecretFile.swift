import Foundation
import Platform

/// A file that holds secrets, and that nobody reads but its owner and its group.
struct SecretFile {
    let path: String

    private static let maximumLength = 65_536

    /// Reads the file.
    /// - Parameter known: A version that need not be read again.
    /// - Returns: Nil when the file is that version still.
    /// - Throws: `CommandError` for a file that cannot be read or that others can.
    func read(
        unlessVersionIs known: FileStatus? = nil
    ) throws(CommandError) -> (bytes: [UInt8], version: FileStatus)? {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadableFile(path) }
        defer { try? file.close() }
        guard let version = FileStatus(descriptor: file.fileDescriptor), version.isRegularFile else {
            throw .unreadableFile(path)
        }
        if version == known { return nil }
        // A group may read it, since that is how secrets reach a container.
        guard version.permissions & 0o027 == 0 else { throw .exposedFile(path) }
        guard let bytes = try? file.read(upToCount: Self.maximumLength), bytes.count < Self.maximumLength
        else {
            throw .unreadableFile(path)
        }
        return (Array(bytes), version)
    }

    /// What the file holds now.
    func bytes() throws(CommandError) -> [UInt8] {
        guard let read = try read() else { throw .unreadableFile(path) }
        return read.bytes
    }
}

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

    /// Makes the file, in a folder of its owner's alone if there is none, or puts others in the place of its bytes.
    func replace(by bytes: [UInt8]) throws(CommandError) {
        do {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            var file = try UnfinishedFile(for: path)
            try file.handle.write(contentsOf: Data(bytes))
            try file.putInPlace()
        } catch {
            throw .unwritableFile(path)
        }
    }

    /// What the file holds now.
    func bytes() throws(CommandError) -> [UInt8] {
        guard let read = try read() else { throw .unreadableFile(path) }
        return read.bytes
    }
}

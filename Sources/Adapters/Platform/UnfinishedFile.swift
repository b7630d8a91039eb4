public import Foundation

/// A file under a temporary name until it is complete; then it replaces another atomically (POSIX, `rename`). If it is not put
/// in place, it is deleted.
public struct UnfinishedFile: ~Copyable {
    public let handle: FileHandle
    private let path: String
    private let place: String
    private var isInPlace = false

    /// Opens an empty file for its owner alone.
    /// - Throws: `CocoaError` with the path, and the reason below it.
    public init(for place: String) throws {
        // A name of the process's own: two that write the same file do not meet.
        path = "\(place).\(getpid()).unfinished"
        self.place = place
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit {
        if !isInPlace { unlink(path) }
    }

    /// Copies owner, group and mode of another file, as far as the mask allows.
    public func share(as status: FileStatus, mask: mode_t) throws {
        let descriptor = handle.fileDescriptor
        guard fchown(descriptor, status.owner, status.group) == 0,
            fchmod(descriptor, status.permissions & mask) == 0
        else { throw Self.failure(path) }
    }

    /// Closes it, and puts it in place. Its data is on the disk by then.
    public mutating func putInPlace() throws {
        try handle.synchronize()
        try handle.close()
        guard rename(path, place) == 0 else { throw Self.failure(place) }
        isInPlace = true
    }

    private static func failure(_ path: String) -> any Error {
        let reason = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        return CocoaError(
            .fileWriteUnknown, userInfo: [NSFilePathErrorKey: path, NSUnderlyingErrorKey: reason])
    }
}

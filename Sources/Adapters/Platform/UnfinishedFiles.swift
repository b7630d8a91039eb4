import Foundation

/// Several files that are written under temporary names and then put in place together: all of them or none. Files that were not
/// put in place are deleted.
public struct UnfinishedFiles: ~Copyable {
    private var files: [(path: String, place: String)] = []

    public init() {}

    deinit {
        for file in files { unlink(file.path) }
    }

    /// Writes a file for its owner alone, to disk.
    /// - Throws: `CocoaError` with the path, `fileWriteFileExists` if something is at its place.
    public mutating func write(_ bytes: some Sequence<UInt8>, for place: String) throws {
        guard FileStatus(path: place) == nil else { throw Self.failure(place, EEXIST) }
        let path = "\(place).\(getpid()).unfinished"
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        files.append((path, place))
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: Data(bytes))
        try handle.synchronize()
        try handle.close()
    }

    /// Puts all files in place. No file may exist there (POSIX, `link`).
    /// - Throws: The errors of ``write(_:for:)``. Then no file is in place.
    public mutating func putInPlace() throws {
        for (index, file) in files.enumerated() {
            guard link(file.path, file.place) == 0 else {
                let code = errno
                for placed in files[..<index] { unlink(placed.place) }
                throw Self.failure(file.place, code)
            }
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> any Error {
        CocoaError(
            code == EEXIST ? .fileWriteFileExists : .fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
    }
}

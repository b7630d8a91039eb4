public import Glibc

/// The file system's data about a file. Equal while a file has not changed.
///
/// This module imports nothing else: Swift sees the members of C structures only if no other imported module brings
/// their declarations along.
public struct FileStatus: Sendable, Hashable {
    private let device: dev_t
    private let number: ino_t
    private let seconds: Int
    private let nanoseconds: Int
    private let length: off_t
    private let mode: mode_t
    public let owner: uid_t
    public let group: gid_t

    /// The status of the path's target, after all links; nil if it does not exist.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of an open file. It does not depend on the file's name.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        number = status.st_ino
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
        length = status.st_size
        mode = status.st_mode
        owner = status.st_uid
        group = status.st_gid
    }

    /// Whether it is a file, and no directory, device or pipe.
    public var isRegularFile: Bool { mode & S_IFMT == S_IFREG }

    /// Its permissions: the nine bits that `chmod` sets.
    public var permissions: mode_t { mode & 0o777 }
}

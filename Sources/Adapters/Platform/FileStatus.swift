public import Glibc

/// What the file system says of a file. Equal for one file that has not been changed.
///
/// In a module that imports nothing else: the members of C structures are visible only where no other module that is
/// imported brings their declarations along.
public struct FileStatus: Sendable, Hashable {
    private let device: dev_t
    private let number: ino_t
    private let seconds: Int
    private let nanoseconds: Int
    private let length: off_t
    private let mode: mode_t
    public let owner: uid_t
    public let group: gid_t

    /// Of what the path stands for, after all links; nil when that is nothing.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of an open file, whatever its name stands for by now.
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

    /// Who may do what with it: the nine bits that `chmod` sets.
    public var permissions: mode_t { mode & 0o777 }
}

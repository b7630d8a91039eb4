public import Foundation

/// A folder under a name of its own until it is whole, then in its place: all of it or nothing (POSIX, `rename`). It is gone
/// where it was not put in place.
public struct UnfinishedFolder: ~Copyable {
    private let path: String
    private let place: String
    private var isInPlace = false

    /// Makes an empty folder for its owner alone.
    public init(for place: String) throws(POSIXError) {
        // The folder's own name, not one within it.
        var place = place[...]
        while place.count > 1, place.hasSuffix("/") { place.removeLast() }
        self.place = String(place)
        path = "\(place).\(getpid()).unfinished"
        guard mkdir(path, 0o700) == 0 else { throw Self.failure() }
    }

    deinit {
        if !isInPlace { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Writes a new file for its owner alone.
    /// - Parameter name: without slashes.
    public func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure() }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    /// Puts it in place, where nothing exists, or an empty folder.
    /// - Throws: `ENOTEMPTY`, `EEXIST` or `ENOTDIR` where something is; other reasons as `rename` has them.
    public mutating func putInPlace() throws(POSIXError) {
        guard rename(path, place) == 0 else { throw Self.failure() }
        isInPlace = true
    }

    private static func failure() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}

public import Foundation

/// A folder that is written under a temporary name and then put in place as a whole (POSIX, `rename`). A folder that was not put
/// in place is deleted.
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

    /// Puts the folder in place. Nothing, or an empty folder, may exist there.
    /// - Throws: `ENOTEMPTY`, `EEXIST` or `ENOTDIR` if something else exists there; other errors of `rename`.
    public mutating func putInPlace() throws(POSIXError) {
        guard rename(path, place) == 0 else { throw Self.failure() }
        isInPlace = true
    }

    private static func failure() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}

public import Foundation
public import Routing

/// Keeps a routing table in a file, so that a server can start while its database does not answer.
///
/// The file is for its owner alone: it holds tenants' places, and digests of keys.
public struct TableFile: Sendable {
    private let path: String

    public init(path: String) {
        self.path = path
    }

    /// Nil when there is no file yet.
    /// - Throws: `RoutingError` for a file that is no table, and what the file system says.
    public func read() throws -> (table: RoutingTable, asOf: Date)? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try RoutingTable.read([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    }

    /// Puts a table in the file's place: all of it or, whatever happens, the one before.
    public func write(_ state: LiveRoutingTable.State) throws {
        // A name of the process's own: a server may be started before the one that it replaces has ended.
        let unfinished = "\(path).\(getpid()).unfinished"
        unlink(unfinished)
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(unfinished) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try state.table.write(asOf: state.asOf) { piece in
                try file.write(contentsOf: piece.withUnsafeBufferPointer { Data(buffer: $0) })
            }
            try file.synchronize()
            try file.close()
            guard rename(unfinished, path) == 0 else { throw Self.failure(path) }
        } catch {
            unlink(unfinished)
            throw error
        }
    }

    private static func failure(_ path: String) -> any Error {
        let reason = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        return CocoaError(
            .fileWriteUnknown, userInfo: [NSFilePathErrorKey: path, NSUnderlyingErrorKey: reason])
    }
}

public import Foundation
public import Lookups
import Platform

/// Stores the lookup index in a file, so that a server can start while its database does not respond.
///
/// Only the file's owner may access it. The file contains tenants' locations and digests of keys, and a user who could write it
/// could add keys.
public struct TableFile: Sendable {
    private let path: String
    private let maximumAge: Duration?

    /// An unchanged index is written again after this time, so that the file's age shows how long the database has been
    /// unavailable. [ours]
    public static let renewal = Duration.seconds(900)

    /// - Parameter maximumAge: The maximum age of the index; nil for any.
    public init(path: String, maximumAge: Duration? = nil) {
        self.path = path
        self.maximumAge = maximumAge
    }

    /// The file of unrecorded confirmations beside this file.
    public var confirmations: ConfirmationSpool { ConfirmationSpool(besideTableFile: path) }

    /// Reads the index; nil if there is no file yet.
    /// - Throws: `PersistenceError` if the file belongs to another account, if other accounts may write it, or if it is too old;
    ///   `LookupIndexError` if it is invalid; and errors of the file system.
    public func read(at now: Date = Date()) throws -> (table: LookupIndex, asOf: Date)? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        guard let status = FileStatus(descriptor: file.fileDescriptor), status.permissions & 0o022 == 0,
            status.owner == geteuid() || status.owner == 0
        else { throw PersistenceError.exposedFile(path) }
        let saved = try LookupIndex.read([UInt8](try file.readToEnd() ?? Data()))
        if let maximumAge, now.timeIntervalSince(saved.asOf) > maximumAge / .seconds(1) {
            throw PersistenceError.outdatedFile(path, asOf: saved.asOf)
        }
        return saved
    }

    /// Whether the index must be written again after the last time.
    public static func isDue(_ state: LiveLookupIndex.State, after saved: LiveLookupIndex.State?) -> Bool {
        guard let saved else { return true }
        return state.version != saved.version
            || state.asOf.timeIntervalSince(saved.asOf) >= renewal / .seconds(1)
    }

    /// Replaces the file by an index. After any failure, the previous file remains.
    public func write(_ state: LiveLookupIndex.State) throws {
        var file = try UnfinishedFile(for: path)
        let handle = file.handle
        try state.table.write(asOf: state.asOf) { piece in
            try handle.write(contentsOf: piece.withUnsafeBufferPointer { Data(buffer: $0) })
        }
        try file.putInPlace()
    }
}

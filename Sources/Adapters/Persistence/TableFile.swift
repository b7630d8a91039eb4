public import Foundation
public import Lookups
import Platform

/// Keeps a routing table in a file, so that a server can start while its database does not answer.
///
/// The file is for its owner alone: it holds tenants' places, and digests of keys, and who could write it could let keys of
/// their own in.
public struct TableFile: Sendable {
    private let path: String
    private let maximumAge: Duration?

    /// A table that has not changed is written again after so long, so that the file's age tells for how long the database has
    /// been away [ours].
    public static let renewal = Duration.seconds(900)

    /// - Parameter maximumAge: How long ago the table may have been what the database said; nil for any time.
    public init(path: String, maximumAge: Duration? = nil) {
        self.path = path
        self.maximumAge = maximumAge
    }

    /// Nil when there is no file yet.
    /// - Throws: `PersistenceError` for a file that is another account's, that others may write, or that is too old;
    ///   `LookupIndexError` for a file that is no table; and what the file system says.
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

    /// Whether a table is to be written after the one that was written last.
    public static func isDue(_ state: LiveLookupIndex.State, after saved: LiveLookupIndex.State?) -> Bool {
        guard let saved else { return true }
        return state.version != saved.version
            || state.asOf.timeIntervalSince(saved.asOf) >= renewal / .seconds(1)
    }

    /// Puts a table in the file's place: all of it or, whatever happens, the one before.
    public func write(_ state: LiveLookupIndex.State) throws {
        var file = try UnfinishedFile(for: path)
        let handle = file.handle
        try state.table.write(asOf: state.asOf) { piece in
            try handle.write(contentsOf: piece.withUnsafeBufferPointer { Data(buffer: $0) })
        }
        try file.putInPlace()
    }
}

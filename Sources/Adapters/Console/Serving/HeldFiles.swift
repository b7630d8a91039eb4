import Administration
import Crypto
import Formats
import Foundation
import Tenancy

/// Uploaded files that wait for confirmation, by SHA-256, so that users confirm exactly the file that they reviewed.
///
/// Files are in memory and visible only to their owner. A new file removes the owner's oldest files, and the oldest of all files
/// if all together are too large.
actor HeldFiles {
    /// The owner of a file. Users whom a proxy signs in have no session.
    struct Owner: Hashable, Sendable {
        private let session: UUID
        private let access: ConsoleAccess

        init(_ session: ConsoleSession) {
            self.session = session.id
            access = session.access
        }
    }

    private struct Name: Hashable {
        let owner: Owner
        let tenant: TenantID
        let digest: String
    }

    private var files: [Name: (bytes: [UInt8], at: Date)] = [:]

    /// The maximum size of a file in bytes, for about 500,000 locations. The command accepts larger files. [ours]
    static let maximumLength = 33_554_432
    /// The lifetime of a file, in seconds. [ours]
    static let lifetime: TimeInterval = 1_800
    /// The maximum size of all files together, in bytes.
    private let maximumTotal: Int

    /// The maximum size of one owner's files together, in bytes. The newest file is kept whatever its size.
    private let maximumOfOwner: Int

    /// - Parameters:
    ///   - maximumTotal: bytes of all files together. [ours]
    ///   - maximumOfOwner: bytes of one owner's files together. [ours]
    init(maximumTotal: Int = 134_217_728, maximumOfOwner: Int = HeldFiles.maximumLength) {
        self.maximumTotal = maximumTotal
        self.maximumOfOwner = maximumOfOwner
    }

    /// - Returns: The SHA-256, in hexadecimal.
    func hold(_ bytes: [UInt8], of tenant: TenantID, by owner: Owner, at now: Date) -> String {
        let digest = Base16.text(SHA256.hash(data: bytes))
        files[Name(owner: owner, tenant: tenant, digest: digest)] = (bytes, now)
        files = files.filter { $0.value.at + Self.lifetime > now }
        makeRoom(in: maximumOfOwner) { $0 == owner }
        makeRoom(in: maximumTotal) { _ in true }
        return digest
    }

    /// Removes the oldest of some files until the rest fits, but keeps the last one.
    private func makeRoom(in maximum: Int, of isMeant: (Owner) -> Bool) {
        let meant = files.filter { isMeant($0.key.owner) }.sorted { $0.value.at < $1.value.at }
        var total = meant.reduce(0) { $0 + $1.value.bytes.count }
        for (name, file) in meant.dropLast() where total > maximum {
            files[name] = nil
            total -= file.bytes.count
        }
    }

    /// Nil if the file does not exist or has expired.
    func file(_ digest: String, of tenant: TenantID, by owner: Owner, at now: Date) -> [UInt8]? {
        guard let file = files[Name(owner: owner, tenant: tenant, digest: digest)],
            file.at + Self.lifetime > now
        else { return nil }
        return file.bytes
    }

    func drop(_ digest: String, of tenant: TenantID, by owner: Owner) {
        files[Name(owner: owner, tenant: tenant, digest: digest)] = nil
    }
}

/// A file in pieces for readers of rows.
struct FilePieces: AsyncSequence, Sendable {
    let bytes: [UInt8]

    private static let length = 65_536

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<UInt8>

        /// Yields between pieces, because reading a piece occupies a processor.
        mutating func next() async throws -> [UInt8]? {
            await Task.yield()
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(FilePieces.length) }
            return Array(rest.prefix(FilePieces.length))
        }
    }
}

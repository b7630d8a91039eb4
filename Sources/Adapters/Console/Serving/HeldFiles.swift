import Administration
import Crypto
import Encodings
import Foundation
import Tenancy

/// Files that somebody has sent and not confirmed yet, by their SHA-256: what is confirmed is what was shown.
///
/// In memory, for whoever sent them alone. Of one person the oldest make room for the newest, and of all where all are too many.
actor HeldFiles {
    /// Who has sent a file: whom a proxy signs in has no session of their own.
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

    /// The longest, in bytes: some 500,000 places. A command takes longer ones. [ours]
    static let maximumLength = 33_554_432
    /// How long one is kept, in seconds. [ours]
    static let lifetime: TimeInterval = 1_800
    /// All of them together, in bytes.
    private let maximumTotal: Int

    /// Those of one person together, in bytes; one is kept however long it is.
    private let maximumOfOwner: Int

    /// - Parameters:
    ///   - maximumTotal: all of them together, in bytes. [ours]
    ///   - maximumOfOwner: those of one person together, in bytes. [ours]
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

    /// Drops the oldest of some, down to the last, until they are no longer together than that.
    private func makeRoom(in maximum: Int, of isMeant: (Owner) -> Bool) {
        let meant = files.filter { isMeant($0.key.owner) }.sorted { $0.value.at < $1.value.at }
        var total = meant.reduce(0) { $0 + $1.value.bytes.count }
        for (name, file) in meant.dropLast() where total > maximum {
            files[name] = nil
            total -= file.bytes.count
        }
    }

    /// Nil for one that is not there, or no more.
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

/// A file in pieces, as readers of rows take it.
struct FilePieces: AsyncSequence, Sendable {
    let bytes: [UInt8]

    private static let length = 65_536

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<UInt8>

        /// To read a piece takes a processor: between two of them others have their turn.
        mutating func next() async throws -> [UInt8]? {
            await Task.yield()
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(FilePieces.length) }
            return Array(rest.prefix(FilePieces.length))
        }
    }
}

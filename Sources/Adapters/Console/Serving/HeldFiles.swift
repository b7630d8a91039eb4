import Crypto
import Encodings
import Foundation
import Tenancy

/// Files that somebody has sent and not confirmed yet, by their SHA-256: what is confirmed is what was shown.
///
/// In memory, for whoever sent them alone; the oldest make room.
actor HeldFiles {
    private struct Name: Hashable {
        let session: UUID
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

    /// - Parameter maximumTotal: all of them together, in bytes. [ours]
    init(maximumTotal: Int = 134_217_728) {
        self.maximumTotal = maximumTotal
    }

    /// - Returns: The SHA-256, in hexadecimal.
    func hold(_ bytes: [UInt8], of tenant: TenantID, by session: UUID, at now: Date) -> String {
        let digest = Base16.text(SHA256.hash(data: bytes))
        files[Name(session: session, tenant: tenant, digest: digest)] = (bytes, now)
        files = files.filter { $0.value.at + Self.lifetime > now }
        var total = files.values.reduce(0) { $0 + $1.bytes.count }
        for (name, file) in files.sorted(by: { $0.value.at < $1.value.at }) where total > maximumTotal {
            files[name] = nil
            total -= file.bytes.count
        }
        return digest
    }

    /// Nil for one that is not there, or no more.
    func file(_ digest: String, of tenant: TenantID, by session: UUID, at now: Date) -> [UInt8]? {
        guard let file = files[Name(session: session, tenant: tenant, digest: digest)],
            file.at + Self.lifetime > now
        else { return nil }
        return file.bytes
    }

    func drop(_ digest: String, of tenant: TenantID, by session: UUID) {
        files[Name(session: session, tenant: tenant, digest: digest)] = nil
    }
}

/// A file in pieces, as readers of rows take it.
struct FilePieces: AsyncSequence, Sendable {
    let bytes: [UInt8]

    private static let length = 65_536

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<UInt8>

        mutating func next() async throws -> [UInt8]? { nextPiece() }

        /// The same for those who need not wait.
        mutating func nextPiece() -> [UInt8]? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(FilePieces.length) }
            return Array(rest.prefix(FilePieces.length))
        }
    }
}

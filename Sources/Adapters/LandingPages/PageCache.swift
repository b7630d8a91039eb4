import Synchronization

/// The pages that were asked for, as long as the table they were made from stays.
///
/// One code on a wall is scanned by many, and to write a page and to draw its QR code takes far longer than to look something up.
final class PageCache: Sendable {
    struct Key: Hashable {
        let host: String
        /// Path and query, as they came.
        let target: String

        /// Nil for other bytes than ASCII: `String` takes the composed and the decomposed form of a character for equal.
        init?(host: String, target: String) {
            guard target.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            self.host = host
            self.target = target
        }
    }

    /// Those of a host.
    private struct Pages {
        var pages: [Key: WrittenPage] = [:]
        var byteCount = 0
    }

    private struct State {
        var version: Int?
        var hosts: [String: Pages] = [:]
        var byteCount = 0

        mutating func letGo(of host: String) {
            byteCount -= hosts.removeValue(forKey: host)?.byteCount ?? 0
        }
    }

    /// Bytes of the pages of all hosts: where there would be more, the host that has most loses its own. [ours]
    static let maximumByteCount = 8 << 20
    /// Bytes of the pages of a host: where there would be more, they are let go. Who asks for every spelling of a URL fills no
    /// memory, and takes the pages of others from nobody. [ours]
    static let maximumByteCountOfHost = 1 << 20

    private let state = Mutex(State())

    /// - Parameter version: of the table.
    func page(_ key: Key, in version: Int) -> WrittenPage? {
        state.withLock { $0.version == version ? $0.hosts[key.host]?.pages[key] : nil }
    }

    func keep(_ page: WrittenPage, as key: Key, in version: Int) {
        // Of the key and of what stands around both, about.
        let size = page.body.count + key.target.utf8.count + 1_024
        state.withLock { state in
            if state.version != version { state = State(version: version) }
            guard state.hosts[key.host]?.pages[key] == nil else { return }
            if let pages = state.hosts[key.host], pages.byteCount + size > Self.maximumByteCountOfHost {
                state.letGo(of: key.host)
            }
            while state.byteCount + size > Self.maximumByteCount,
                let largest = state.hosts.max(by: { $0.value.byteCount < $1.value.byteCount })
            {
                state.letGo(of: largest.key)
            }
            state.hosts[key.host, default: Pages()].pages[key] = page
            state.hosts[key.host, default: Pages()].byteCount += size
            state.byteCount += size
        }
    }
}

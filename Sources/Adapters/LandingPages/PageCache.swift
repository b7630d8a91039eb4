import Synchronization

/// Caches requested landing pages for one version of the lookup index.
///
/// Many people scan the same code, and writing a page with its QR code takes far longer than a lookup.
final class PageCache: Sendable {
    struct Key: Hashable {
        let host: String
        /// Path and query as received.
        let target: String

        /// Nil unless ASCII: `String` treats the composed and the decomposed form of a character as equal.
        init?(host: String, target: String) {
            guard target.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            self.host = host
            self.target = target
        }
    }

    /// The pages of one host.
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

    /// The maximum bytes of the pages of all hosts. If exceeded, the host with most bytes loses its pages. [ours]
    static let maximumByteCount = 8 << 20
    /// The maximum bytes of one host's pages. If exceeded, the host loses its pages. So a client that requests every spelling of a
    /// URL cannot fill the memory or remove other hosts' pages. [ours]
    static let maximumByteCountOfHost = 1 << 20

    private let state = Mutex(State())

    /// - Parameter version: the version of the lookup index.
    func page(_ key: Key, in version: Int) -> WrittenPage? {
        state.withLock { $0.version == version ? $0.hosts[key.host]?.pages[key] : nil }
    }

    func keep(_ page: WrittenPage, as key: Key, in version: Int) {
        // Approximate overhead of the key and the entry.
        let size = page.byteCount + key.target.utf8.count + 1_024
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

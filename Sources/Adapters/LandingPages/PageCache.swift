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

    private struct State {
        var version: Int?
        var pages: [Key: WrittenPage] = [:]
        var byteCount = 0
    }

    /// Bytes of the pages: where there would be more, all are let go, so that nobody fills memory by asking for every spelling. [ours]
    static let maximumByteCount = 8 << 20

    private let state = Mutex(State())

    /// - Parameter version: of the table.
    func page(_ key: Key, in version: Int) -> WrittenPage? {
        state.withLock { $0.version == version ? $0.pages[key] : nil }
    }

    func keep(_ page: WrittenPage, as key: Key, in version: Int) {
        // Of the key and of what stands around both, about.
        let size = page.body.count + key.target.utf8.count + 1_024
        state.withLock { state in
            if state.version != version || state.byteCount + size > Self.maximumByteCount {
                state = State(version: version)
            }
            guard state.pages.updateValue(page, forKey: key) == nil else { return }
            state.byteCount += size
        }
    }
}

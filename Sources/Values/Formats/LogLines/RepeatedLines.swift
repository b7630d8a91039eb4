import Synchronization

/// Holds lines back that repeat an earlier one, so that a failure that lasts does not fill the log.
///
/// A line is written, and again only after a pause, with the number of lines that were held back. The pause doubles from 10
/// seconds to 5 minutes while the line repeats. [ours]
public final class RepeatedLines: Sendable {
    private struct Entry {
        var lastWritten: ContinuousClock.Instant
        var pause = RepeatedLines.firstPause
        var heldBack = 0
    }

    private static let firstPause = Duration.seconds(10)
    private static let longestPause = Duration.seconds(300)
    /// Different lines that are remembered; beyond them, all are forgotten. [ours]
    private static let limit = 1_000

    private let entries = Mutex<[String: Entry]>([:])

    public init() {}

    /// Whether to write a line now.
    /// - Parameter line: everything but its time.
    /// - Returns: how many equal lines were held back since it was last written; nil for one that is held back.
    public func admit(_ line: String, at now: ContinuousClock.Instant = .now) -> Int? {
        entries.withLock { entries in
            guard var entry = entries[line], now < entry.lastWritten + entry.pause * 2 else {
                if entries.count >= Self.limit { entries = [:] }
                let heldBack = entries[line]?.heldBack ?? 0
                entries[line] = Entry(lastWritten: now)
                return heldBack
            }
            defer { entries[line] = entry }
            guard now >= entry.lastWritten + entry.pause else {
                entry.heldBack += 1
                return nil
            }
            defer { entry.heldBack = 0 }
            entry.lastWritten = now
            entry.pause = min(entry.pause * 2, Self.longestPause)
            return entry.heldBack
        }
    }
}

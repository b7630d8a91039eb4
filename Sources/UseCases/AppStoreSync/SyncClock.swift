public import Foundation

/// The time of a run, which waits for budgets, for answers to be settled and for images to be processed.
public protocol SyncClock: Sendable {
    func now() -> Date
    func sleep(for duration: Duration) async throws
}

extension SyncClock {
    func sleep(until end: Date) async throws {
        // A millisecond more, so that what was waited for is past.
        let seconds = end.timeIntervalSince(now())
        if seconds > 0 { try await sleep(for: .seconds(seconds) + .milliseconds(1)) }
    }
}

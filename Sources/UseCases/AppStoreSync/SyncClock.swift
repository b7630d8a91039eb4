public import Foundation

/// The clock of a run, which waits for rate limits, for unclear creations and for the processing of images.
public protocol SyncClock: Sendable {
    func now() -> Date
    func sleep(for duration: Duration) async throws
}

extension SyncClock {
    func sleep(until end: Date) async throws {
        // A millisecond more, so that the moment has passed.
        let seconds = end.timeIntervalSince(now())
        if seconds > 0 { try await sleep(for: .seconds(seconds) + .milliseconds(1)) }
    }
}

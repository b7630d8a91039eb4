public import Foundation

/// The time of a session: the device's, or a test's.
public protocol SessionClock: Sendable {
    /// The current time.
    var now: Date { get }
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The device's clock.
public struct SystemClock: SessionClock {
    /// Creates the clock.
    public init() {}

    /// The device's time.
    public var now: Date { Date() }

    /// Uses `Task.sleep`.
    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

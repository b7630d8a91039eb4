import AppStoreSync
import Foundation

/// The time as it is.
struct SystemClock: SyncClock {
    func now() -> Date { Date() }

    func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

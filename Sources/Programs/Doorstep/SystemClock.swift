import AppStoreSync
import Foundation

/// The real time.
struct SystemClock: SyncClock {
    func now() -> Date { Date() }

    func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

import Foundation
import Registration

/// The time as it is.
struct SystemClock: RegistrationClock {
    func now() -> Date { Date() }

    func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

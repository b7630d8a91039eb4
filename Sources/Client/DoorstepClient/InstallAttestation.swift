import Foundation

/// The App Attest state of an install, as the container stores it. App Clip and full app share it, so there
/// is one attestation per install.
struct InstallAttestation: Codable, Equatable {
    enum Stage: Codable, Equatable {
        case none
        /// A key that Apple has not attested yet.
        case made(keyID: String)
        /// An attestation that has not reached the server yet. It must not be lost, because a key can be
        /// attested only once.
        case unsent(keyID: String, challenge: String, attestation: Data, until: Date)
        /// The server knows the key.
        case attested(keyID: String)
    }

    var stage = Stage.none
    /// The number of consecutive failures.
    var failures = 0
    /// The earliest time of the next attempt.
    var notBefore: Date?

    /// The pause before the next attempt: a minute, doubled after each failure up to a day. [ours]
    static func pause(afterFailures failures: Int) -> TimeInterval {
        min(86_400, 60 * Double(1 << min(max(failures - 1, 0), 16)))
    }

    /// The pause in seconds after the server rejected a key: at most one attestation a day, since Apple
    /// counts each [Apple: the risk metric].
    static let pauseAfterRefusal: TimeInterval = 86_400

    mutating func fail(at now: Date) {
        failures += 1
        notBefore = now.addingTimeInterval(Self.pause(afterFailures: failures))
    }

    mutating func refuse(at now: Date) {
        self = InstallAttestation(notBefore: now.addingTimeInterval(Self.pauseAfterRefusal))
    }

    mutating func succeed(_ keyID: String) {
        self = InstallAttestation(stage: .attested(keyID: keyID))
    }

    /// False during a pause. If the device's clock was set back, the pause does not become longer.
    func mayTry(at now: Date) -> Bool {
        guard let notBefore else { return true }
        return now >= notBefore || notBefore.timeIntervalSince(now) > Self.pauseAfterRefusal
    }
}

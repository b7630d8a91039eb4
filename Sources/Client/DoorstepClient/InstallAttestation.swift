import Foundation

/// How far an install has come with App Attest, as it stands in the container: so there is one attestation for each install, by
/// whichever of the two apps comes first.
struct InstallAttestation: Codable, Equatable {
    enum Stage: Codable, Equatable {
        case none
        /// A key that Apple has not attested yet.
        case made(keyID: String)
        /// An attestation that the server has not got yet. A key is attested once, so it must not be lost.
        case unsent(keyID: String, challenge: String, attestation: Data, until: Date)
        /// The server knows the key.
        case attested(keyID: String)
    }

    var stage = Stage.none
    /// How often in a row it did not come off.
    var failures = 0
    /// The earliest time of the next attempt.
    var notBefore: Date?

    /// The pause before the next attempt: a minute, doubled after each failure up to a day. [ours]
    static func pause(afterFailures failures: Int) -> TimeInterval {
        min(86_400, 60 * Double(1 << min(max(failures - 1, 0), 16)))
    }

    /// After the server refused a key: one attestation a day at most, since each counts at Apple [documented: the risk metric].
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

    /// False while it waits; not for longer than a pause lasts, should the device's clock have been set back.
    func mayTry(at now: Date) -> Bool {
        guard let notBefore else { return true }
        return now >= notBefore || notBefore.timeIntervalSince(now) > Self.pauseAfterRefusal
    }
}

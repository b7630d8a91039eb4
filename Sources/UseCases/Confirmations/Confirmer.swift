public import AppAttest
public import Foundation
public import Lookups

/// Decides whether a person is at the business of an invocation URL, and records the decision.
///
/// Never waits; every refusal is an outcome. Safe to use from many threads; has no state.
public struct Confirmer: Sendable {
    private let recorder: any ConfirmationRecorder

    public init(recordingTo recorder: any ConfirmationRecorder) {
        self.recorder = recorder
    }

    /// Decides as `confirmAcquired(in:)` does on a device, and records the outcome.
    /// - Parameters:
    ///   - lookup: The result for the request's URL.
    ///   - attestation: How well the request was attested, which is recorded and decides nothing here.
    ///   - now: The time of the request, recorded to the minute.
    public func confirm(
        _ request: ConfirmationRequest, _ lookup: Lookup, attested attestation: RequestAttestation = .none,
        in table: TenantTable, at now: Date
    ) -> Confirmation {
        let location = lookup.location
        let confirmation = Confirmation(of: request, at: location)
        recorder.record(
            ConfirmationRecord(
                location: location, outcome: confirmation.outcome, source: request.source,
                attestation: attestation.grade, at: now),
            of: table.tenant)
        return confirmation
    }
}

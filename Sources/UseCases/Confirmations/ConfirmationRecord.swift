public import AppAttest
public import Foundation
public import Invocation
import Lookups
public import Tenancy

/// Stores confirmations.
public protocol ConfirmationRecorder: Sendable {
    /// Accepts a record and returns before it is stored.
    func record(_ record: ConfirmationRecord, of tenant: TenantID)
}

/// The stored part of a confirmation: without a person's coordinates, with a time in minutes.
public struct ConfirmationRecord: Sendable, Hashable {
    /// Nil if there is no location. Also nil for a location signed in the URL, because its identifier is its coordinate.
    public let location: LocationIdentifier?
    public let outcome: Confirmation.Outcome
    public let source: InvocationSource
    /// The grade of attestation. The record never contains the key.
    public let attestation: RequestAttestation.Grade
    /// A whole minute.
    public let minute: Date

    /// Earlier records.
    public init(
        location: LocationIdentifier?, outcome: Confirmation.Outcome, source: InvocationSource,
        attestation: RequestAttestation.Grade = .none, minute: Date
    ) {
        self.location = location
        self.outcome = outcome
        self.source = source
        self.attestation = attestation
        self.minute = minute
    }

    init(
        location: Location?, outcome: Confirmation.Outcome, source: InvocationSource,
        attestation: RequestAttestation.Grade, at now: Date
    ) {
        self.location = location?.registeredIdentifier
        self.outcome = outcome
        self.source = source
        self.attestation = attestation
        minute = now.flooredToMinute
    }
}

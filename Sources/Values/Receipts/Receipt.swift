public import AppAttest
public import Foundation
public import Invocation
public import Tenancy

/// What somebody who was not asked may know of a confirmation: no coordinate.
public struct Receipt: Sendable, Hashable {
    public let tenant: TenantID
    /// As in the answer, but for a place that came signed in its URL: its identifier is its coordinate.
    public let location: LocationIdentifier?
    public let outcome: Outcome
    /// What the outcome rests on.
    public let evidence: Evidence
    public let isCertain: Bool
    /// How well the request was attested that was answered.
    public let attestation: RequestAttestation
    /// Whether software on the device made the fix up: the word of the app that signed the request, and nil for any other.
    public let isSimulated: Bool?
    /// A whole minute.
    public let minute: Date

    /// For how many seconds a receipt is good: long enough to order, too short to hand on. [ours]
    static let lifetime = 600

    public init(
        tenant: TenantID, location: LocationIdentifier?, outcome: Outcome, evidence: Evidence,
        isCertain: Bool, attestation: RequestAttestation = .none, isSimulated: Bool? = nil, minute: Date
    ) {
        self.tenant = tenant
        self.location = location
        self.outcome = outcome
        self.evidence = evidence
        self.isCertain = isCertain
        self.attestation = attestation
        self.isSimulated = isSimulated
        self.minute = minute
    }

    /// Whether the person is at the business, as far as it can be said.
    public enum Outcome: String, Sendable, CaseIterable {
        case inRegion
        case notInRegion
        /// No business is known for the invocation URL.
        case doesNotMatch
        /// The launch is said not to have been a physical one, or the person not to let the clip confirm.
        case disallowed
        /// Nothing speaks for where the person is.
        case undetermined
    }

    /// What an outcome can rest on. Each is the caller's word: the server has seen neither the device nor the person.
    public enum Evidence: String, Sendable, CaseIterable {
        /// What `confirmAcquired(in:)` gave on the device, as the caller passes it on.
        case device
        /// The distance of a coordinate, which the server measured.
        case coordinate
        /// Neither: it was decided without, or could not be decided.
        case none
    }
}

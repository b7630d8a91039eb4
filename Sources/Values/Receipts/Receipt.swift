public import AppAttest
public import Foundation
public import Invocation
public import Tenancy

/// The content of a confirmation's receipt, limited to data that third parties may know: no coordinate.
public struct Receipt: Sendable, Hashable {
    public let tenant: TenantID
    /// The location in the response. Nil if the URL contains the location as signed coordinates: the identifier of such a location is
    /// a coordinate.
    public let location: LocationIdentifier?
    public let outcome: Outcome
    /// The evidence for the outcome.
    public let evidence: Evidence
    public let isCertain: Bool
    /// The attestation of the request that was confirmed.
    public let attestation: RequestAttestation
    /// Whether software on the device simulated the fix: reported by the app that signed the request; nil
    /// for any other request.
    public let isSimulated: Bool?
    /// A whole minute.
    public let minute: Date

    /// The number of seconds for which a receipt is valid: long enough to order, too short to pass on.
    /// [ours]
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

    /// Whether the person is at the location, as far as the evidence shows it.
    public enum Outcome: String, Sendable, CaseIterable {
        case inRegion
        case notInRegion
        /// The invocation URL leads to no location, or the device reported error code 2.
        case doesNotMatch
        /// The client reported that the launch was not physical, or that the person does not let the clip
        /// confirm; or the device reported error code 1.
        case disallowed
        /// There is no evidence of the person's position, or the device reported another error code.
        case undetermined
    }

    /// The possible evidence for an outcome. All evidence is the client's statement: the server has seen
    /// neither the device nor the person.
    public enum Evidence: String, Sendable, CaseIterable {
        /// The result of `confirmAcquired(in:)` on the device, as the client passes it on.
        case device
        /// The distance of a coordinate, which the server measured.
        case coordinate
        /// Neither: the outcome was decided without evidence, or could not be decided.
        case none
    }
}

public import AppAttest
public import Foundation
import Lookups
public import Receipts
public import Tenancy

extension Receipt {
    /// The receipt of a confirmation that was given now.
    /// - Parameter isSimulated: As in the request, without verification.
    public init(
        _ confirmation: Confirmation, attested attestation: RequestAttestation = .none,
        isSimulated: Bool? = nil, of tenant: TenantID, at now: Date
    ) {
        self.init(
            tenant: tenant,
            location: confirmation.location?.registeredIdentifier,
            outcome: confirmation.outcome, evidence: confirmation.evidence, isCertain: confirmation.isCertain,
            attestation: attestation, isSimulated: attestation.grade == .request ? isSimulated : nil,
            minute: now.flooredToMinute)
    }
}

extension Date {
    /// The whole minute that the time is in.
    var flooredToMinute: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / 60).rounded(.down) * 60)
    }
}

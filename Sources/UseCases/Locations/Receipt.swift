public import Foundation
public import Invocation
import Routing
public import Tenancy

/// What somebody who was not asked may know of a confirmation: no coordinate.
public struct Receipt: Sendable, Hashable {
    public let tenant: TenantID
    /// As in the answer, but for a place that came signed in its URL: its identifier is its coordinate.
    public let location: LocationIdentifier?
    public let outcome: Confirmation.Outcome
    /// What the outcome rests on.
    public let evidence: Confirmation.Evidence
    public let isCertain: Bool
    /// A whole minute.
    public let minute: Date

    /// For how many seconds a receipt is good: long enough to order, too short to hand on. [ours]
    public static let lifetime = 600

    public init(_ confirmation: Confirmation, of tenant: TenantID, at now: Date) {
        self.tenant = tenant
        location = confirmation.location.flatMap { $0.isEncodedInURL ? nil : $0.identifier }
        outcome = confirmation.outcome
        evidence = confirmation.evidence
        isCertain = confirmation.isCertain
        minute = now.flooredToMinute
    }
}

extension Date {
    /// The whole minute that the time is in.
    var flooredToMinute: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / 60).rounded(.down) * 60)
    }
}

public import Foundation
public import Invocation
public import Tenancy

/// Where tenants' experiences and locations are kept, and confirmations recorded.
public protocol LocationStore: Sendable {
    /// Lends one consistent state of a tenant's catalogue; no other tenant's rows are reachable through it.
    func withCatalogue<Result: Sendable>(
        of tenant: TenantID, _ body: (any LocationCatalogue) async throws -> Result
    ) async throws -> Result

    /// Keeps that a confirmation was given.
    func record(_ confirmation: ConfirmationRecord, of tenant: TenantID) async throws
}

/// One tenant's experiences and locations, as they stood at one moment.
public protocol LocationCatalogue: Sendable {
    /// The experiences among which the most specific match is, if there is one; others may be with them.
    func experiences(near invocation: InvocationURL) async throws -> [Experience]

    func location(_ identifier: LocationIdentifier) async throws -> Location?

    /// The URL that a printed short code stands for.
    func url(ofShortCode code: String) async throws -> InvocationURL?
}

/// Checks the signature of a place that is written in an invocation URL.
public protocol PlaceSignatures: Sendable {
    /// Whether `signature` is the HMAC-SHA256 of `text` under a signing key of the tenant, compared in
    /// constant time.
    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool
}

/// What is kept of a confirmation: no coordinate of a person, and no time finer than a minute.
public struct ConfirmationRecord: Sendable, Hashable {
    /// Nil when there is none, and for a place that came signed in its URL: its identifier is its coordinate.
    public let location: LocationIdentifier?
    public let outcome: Confirmation.Outcome
    public let source: InvocationSource
    /// A whole minute.
    public let minute: Date

    init(location: Location?, outcome: Confirmation.Outcome, source: InvocationSource, at now: Date) {
        self.location = location.flatMap { $0.isEncodedInURL ? nil : $0.identifier }
        self.outcome = outcome
        self.source = source
        minute = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 60).rounded(.down) * 60)
    }
}

public import Foundation
public import Geodesy
public import Invocation
public import RateLimiting
public import Tenancy

/// Finds locations of a tenant, for people who search for them.
public protocol LocationDirectory: Sendable {
    /// At most `limit` locations, sorted by identifier, after a given one.
    /// - Parameters:
    ///   - identifiers: only these locations; nil for all.
    ///   - confirmationsSince: the start of the search for confirmations.
    func places(
        _ identifiers: [LocationIdentifier]?, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        confirmationsSince: Date
    ) async throws -> [ListedLocation]

    /// At most `limit` locations without a confirmation since a time, sorted by identifier, after a given one.
    /// - Parameters:
    ///   - identifiers: only these locations; nil for all.
    ///   - maximumCount: the number at which counting stops.
    func places(
        _ identifiers: [LocationIdentifier]?, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        unusedSince: Date, countingUpTo maximumCount: Int
    ) async throws -> UnusedLocations

    /// The experiences that can form a URL to the location: at most `limit` that are bound to it, and then at most `limit` that read
    /// an identifier from a path or a query.
    func experiences(
        leadingTo location: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [ExperienceRecord]

    /// At most `limit` short codes that stand for one of the URLs.
    func shortCodes(of urls: [String], of tenant: TenantID, limit: Int) async throws -> [ShortCode]

    /// Imports all rows or none, or reports the changes.
    func importLocations(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<LocationRecord>, any Error>,
        _ options: ImportOptions
    ) async throws -> ImportOutcome

    /// The newest changes of a location, at most `limit`. The location may be deleted.
    /// - Parameter newest: Searches only this number of the tenant's newest changes. Nil searches all, which may take long.
    func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int, among newest: Int?
    ) async throws -> [AuditEntry]
}

/// Some of the locations without a confirmation.
public struct UnusedLocations: Sendable, Hashable {
    public let listed: [ListedLocation]
    /// The number of all such locations, including those before the listed ones; 0 if none is listed.
    public let count: Int

    public init(listed: [ListedLocation], count: Int) {
        self.listed = listed
        self.count = count
    }
}

/// A location as a list shows it.
public struct ListedLocation: Sendable, Hashable {
    public let identifier: LocationIdentifier
    public let name: DisplayName
    public let region: CircularRegion
    /// The UTC day, `YYYY-MM-DD`, of the latest confirmation; nil if there is none.
    public let lastConfirmationDay: String?

    public init(
        identifier: LocationIdentifier, name: DisplayName, region: CircularRegion,
        lastConfirmationDay: String?
    ) {
        self.identifier = identifier
        self.name = name
        self.region = region
        self.lastConfirmationDay = lastConfirmationDay
    }
}

/// The tenants of an installation.
public protocol TenantDirectory: Sendable {
    /// Sorted by slug.
    func tenants() async throws -> [Tenant]
    /// - Throws: `AdministrationError.unknownTenant`.
    func tenant(_ slug: TenantSlug) async throws -> Tenant
    /// Suspends or resumes a tenant. Does nothing if the tenant already has this state.
    /// - Throws: `AdministrationError.unknownTenant`.
    func setSuspended(_ isSuspended: Bool, _ slug: TenantSlug) async throws -> Tenant
    /// Changes the tenant's own limits.
    /// - Parameter change: receives the limits of the locked row; an error that it throws leaves them unchanged.
    /// - Throws: `AdministrationError.unknownTenant`, and what `change` throws.
    func changeLimits(
        of slug: TenantSlug, _ change: @Sendable (inout RequestLimits) throws -> Void
    ) async throws -> Tenant
    /// Changes the tenant's own quotas.
    /// - Parameter change: receives the quotas of the locked row; an error that it throws leaves them unchanged.
    /// - Throws: `AdministrationError.unknownTenant`, and what `change` throws.
    func changeQuotas(
        of slug: TenantSlug, _ change: @Sendable (inout [QuotaKind: Quota]) throws -> Void
    ) async throws -> Tenant
}

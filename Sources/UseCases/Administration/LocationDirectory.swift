public import Foundation
public import Geodesy
public import Invocation
public import RateLimiting
public import Tenancy

/// Finds a tenant's locations among many, for people who look for them.
public protocol LocationDirectory: Sendable {
    /// By identifier, after one, up to `limit`.
    /// - Parameters:
    ///   - identifiers: no others than these; nil for any.
    ///   - confirmationsSince: from when on it is looked for confirmations.
    func places(
        _ identifiers: [LocationIdentifier]?, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        confirmationsSince: Date
    ) async throws -> [ListedLocation]

    /// Those without a confirmation from a minute on, by identifier, after one, up to `limit`.
    /// - Parameters:
    ///   - identifiers: no others than these; nil for any.
    ///   - maximumCount: how many are counted at most.
    func places(
        _ identifiers: [LocationIdentifier]?, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        unusedSince: Date, countingUpTo maximumCount: Int
    ) async throws -> UnusedLocations

    /// The experiences that can form a URL to the location: those that are bound to it, then those that read an identifier from
    /// a path or a query; at most `limit` of each.
    func experiences(
        leadingTo location: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [ExperienceRecord]

    /// The short codes that stand for one of the URLs, up to `limit`.
    func shortCodes(of urls: [String], of tenant: TenantID, limit: Int) async throws -> [ShortCode]

    /// Imports all rows or none, or reports the changes.
    func importLocations(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<LocationRecord>, any Error>,
        _ options: ImportOptions
    ) async throws -> ImportOutcome

    /// The location's changes, newest first, up to `limit`; also for a deleted location.
    /// - Parameter newest: among how many of the tenant's changes they are looked for; nil for all, which may take long.
    func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int, among newest: Int?
    ) async throws -> [AuditEntry]
}

/// Some of the locations without a confirmation.
public struct UnusedLocations: Sendable, Hashable {
    public let listed: [ListedLocation]
    /// How many there are in all, those before the listed ones too; 0 where none is listed.
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
    /// By slug.
    func tenants() async throws -> [Tenant]
    /// - Throws: `AdministrationError.unknownTenant`.
    func tenant(_ slug: TenantSlug) async throws -> Tenant
    /// Suspends or resumes; a tenant that is so already stays as it is.
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

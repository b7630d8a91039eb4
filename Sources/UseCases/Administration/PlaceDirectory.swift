public import Foundation
public import Geodesy
public import Invocation
public import RateLimiting
public import Tenancy

/// Finds a tenant's locations among many, for people who look for them.
public protocol PlaceDirectory: Sendable {
    /// By identifier, after one, up to `limit`.
    /// - Parameter confirmedSince: from when on it is looked for confirmations.
    func places(
        _ selection: PlaceSelection, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        confirmedSince: Date
    ) async throws -> [ListedPlace]

    /// How many there are; no more than `limit` are counted.
    func count(_ selection: PlaceSelection, of tenant: TenantID, upTo limit: Int) async throws -> Int

    /// The experiences from which a URL to the location can be made: those that are bound to it, then those that read an
    /// identifier from a path or a query; at most `limit` of each.
    func experiences(
        leadingTo location: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [ExperienceRecord]

    /// The short codes that stand for one of the URLs, up to `limit`.
    func shortCodes(of urls: [String], of tenant: TenantID, limit: Int) async throws -> [ShortCode]

    /// Imports all rows or none, or tells what that would do.
    func importLocations(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<LocationRecord>, any Error>,
        _ options: ImportOptions
    ) async throws -> ImportOutcome

    /// The location's changes, the newest first, up to `limit`; those of one that was deleted too.
    /// - Parameter newest: among how many of the tenant's changes they are looked for; nil for all, which may take long.
    func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int, among newest: Int?
    ) async throws -> [AuditEntry]
}

/// Which locations are looked for.
public struct PlaceSelection: Sendable, Hashable {
    /// No others than these; nil for any.
    public var identifiers: [LocationIdentifier]?
    /// Nobody was confirmed there from this minute on; nil for any.
    public var unusedSince: Date?

    public init(identifiers: [LocationIdentifier]? = nil, unusedSince: Date? = nil) {
        self.identifiers = identifiers
        self.unusedSince = unusedSince
    }
}

/// A location as a list shows it.
public struct ListedPlace: Sendable, Hashable {
    public let identifier: LocationIdentifier
    public let name: DisplayName
    public let region: CircularRegion
    /// The day in UTC, `YYYY-MM-DD`, of the latest confirmation that was looked for; nil where there is none.
    public let lastConfirmedOn: String?

    public init(
        identifier: LocationIdentifier, name: DisplayName, region: CircularRegion, lastConfirmedOn: String?
    ) {
        self.identifier = identifier
        self.name = name
        self.region = region
        self.lastConfirmedOn = lastConfirmedOn
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
    /// Replaces the tenant's own limits.
    /// - Throws: `AdministrationError.unknownTenant`.
    func setLimits(_ limits: RequestLimits, _ slug: TenantSlug) async throws -> Tenant
}

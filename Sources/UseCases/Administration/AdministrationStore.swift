public import AppSiteAssociation
public import Foundation
public import Invocation
public import RateLimiting
public import Tenancy

/// Where tenants and all that is theirs are kept.
///
/// Each call is one transaction: it is done whole or throws and changed nothing. A refusal is an
/// `AdministrationError`. Every change is written to the audit log under the store's actor.
public protocol AdministrationStore: Sendable {
    func createTenant(slug: TenantSlug, name: DisplayName) async throws -> Tenant
    /// By slug.
    func tenants() async throws -> [Tenant]
    func tenant(_ slug: TenantSlug) async throws -> Tenant
    /// Suspends or resumes; a tenant that is so already stays as it is.
    func setSuspended(_ isSuspended: Bool, _ slug: TenantSlug) async throws -> Tenant

    /// Replaces the tenant's own limits.
    func setLimits(_ limits: RequestLimits, _ slug: TenantSlug) async throws -> Tenant

    /// Creates a tenant from an archive, under another slug if one is given: all of it, or nothing.
    ///
    /// - Parameter keepsID: whether the tenant has the archive's ID, and with it the key that signs its places and the
    ///   audience of its receipts; else it has one of its own.
    /// - Throws: `AdministrationError.tenantIDTaken` for an ID that a tenant has.
    func createTenant(
        from archive: TenantArchiveReader, slug: TenantSlug?, keepsID: Bool
    ) async throws -> ArchiveOutcome
    /// Deletes a tenant and all that is its own, but for the audit log, in which each deleted row is an entry.
    ///
    /// Waits for imports that are under way; one that begins meanwhile throws `AdministrationError.tenantDeleted`.
    /// - Returns: How many rows went, by relation.
    func deleteTenant(_ slug: TenantSlug) async throws -> [RowCount]
    /// Lends a reader of all that is the tenant's in one snapshot.
    func withCatalogue<Result: Sendable>(
        of slug: TenantSlug, _ body: (any CatalogueReader) async throws -> Result
    ) async throws -> Result

    func createClip(_ clip: Clip, of tenant: TenantID) async throws
    func clips(of tenant: TenantID) async throws -> [Clip]

    func importLocations(
        of tenant: TenantID, _ feed: (any RowSink<LocationRecord>) async throws -> ImportProblems
    ) async throws -> ImportOutcome
    /// By identifier, up to `limit`.
    func locations(
        of tenant: TenantID, after: LocationIdentifier?, limit: Int
    ) async throws -> [LocationRecord]
    func deleteLocation(_ identifier: LocationIdentifier, of tenant: TenantID) async throws

    /// The location's changes, the newest first, up to `limit`; those of one that was deleted too.
    func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [AuditEntry]

    func addExperience(_ record: ExperienceRecord, of tenant: TenantID) async throws
    func importExperiences(
        of tenant: TenantID, _ feed: (any RowSink<ExperienceRecord>) async throws -> ImportProblems
    ) async throws -> ImportOutcome
    /// By URL, then kind.
    func experiences(of tenant: TenantID) async throws -> [ExperienceRecord]

    func importShortCodes(
        of tenant: TenantID, _ feed: (any RowSink<ShortCode>) async throws -> ImportProblems
    ) async throws -> ImportOutcome
    /// By code, up to `limit`.
    func shortCodes(of tenant: TenantID, after: String?, limit: Int) async throws -> [ShortCode]

    /// Claims a domain; a claim that is there already stays as it is, with its challenge.
    func claimDomain(_ name: DomainName, challenge: String, of tenant: TenantID) async throws -> DomainRecord
    /// By name.
    func domains(of tenant: TenantID) async throws -> [DomainRecord]
    func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord
    /// Takes note that a proof was found, which ends a lapse.
    /// - Throws: `unknownDomain` when the claim is gone or has another challenge, `domainTaken` when another tenant has
    ///   proved the domain.
    func proveDomain(
        _ record: DomainRecord, by method: ProofMethod, at now: Date, of tenant: TenantID
    ) async throws -> DomainRecord
    /// Takes note that a proof is gone: lapsed from now on, or withdrawn once it has lapsed for the time of grace.
    func lapseDomain(_ record: DomainRecord, at now: Date, of tenant: TenantID) async throws -> DomainRecord
    /// Keeps what is merged into the domain's association file, in the place of what was kept; nil for nothing.
    /// - Throws: `unknownDomain`; `AssociationContentError.contradiction` for what names a clip of the tenant's as an app.
    func setContent(
        _ content: AssociationContent?, ofDomain name: DomainName, of tenant: TenantID
    ) async throws -> DomainRecord
    func releaseDomain(_ name: DomainName, of tenant: TenantID) async throws

    /// - Parameter scopes: what the key may do, of what its kind may; nil for all of that.
    func createKey(
        _ key: APIKey, scopes: Scopes?, expiresAt: Date?, of tenant: TenantID
    ) async throws -> KeyRecord
    func keys(of tenant: TenantID) async throws -> [KeyRecord]
    func revokeKey(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord
    /// Adds the successor, which may do the same for as long, and lets the old key expire at a time, in one step.
    func rotateKey(
        _ id: KeyID, to successor: @Sendable (KeyKind) -> APIKey, oldExpiresAt: Date, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord)
}

/// Takes the rows of an import, in the order of the file.
public protocol RowSink<Row>: Sendable {
    associatedtype Row: Sendable
    func append(_ row: Row, line: Int) async throws
}

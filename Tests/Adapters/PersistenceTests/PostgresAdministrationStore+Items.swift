import Administration
import AppSiteAssociation
import Foundation
import Invocation
import Lookups
import Tenancy
import TestSupport

@testable import Persistence

/// Items as an operator manages them.
extension PostgresAdministrationStore {
    private func items<Item>(
        _ kind: KeyPath<CatalogueStores, any CatalogueStore<Item>>, of tenant: TenantID
    ) -> TenantItems<Item> {
        TenantItems(items[keyPath: kind], of: tenant, by: actor)
    }

    func createClip(_ clip: Clip, of tenant: TenantID) async throws {
        try await items(\.clips, of: tenant).create(clip)
    }

    func clips(of tenant: TenantID) async throws -> [Clip] { try await items(\.clips, of: tenant).list() }

    func clip(_ bundleID: BundleID, of tenant: TenantID) async throws -> Clip {
        try await items(\.clips, of: tenant).show(bundleID)
    }

    func updateClip(
        _ bundleID: BundleID, of tenant: TenantID, _ change: @escaping @Sendable (Clip) throws -> Clip
    ) async throws -> Clip {
        try await items(\.clips, of: tenant).update(bundleID, change)
    }

    func deleteClip(_ bundleID: BundleID, of tenant: TenantID, cascade: Bool) async throws -> [RowCount] {
        try await items(\.clips, of: tenant).delete(bundleID, cascade: cascade)
    }

    func createLocation(_ record: LocationRecord, of tenant: TenantID) async throws {
        try await items(\.locations, of: tenant).create(record)
    }

    func locations(
        of tenant: TenantID, after: LocationIdentifier?, limit: Int
    ) async throws -> [LocationRecord] {
        try await items(\.locations, of: tenant).list(after: after, limit: limit)
    }

    func location(_ identifier: LocationIdentifier, of tenant: TenantID) async throws -> LocationRecord {
        try await items(\.locations, of: tenant).show(identifier)
    }

    func updateLocation(
        _ identifier: LocationIdentifier, of tenant: TenantID,
        _ change: @escaping @Sendable (LocationRecord) throws -> LocationRecord
    ) async throws -> LocationRecord {
        try await items(\.locations, of: tenant).update(identifier, change)
    }

    func deleteLocation(
        _ identifier: LocationIdentifier, of tenant: TenantID, cascade: Bool
    ) async throws -> [RowCount] {
        try await items(\.locations, of: tenant).delete(identifier, cascade: cascade)
    }

    func createExperience(_ record: ExperienceRecord, of tenant: TenantID) async throws {
        try await items(\.experiences, of: tenant).create(record)
    }

    func experiences(of tenant: TenantID) async throws -> [ExperienceRecord] {
        try await items(\.experiences, of: tenant).list()
    }

    func experience(
        _ kind: ExperienceKind, _ url: URLPrefix, of tenant: TenantID
    ) async throws -> ExperienceRecord {
        try await items(\.experiences, of: tenant).show(ExperienceID(kind, url))
    }

    func updateExperience(
        _ kind: ExperienceKind, _ url: URLPrefix, of tenant: TenantID,
        _ change: @escaping @Sendable (ExperienceRecord) throws -> ExperienceRecord
    ) async throws -> ExperienceRecord {
        try await items(\.experiences, of: tenant).update(ExperienceID(kind, url), change)
    }

    func deleteExperience(_ kind: ExperienceKind, _ url: URLPrefix, of tenant: TenantID) async throws {
        _ = try await items(\.experiences, of: tenant).delete(ExperienceID(kind, url))
    }

    func shortCodes(of tenant: TenantID, after: String?, limit: Int) async throws -> [ShortCode] {
        try await items(\.shortCodes, of: tenant).list(after: after, limit: limit)
    }

    func shortCode(_ code: String, of tenant: TenantID) async throws -> ShortCode {
        try await items(\.shortCodes, of: tenant).show(code)
    }

    func updateShortCode(_ code: ShortCode, of tenant: TenantID) async throws {
        _ = try await items(\.shortCodes, of: tenant).update(code.code) { _ in code }
    }

    func deleteShortCode(_ code: String, of tenant: TenantID) async throws {
        _ = try await items(\.shortCodes, of: tenant).delete(code)
    }

    func createShortCode(_ code: ShortCode, of tenant: TenantID) async throws {
        try await items(\.shortCodes, of: tenant).create(code)
    }

    func claimDomain(
        _ name: DomainName, challenge: String, of tenant: TenantID
    ) async throws -> DomainRecord {
        try await items(\.domains, of: tenant).claim(
            DomainRecord(name: name, challenge: challenge, claimedAt: Date()))
    }

    func domains(of tenant: TenantID) async throws -> [DomainRecord] {
        try await items(\.domains, of: tenant).list()
    }

    func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord {
        try await items(\.domains, of: tenant).show(name)
    }

    func changeDomain(
        _ name: DomainName, of tenant: TenantID,
        _ change: @escaping @Sendable (DomainRecord) throws -> DomainRecord
    ) async throws -> DomainRecord {
        try await items(\.domains, of: tenant).update(name, change)
    }

    func setContent(
        _ content: AssociationContent?, ofDomain name: DomainName, of tenant: TenantID
    ) async throws -> DomainRecord {
        try await items(\.domains, of: tenant).keep(content, with: name)
    }

    func releaseDomain(_ name: DomainName, of tenant: TenantID) async throws {
        _ = try await items(\.domains, of: tenant).delete(name)
    }
}

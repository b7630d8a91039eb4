import Administration
import Foundation
import Invocation
import Lookups
import Tenancy
import TestSupport

@testable import Persistence

/// Items, managed by an operator.
extension PostgresAdministrationStore {
    func createClip(_ clip: Clip, of tenant: TenantID) async throws {
        try await TenantItems(items.clips, of: tenant, by: actor).create(clip)
    }

    func clips(of tenant: TenantID) async throws -> [Clip] {
        try await TenantItems(items.clips, of: tenant, by: actor).list()
    }

    func clip(_ bundleID: BundleID, of tenant: TenantID) async throws -> Clip {
        try await TenantItems(items.clips, of: tenant, by: actor).show(bundleID)
    }

    func updateClip(
        _ bundleID: BundleID, of tenant: TenantID, _ change: @escaping @Sendable (Clip) throws -> Clip
    ) async throws -> Clip {
        try await TenantItems(items.clips, of: tenant, by: actor).update(bundleID, change)
    }

    func deleteClip(_ bundleID: BundleID, of tenant: TenantID, cascade: Bool) async throws -> [RowCount] {
        try await TenantItems(items.clips, of: tenant, by: actor).delete(bundleID, cascade: cascade)
    }

    func createLocation(_ record: LocationRecord, of tenant: TenantID) async throws {
        try await TenantItems(items.locations, of: tenant, by: actor).create(record)
    }

    func locations(
        of tenant: TenantID, after: LocationIdentifier?, limit: Int
    ) async throws -> [LocationRecord] {
        try await TenantItems(items.locations, of: tenant, by: actor).list(after: after, limit: limit)
    }

    func location(_ identifier: LocationIdentifier, of tenant: TenantID) async throws -> LocationRecord {
        try await TenantItems(items.locations, of: tenant, by: actor).show(identifier)
    }

    func updateLocation(
        _ identifier: LocationIdentifier, of tenant: TenantID,
        _ change: @escaping @Sendable (LocationRecord) throws -> LocationRecord
    ) async throws -> LocationRecord {
        try await TenantItems(items.locations, of: tenant, by: actor).update(identifier, change)
    }

    func deleteLocation(
        _ identifier: LocationIdentifier, of tenant: TenantID, cascade: Bool
    ) async throws -> [RowCount] {
        try await TenantItems(items.locations, of: tenant, by: actor).delete(identifier, cascade: cascade)
    }

    func createExperience(_ record: ExperienceRecord, of tenant: TenantID) async throws {
        try await TenantItems(items.experiences, of: tenant, by: actor).create(record)
    }

    func experiences(of tenant: TenantID) async throws -> [ExperienceRecord] {
        try await TenantItems(items.experiences, of: tenant, by: actor).list()
    }

    func experience(
        _ kind: ExperienceKind, _ url: URLPrefix, of tenant: TenantID
    ) async throws -> ExperienceRecord {
        try await TenantItems(items.experiences, of: tenant, by: actor).show(ExperienceID(kind, url))
    }

    func updateExperience(
        _ kind: ExperienceKind, _ url: URLPrefix, of tenant: TenantID,
        _ change: @escaping @Sendable (ExperienceRecord) throws -> ExperienceRecord
    ) async throws -> ExperienceRecord {
        try await TenantItems(items.experiences, of: tenant, by: actor).update(
            ExperienceID(kind, url), change)
    }

    func deleteExperience(_ kind: ExperienceKind, _ url: URLPrefix, of tenant: TenantID) async throws {
        _ = try await TenantItems(items.experiences, of: tenant, by: actor).delete(ExperienceID(kind, url))
    }

    func shortCodes(of tenant: TenantID, after: String?, limit: Int) async throws -> [ShortCode] {
        try await TenantItems(items.shortCodes, of: tenant, by: actor).list(after: after, limit: limit)
    }

    func shortCode(_ code: String, of tenant: TenantID) async throws -> ShortCode {
        try await TenantItems(items.shortCodes, of: tenant, by: actor).show(code)
    }

    func updateShortCode(_ code: ShortCode, of tenant: TenantID) async throws {
        _ = try await TenantItems(items.shortCodes, of: tenant, by: actor).update(code.code) { _ in code }
    }

    func deleteShortCode(_ code: String, of tenant: TenantID) async throws {
        _ = try await TenantItems(items.shortCodes, of: tenant, by: actor).delete(code)
    }

    func createShortCode(_ code: ShortCode, of tenant: TenantID) async throws {
        try await TenantItems(items.shortCodes, of: tenant, by: actor).create(code)
    }

    func claimDomain(
        _ name: DomainName, challenge: String, of tenant: TenantID
    ) async throws -> DomainRecord {
        try await TenantItems(items.domains, of: tenant, by: actor).claim(
            DomainRecord(name: name, challenge: challenge, claimedAt: Date()))
    }

    func domains(of tenant: TenantID) async throws -> [DomainRecord] {
        try await TenantItems(items.domains, of: tenant, by: actor).list()
    }

    func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord {
        try await TenantItems(items.domains, of: tenant, by: actor).show(name)
    }

    func changeDomain(
        _ name: DomainName, of tenant: TenantID,
        _ change: @escaping @Sendable (DomainRecord) throws -> DomainRecord
    ) async throws -> DomainRecord {
        try await TenantItems(items.domains, of: tenant, by: actor).update(name, change)
    }

    func setContent(
        _ content: AssociationContent?, ofDomain name: DomainName, of tenant: TenantID
    ) async throws -> DomainRecord {
        try await TenantItems(items.domains, of: tenant, by: actor).keep(content, with: name)
    }

    func releaseDomain(_ name: DomainName, of tenant: TenantID) async throws {
        _ = try await TenantItems(items.domains, of: tenant, by: actor).delete(name)
    }
}

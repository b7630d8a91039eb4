public import Foundation
public import Tenancy

/// Where the verification of domains reads claims, and keeps what it found.
public protocol DomainStore: Sendable {
    /// By name.
    func domains(of tenant: TenantID) async throws -> [DomainRecord]

    /// - Throws: `AdministrationError.unknownDomain`.
    func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord

    /// Takes note that a proof was found, which ends a lapse.
    /// - Throws: `AdministrationError.unknownDomain` when the claim is gone or has another challenge, `domainTaken`
    ///   when another tenant has proved the domain.
    func proveDomain(
        _ record: DomainRecord, by method: ProofMethod, at now: Date, of tenant: TenantID
    ) async throws -> DomainRecord

    /// Takes note that a proof is gone: lapsed from now on, or withdrawn once it has lapsed for the time of grace.
    /// - Throws: `AdministrationError.unknownDomain`.
    func lapseDomain(_ record: DomainRecord, at now: Date, of tenant: TenantID) async throws -> DomainRecord
}

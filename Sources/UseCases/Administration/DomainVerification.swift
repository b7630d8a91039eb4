public import Foundation
public import Tenancy

/// Proves domains, and finds out when a proof is gone.
///
/// A proof that is missing at a check lapses; when it is still missing at a check after ``DomainRecord/grace``, the
/// domain is no longer proved. That nobody answered is no reason for either. [ours]
public struct DomainVerification: Sendable {
    private let store: any DomainStore
    private let resolver: any TextRecordResolver
    private let fetcher: any PageFetcher

    public init(
        store: any DomainStore, resolver: any TextRecordResolver, fetcher: any PageFetcher
    ) {
        self.store = store
        self.resolver = resolver
        self.fetcher = fetcher
    }

    /// What a check of a domain came to.
    public struct Outcome: Sendable {
        public let tenant: TenantID
        /// As it is after the check.
        public let record: DomainRecord
        /// Whether the lookups of the server that was asked know of it.
        public let isVisible: Bool
        /// Why no proof was found; nil when one was.
        public let lack: Lack?

        public struct Lack: Sendable, Hashable {
            /// Whether nobody answered, so that nothing was changed.
            public let isUnanswered: Bool
            public let reason: String
        }
    }

    /// Looks for the proof of one claim, and keeps what comes of it.
    /// - Throws: `AdministrationError.unknownDomain`, and `domainTaken` when another tenant has proved the domain.
    public func verify(
        _ name: DomainName, of tenant: TenantID, at now: Date
    ) async throws -> Outcome {
        try await verify(try await store.domain(name, of: tenant), of: tenant, at: now)
    }

    /// Looks for the proofs of all domains of a tenant that are proved, a few at a time.
    ///
    /// One that was released or claimed anew in the meantime is left out.
    public func verifyAll(of tenant: TenantID, at now: Date) async throws -> [Outcome] {
        let proved = try await store.domains(of: tenant).filter { $0.proof != nil }
        return try await withThrowingTaskGroup(of: Outcome?.self) { group in
            var outcomes: [Outcome] = []
            for (index, record) in proved.enumerated() {
                if index >= Self.atOnce, let outcome = try await group.next() ?? nil {
                    outcomes.append(outcome)
                }
                group.addTask {
                    do {
                        return try await verify(record, of: tenant, at: now)
                    } catch AdministrationError.unknownDomain {
                        return nil
                    }
                }
            }
            for try await outcome in group {
                if let outcome { outcomes.append(outcome) }
            }
            return outcomes.sorted { $0.record.name.text < $1.record.name.text }
        }
    }

    private static let atOnce = 8

    private func verify(
        _ record: DomainRecord, of tenant: TenantID, at now: Date
    ) async throws -> Outcome {
        let evidence = await record.evidence(resolver, fetcher)
        let lack = evidence.lack(of: record)
        guard record.checked(evidence, at: now) != nil else {
            return Outcome(tenant: tenant, record: record, isVisible: true, lack: lack)
        }
        let change = try await store.changeDomain(record.name, of: tenant) { current in
            // Claimed anew it has another challenge, and what was found of the old one is no proof of it.
            guard current.challenge == record.challenge else {
                throw AdministrationError.unknownDomain(record.name)
            }
            return current.checked(evidence, at: now) ?? current
        }
        return Outcome(tenant: tenant, record: change.after, isVisible: change.isVisible, lack: lack)
    }
}

extension DomainRecord {
    /// What evidence makes of the claim; nil where it changes nothing.
    fileprivate func checked(_ evidence: DomainEvidence, at now: Date) -> DomainRecord? {
        if case .found(let method) = evidence { return proved(by: method, at: now) }
        guard let proof, evidence.isAbsent(proof.method) else { return nil }
        return lapsed(at: now)
    }
}

extension DomainEvidence {
    /// Why a claim is not proved by it; nil when it is.
    fileprivate func lack(of record: DomainRecord) -> DomainVerification.Outcome.Lack? {
        guard case .missing(let dns, let file) = self else { return nil }
        let isAnswered = record.proof.map { isAbsent($0.method) } ?? (dns.isAbsent && file.isAbsent)
        return .init(isUnanswered: !isAnswered, reason: "\(dns.reason); \(file.reason)")
    }
}

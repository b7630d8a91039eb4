public import Foundation
public import Tenancy

/// Proves domains, and finds out when a proof no longer exists.
///
/// If a check does not find the proof, the proof lapses. If a check after ``DomainRecord/grace`` does not find the proof either, the
/// domain is no longer proved. If a check gets no response, nothing changes, with one exception: if the proof of another tenant's
/// claim was found within ``Rivalry/maximumAge``, the holder's proof must be found. [ours]
public struct DomainVerification: Sendable {
    private let store: any CatalogueStore<DomainRecord>
    private let actor: String
    private let resolver: any TextRecordResolver
    private let fetcher: any PageFetcher

    /// - Parameter actor: The actor in the audit log.
    public init(
        store: any CatalogueStore<DomainRecord>, by actor: String, resolver: any TextRecordResolver,
        fetcher: any PageFetcher
    ) {
        self.store = store
        self.actor = actor
        self.resolver = resolver
        self.fetcher = fetcher
    }

    /// The result of a domain's check.
    public struct Outcome: Sendable {
        public let tenant: TenantID
        /// The state after the check.
        public let record: DomainRecord
        /// Whether this server's lookups already use the state.
        public let isVisible: Bool
        /// Why no proof was found; nil if a proof was found.
        public let lack: Lack?

        public init(tenant: TenantID, record: DomainRecord, isVisible: Bool, lack: Lack?) {
            self.tenant = tenant
            self.record = record
            self.isVisible = isVisible
            self.lack = lack
        }

        public struct Lack: Sendable, Hashable {
            /// Whether the host did not respond, so that nothing was changed.
            public let isUnanswered: Bool
            public let reason: String

            public init(isUnanswered: Bool, reason: String) {
                self.isUnanswered = isUnanswered
                self.reason = reason
            }
        }
    }

    /// Whether another tenant's claim of the same domain has a proof, too.
    public enum Rivalry: Sendable, Hashable {
        case unknown
        case none
        /// The latest time at which such a proof was found.
        case proved(at: Date)

        /// For how long a rival's proof counts. [ours]
        public static let maximumAge: TimeInterval = 2 * 86_400

        fileprivate func isRecent(at now: Date) -> Bool {
            if case .proved(let time) = self { now.timeIntervalSince(time) <= Self.maximumAge } else { false }
        }
    }

    /// Looks for the proof of one claim, and stores the result.
    ///
    /// If the proof is found although another tenant holds the domain, the claim is stored as contesting.
    /// - Throws: `AdministrationError.unknownDomain`, and `domainTaken` if another tenant has proved the domain.
    public func verify(
        _ name: DomainName, of tenant: TenantID, rivalry: Rivalry = .unknown, at now: Date
    ) async throws -> Outcome {
        guard let record = try await store.item(name, of: tenant) else {
            throw AdministrationError.unknownDomain(name)
        }
        return try await verify(record, of: tenant, rivalry, at: now)
    }

    /// Looks for the proofs of all domains of a tenant that are proved, a few at a time.
    ///
    /// Leaves out claims that have been deleted or created again since.
    public func verifyAll(of tenant: TenantID, at now: Date) async throws -> [Outcome] {
        let proved = try await store.items(of: tenant, after: nil, limit: .max, where: [:])
            .filter { $0.proof != nil }
        return try await withThrowingTaskGroup(of: Outcome?.self) { group in
            var outcomes: [Outcome] = []
            for (index, record) in proved.enumerated() {
                if index >= Self.atOnce, let outcome = try await group.next() ?? nil {
                    outcomes.append(outcome)
                }
                group.addTask {
                    do {
                        return try await verify(record, of: tenant, .unknown, at: now)
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
        _ record: DomainRecord, of tenant: TenantID, _ rivalry: Rivalry, at now: Date
    ) async throws -> Outcome {
        let evidence = await record.evidence(resolver, fetcher)
        let lack = evidence.lack(of: record)
        guard record.checked(evidence, rivalry, at: now) != record else {
            return Outcome(tenant: tenant, record: record, isVisible: true, lack: lack)
        }
        let change: CatalogueChange<DomainRecord>
        do {
            change = try await self.change(record, of: tenant) { $0.checked(evidence, rivalry, at: now) }
        } catch let error as AdministrationError where error == .domainTaken(record.name) {
            _ = try await self.change(record, of: tenant) { $0.contesting(at: now) }
            throw error
        }
        return Outcome(tenant: tenant, record: change.after, isVisible: change.isVisible, lack: lack)
    }

    private func change(
        _ record: DomainRecord, of tenant: TenantID,
        _ make: @escaping @Sendable (DomainRecord) -> DomainRecord
    ) async throws -> CatalogueChange<DomainRecord> {
        try await store.change(record.name, of: tenant, by: actor) { current in
            // A repeated claim has another challenge, so a result for the old one proves nothing.
            guard let current, current.challenge == record.challenge else {
                throw AdministrationError.unknownDomain(record.name)
            }
            return make(current)
        }
    }
}

extension DomainRecord {
    /// The claim after a check; the same if the check changes nothing, or began before the last check that is stored.
    fileprivate func checked(
        _ evidence: DomainEvidence, _ rivalry: DomainVerification.Rivalry, at now: Date
    ) -> DomainRecord {
        if let checkedAt, checkedAt > now { return self }
        var record = self
        if proof != nil {
            switch rivalry {
            case .unknown: break
            case .none: record.contestedAt = nil
            case .proved: record.contestedAt = contestedAt ?? now
            }
        }
        if case .found(let method) = evidence { return record.proved(by: method, at: now) }
        if let proof {
            guard evidence.isAbsent(proof.method) || rivalry.isRecent(at: now) else { return record }
            return record.lapsed(at: now)
        }
        guard contestedAt != nil, ProofMethod.allCases.allSatisfy(evidence.isAbsent) else { return record }
        (record.contestedAt, record.checkedAt) = (nil, now)
        return record
    }

    /// After how long the server checks the domain again. [ours]
    /// - Parameters:
    ///   - outcome: The result of the check; nil if it failed.
    ///   - interval: between two checks of a proof that is found.
    ///   - spread: from 0 to 1; moves the checks of many domains apart by up to a tenth of the interval.
    public static func timeToNextCheck(
        after outcome: DomainVerification.Outcome?, interval: TimeInterval, spread: Double, at now: Date
    ) -> TimeInterval {
        guard let outcome, let lack = outcome.lack else {
            return outcome == nil ? min(interval, 3_600) : interval * (1 - spread / 10)
        }
        // At the end of the grace period, so that a domain that changed hands is withdrawn in time.
        if let end = outcome.record.withdrawnFrom {
            return min(interval, max(end.timeIntervalSince(now), 60))
        }
        return lack.isUnanswered ? min(interval, 3_600) : interval
    }
}

extension DomainEvidence {
    /// Why the evidence does not prove a claim; nil if it does.
    fileprivate func lack(of record: DomainRecord) -> DomainVerification.Outcome.Lack? {
        guard case .missing(let dns, let file) = self else { return nil }
        let isAnswered = record.proof.map { isAbsent($0.method) } ?? (dns.isAbsent && file.isAbsent)
        return .init(isUnanswered: !isAnswered, reason: "\(dns.reason); \(file.reason)")
    }
}

import Administration
import AppAttest
import Foundation
import Persistence
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

/// Attested requests are counted by day. A clip can require attestation only after enough requests were attested.
@Suite struct AttestationCountTests {
    private static let clip = "com.example.MyApp.Clip"

    private struct Counted: Hashable {
        let tenant: UUID
        let clip: String
        let operation: String
        let day: String
        let counts: [Int]
    }

    private static func rows(_ stores: Stores) async throws -> Set<Counted> {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                let rows = try await connection.execute(
                    """
                    SELECT tenant_id, bundle_id, operation, day::text, ARRAY[by_token, signed, not_attested]
                    FROM doorstep.attestation_days
                    """)
                return Set(
                    try rows.map { row in
                        let (tenant, clip, operation, day, counts) = try row.decode(
                            UUID.self, String.self, String.self, String.self, [Int].self)
                        return Counted(
                            tenant: tenant, clip: clip, operation: operation, day: day, counts: counts)
                    })
            }
        }
    }

    /// Two servers count for two tenants and two days. Counts of deleted clips and tenants are dropped and do not block other
    /// counts.
    @Test func attestationCountsAddUpByDay() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] { try await stores.createClip(of: tenant) }
            let queues = (0..<2).map { _ in AttestationCountQueue(stores.appPool) { Issue.record($0) } }
            let clip = try BundleID(Self.clip)
            // One minute before midnight UTC, and midnight UTC.
            let days = [
                Date(timeIntervalSince1970: 1_795_046_340), Date(timeIntervalSince1970: 1_795_046_400),
            ]
            for queue in queues {
                for grade in RequestAttestation.Grade.allCases {
                    queue.record(grade, of: clip, for: .confirm, tenant, at: days[0])
                }
                queue.record(.token, of: clip, for: .confirm, tenant, at: days[1])
                queue.record(.token, of: clip, for: .lookup, tenant, at: days[0])
                queue.record(.request, of: clip, for: .confirm, other, at: days[0])
                queue.record(
                    .token, of: try BundleID("com.example.No.Clip"), for: .confirm, tenant, at: days[0])
                queue.record(.token, of: clip, for: .confirm, TenantID(UUID()), at: days[0])
            }
            await withTaskGroup { group in
                for queue in queues { group.addTask { await queue.flush() } }
            }
            // No counts are pending.
            for queue in queues { await queue.flush() }
            func row(_ tenant: TenantID, _ operation: String, _ day: String, _ counts: [Int]) -> Counted {
                Counted(tenant: tenant.uuid, clip: Self.clip, operation: operation, day: day, counts: counts)
            }
            let expected: Set = [
                row(tenant, "confirm", "2026-11-18", [2, 2, 2]),
                row(tenant, "confirm", "2026-11-19", [2, 0, 0]),
                row(tenant, "lookup", "2026-11-18", [2, 0, 0]),
                row(other, "confirm", "2026-11-18", [0, 2, 0]),
            ]
            #expect(try await Self.rows(stores) == expected)
            // Counts are deleted with their clip.
            _ = try await stores.administration.deleteClip(clip, of: other, cascade: false)
            #expect(try await Self.rows(stores).count == 3)
        }
    }

    /// The queue writes counts later if the database is unavailable, and writes them once.
    @Test func unwrittenCountsAreWrittenLaterOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            let failures = Mutex(0)
            let queue = AttestationCountQueue(stores.appPool) { _ in failures.withLock { $0 += 1 } }
            let clip = try BundleID(Self.clip)
            let day = Date(timeIntervalSince1970: 1_795_046_340)
            for verb in [
                "REVOKE INSERT ON doorstep.attestation_days FROM",
                "GRANT INSERT ON doorstep.attestation_days TO",
            ] {
                try await stores.database.withSuperuser { pool in
                    try await pool.withTransaction { try await $0.execute(script: "\(verb) doorstep_app") }
                }
                queue.record(.token, of: clip, for: .register, tenant, at: day)
                queue.record(.none, of: clip, for: .register, tenant, at: day)
                await queue.flush()
            }
            #expect(failures.withLock { $0 } == 1)
            #expect(try await Self.rows(stores).map(\.counts) == [[2, 0, 2]])
        }
    }

    private static func count(
        _ number: Int, _ column: String, _ operation: String, daysAgo: Int = 0, _ stores: Stores,
        _ tenant: TenantID
    ) async throws {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                let counts = ["by_token", "signed", "not_attested"].map { $0 == column ? number : 0 }
                _ = try await connection.execute(
                    """
                    INSERT INTO doorstep.attestation_days AS d
                    VALUES (\(tenant.uuid), \(Self.clip), \(operation), (now() AT TIME ZONE 'UTC')::date - \(daysAgo)::integer,
                        \(counts[0]), \(counts[1]), \(counts[2]))
                    ON CONFLICT (tenant_id, bundle_id, operation, day) DO UPDATE
                    SET by_token = d.by_token + excluded.by_token, signed = d.signed + excluded.signed,
                        not_attested = d.not_attested + excluded.not_attested
                    """)
            }
        }
    }

    /// The role `doorstep_manager`, which changes clips, checks the counts only if the new policy is stricter than the old one.
    @Test func stricterAttestationRequiresObservedAttestation() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            let clip = try BundleID(Self.clip)
            func set(_ attestation: ClipAttestation?, force: Bool = false) async throws {
                _ = try await TenantItems(stores.administration.items.clips, of: tenant, by: "operator:alice")
                    .update(clip, force: force) { clip in
                        var clip = clip
                        clip.attestation = attestation
                        return clip
                    }
            }
            func refuses(
                _ attestation: ClipAttestation, _ operation: ClipAttestation.Operation, seen: Int
            ) async {
                await #expect(throws: AdministrationError.monitoredTooLittle(operation, seen: seen)) {
                    try await set(attestation)
                }
            }
            // The mode `monitor` requires no earlier attestations.
            try await set(ClipAttestation(lookup: .monitor, confirm: .monitor, register: .monitor))
            await refuses(ClipAttestation(lookup: .require), .lookup, seen: 0)
            await refuses(ClipAttestation(confirm: .require), .confirm, seen: 0)
            await refuses(ClipAttestation(register: .require), .register, seen: 0)
            // Failed attestations, old counts and counts of other operations do not permit the stricter policy.
            try await Self.count(1_000, "not_attested", "confirm", stores, tenant)
            try await Self.count(1_000, "by_token", "confirm", daysAgo: 7, stores, tenant)
            try await Self.count(1_000, "by_token", "lookup", stores, tenant)
            try await Self.count(60, "by_token", "confirm", daysAgo: 6, stores, tenant)
            try await Self.count(39, "signed", "confirm", stores, tenant)
            await refuses(ClipAttestation(confirm: .require), .confirm, seen: 99)
            try await Self.count(1, "by_token", "confirm", stores, tenant)
            try await set(ClipAttestation(lookup: .require, confirm: .require))
            // Counts of tokens do not permit a policy that requires signatures.
            await refuses(ClipAttestation(lookup: .require, confirm: .requireSigned), .confirm, seen: 39)
            // An unchanged or looser policy needs no counts.
            try await stores.administer(tenant, "DELETE FROM doorstep.attestation_days")
            try await set(ClipAttestation(lookup: .require, confirm: .require, ramp: 50))
            try await set(ClipAttestation(confirm: .require))
            await refuses(ClipAttestation(lookup: .require, confirm: .require), .lookup, seen: 0)
            try await set(
                ClipAttestation(lookup: .require, confirm: .requireSigned, register: .require),
                force: true)
            let kept = try await stores.administration.clip(clip, of: tenant).attestation
            #expect(
                kept == ClipAttestation(lookup: .require, confirm: .requireSigned, register: .require))
            try await set(nil)
        }
    }
}

import Crypto
import Foundation
import Lookups
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// The retention job deletes unused keys of App Attest and old revocations, and nothing else.
@Suite struct AttestationMaintenanceTests {
    private static let now = Date(timeIntervalSince1970: 1_795_046_340)

    /// Like the server, connects with a login that has both roles.
    private static func maintain(_ stores: Stores) async throws -> AttestationRetention.Work {
        try await stores.database.withPool(as: .serve) {
            try await AttestationRetention($0).maintain(at: Self.now)
        }
    }

    @Test func expiredAttestationRowsOfEveryTenantAreDeleted() async throws {
        try await Stores.withTenant { stores, tenant in
            let tenants = [
                tenant, try await stores.createTenant("other"), try await stores.createTenant("third"),
            ]
            for tenant in tenants { try await stores.createClip(of: tenant) }
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    // The third tenant has no expired rows.
                    for (tenant, ages) in zip(tenants, [[0, 90, 91, 400], [0, 90, 91, 400], [0, 90]]) {
                        // The triggers need the tenant's ID, also for a superuser.
                        _ = try await transaction.execute(
                            "SELECT set_config('doorstep.tenant_id', \(tenant.description), true)")
                        for age in ages {
                            let day = Self.now.addingTimeInterval(-86_400 * Double(age))
                            _ = try await transaction.execute(
                                """
                                INSERT INTO doorstep.attest_keys
                                    (tenant_id, key_id, bundle_id, environment, public_key, attestation_digest,
                                    attested_on, last_used_on)
                                SELECT \(tenant.uuid), sha256(convert_to(\(age)::text || ' ' || n, 'UTF8')),
                                    'com.example.MyApp.Clip', 'production', '\\x04'::bytea || sha512('k'), sha256('a'),
                                    '2025-01-01', (\(day) AT TIME ZONE 'UTC')::date
                                FROM generate_series(1, CASE \(age)::integer WHEN 91 THEN 1500 ELSE 1 END) AS n
                                """)
                            _ = try await transaction.execute(
                                """
                                INSERT INTO doorstep.attestation_days
                                VALUES (\(tenant.uuid), 'com.example.MyApp.Clip', 'confirm',
                                    (\(day.addingTimeInterval(60 * 86_400)) AT TIME ZONE 'UTC')::date, 1, 1, 1)
                                """)
                        }
                        // Revocations of a stored key, of keys that the job deletes, and of a key that was deleted with its clip.
                        for (name, age) in [
                            ("0 1", 92), ("91 1", 92), ("91 2", 90), ("gone", 92), ("went", 90),
                        ]
                        where ages.contains(91) || age < 92 {
                            _ = try await transaction.execute(
                                """
                                INSERT INTO doorstep.revoked_attest_keys
                                VALUES (\(tenant.uuid), sha256(convert_to(\(name), 'UTF8')),
                                    \(Self.now.addingTimeInterval(-86_400 * Double(age))))
                                """)
                        }
                    }
                }
            }
            let expected = AttestationRetention.Work(keys: 3_002, revocations: 4, counts: 4)
            #expect(try await Self.maintain(stores) == expected)
            #expect(try await Self.maintain(stores) == .init())
            #expect(try await stores.count("SELECT count(*) FROM doorstep.attest_keys") == 6)
            #expect(
                try await stores.count(
                    """
                    SELECT count(*) FROM doorstep.revoked_attest_keys
                    WHERE key_id NOT IN (sha256('0 1'), sha256('91 2'), sha256('went'))
                    """) == 0)
            #expect(try await stores.count("SELECT count(*) FROM doorstep.revoked_attest_keys") == 2 * 3 + 2)
        }
    }

    @Test func prunedRevocationDisappearsFromLookupIndex() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    _ = try await transaction.execute(
                        "SELECT set_config('doorstep.tenant_id', \(tenant.description), true)")
                    _ = try await transaction.execute(
                        """
                        INSERT INTO doorstep.revoked_attest_keys
                        VALUES (\(tenant.uuid), sha256('k'), \(Self.now.addingTimeInterval(-92 * 86_400)))
                        """)
                }
            }
            let followed = FollowedTable(stores.routerPool)
            let key = Array(SHA256.hash(data: Array("k".utf8)))
            #expect(try await followed.refreshed().of(tenant).isRevoked(attestKey: key))
            _ = followed.events()
            #expect(try await Self.maintain(stores).revocations == 1)
            #expect(try await !followed.refreshed().of(tenant).isRevoked(attestKey: key))
            #expect(followed.events() == ["changed 1 rows, 0 relations, 0 unreadable"])
        }
    }
}

import Administration
import AppAttest
import AppAttestSimulator
import Confirmations
import Crypto
import Foundation
import Invocation
import Lookups
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Stored attested keys.
@Suite struct AttestedKeysTests {
    private static let clip = "com.example.MyApp.Clip"
    private static let now = Date(timeIntervalSince1970: 1_795_000_000)

    private static func attestedKey() async throws -> (key: AttestedKey, attestation: [UInt8]) {
        let root = try SoftwareRoot(at: now)
        let appID = try AppID("ABCDE12345.com.example.MyApp")
        var device = try SoftwareAuthenticator(root: root, appID: appID)
        let keyID = device.generateKey()
        let hash = Array(SHA256.hash(data: Array("challenge".utf8)))
        let attestation = try device.attest(keyID: keyID, clientDataHash: hash, at: now)
        let verifier = AttestationVerifier(root: try #require(AttestationRoot(pem: root.pem)))
        let key = try await verifier.verify(
            attestation, keyID: keyID, clientDataHash: hash, policy: AttestationPolicy(appIDs: [appID]),
            at: now)
        return (key, attestation)
    }

    @Test func attestedKeyIsStoredOncePerTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] {
                for clip in [Self.clip, "com.example.MyApp.Another"] {
                    try await stores.createClip(clip, of: tenant)
                }
            }
            let keys = PostgresAttestedKeys(stores.appPool)
            let (key, attestation) = try await Self.attestedKey()
            func add(
                _ attestation: [UInt8], _ tenant: TenantID, clip: String = Self.clip
            ) async throws -> KeyAddition {
                try await keys.add(
                    key, attestedBy: attestation, of: BundleID(clip), tenant, at: Self.now)
            }
            #expect(try await keys.key(key.id, of: tenant) == nil)
            #expect(try await add(attestation, tenant, clip: "com.example.No.Clip") == .unknownClip)
            #expect(try await add(attestation, tenant) == .added)
            #expect(try await add(attestation, tenant) == .repeated)
            #expect(try await add(attestation + [0], tenant) == .taken)
            #expect(try await add(attestation, tenant, clip: "com.example.MyApp.Another") == .taken)
            let kept = try await keys.key(key.id, of: tenant)
            #expect(
                kept
                    == RegisteredKey(
                        clip: try BundleID(Self.clip), environment: .production, category: key.category,
                        publicKey: key.publicKey, counter: 0))
            #expect(try await keys.key(key.id, of: other) == nil)
            #expect(try await !keys.advance(key.id, to: 1, of: other, at: Self.now))
            // A device may have keys with two tenants. Each tenant stores its own.
            #expect(try await add(attestation, other) == .added)
            #expect(try await keys.advance(key.id, to: 7, of: tenant, at: Self.now))
            #expect(try await keys.key(key.id, of: other)?.counter == 0)
            #expect(try await keys.key(key.id, of: tenant)?.counter == 7)
            // The key is deleted with its clip, and the deletion does not require `cascade`.
            _ = try await stores.administration.deleteClip(
                BundleID(Self.clip), of: tenant, cascade: false)
            #expect(try await keys.key(key.id, of: tenant) == nil)
        }
    }

    /// If requests with the same counter arrive at two servers at once, one server accepts one of them.
    @Test(.timeLimit(.minutes(30))) func counterIsAcceptedOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            let (key, attestation) = try await Self.attestedKey()
            try await stores.database.withPool(as: .app) { otherPool in
                let servers = [PostgresAttestedKeys(stores.appPool), PostgresAttestedKeys(otherPool)]
                _ = try await servers[0].add(
                    key, attestedBy: attestation, of: BundleID(Self.clip), tenant, at: Self.now)
                var wins = [0, 0]
                for counter in 1...1_000 as ClosedRange<UInt32> {
                    let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
                        // The first server of the loop alternates.
                        for index in counter.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                            group.addTask {
                                try await servers[index].advance(
                                    key.id, to: counter, of: tenant, at: Self.now)
                                    ? index : nil
                            }
                        }
                        return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
                    }
                    #expect(winners.count == 1, "\(counter)")
                    for winner in winners { wins[winner] += 1 }
                }
                #expect(wins[0] + wins[1] == 1_000)
                for counter in [0, 1, 999, 1_000] as [UInt32] {
                    #expect(try await !servers[1].advance(key.id, to: counter, of: tenant, at: Self.now))
                }
                #expect(try await servers[1].advance(key.id, to: .max, of: tenant, at: Self.now))
            }
        }
    }

    @Test func revocationReachesServersButUseDoesNot() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            let other = try await stores.createTenant("other")
            let keys = PostgresAttestedKeys(stores.appPool)
            let (key, attestation) = try await Self.attestedKey()
            let id = try #require(AttestKeyID(key.id))
            let managed = stores.administration.attestKeys
            _ = try await keys.add(
                key, attestedBy: attestation, of: BundleID(Self.clip), tenant, at: Self.now)
            let followed = FollowedTable(stores.routerPool)
            #expect(try await !followed.refreshed().of(tenant).isRevoked(attestKey: key.id))
            _ = followed.events()
            #expect(try await keys.advance(key.id, to: 1, of: tenant, at: Self.now))
            _ = try await followed.refreshed()
            #expect(followed.events() == [])

            var record = AttestKeyRecord(
                id: id, clip: try BundleID(Self.clip), build: key.build, bundleVersion: key.bundleVersion,
                attestedOn: "2026-11-18", lastUsedOn: "2026-11-18", revokedAt: nil)
            #expect(try await managed.keys(of: tenant, after: nil, limit: 10) == [record])
            #expect(try await managed.keys(of: tenant, after: id, limit: 10) == [])
            #expect(try await managed.keys(of: other, after: nil, limit: 10) == [])
            await #expect(throws: AdministrationError.unknownAttestKey) {
                try await managed.revoke(id, of: other, by: "operator:bob")
            }
            // The second revocation changes nothing.
            for changes in [["changed 1 rows, 0 relations, 0 unreadable"], []] {
                #expect(try await managed.revoke(id, of: tenant, by: "operator:bob"))
                let table = try await followed.refreshed()
                #expect(followed.events() == changes)
                #expect(table.of(tenant).isRevoked(attestKey: key.id))
                #expect(!table.of(other).isRevoked(attestKey: key.id))
            }
            let listed = try #require(try await managed.keys(of: tenant, after: nil, limit: 10).first)
            let revokedAt = try #require(listed.revokedAt)
            record = AttestKeyRecord(
                id: id, clip: record.clip, build: record.build, bundleVersion: record.bundleVersion,
                attestedOn: record.attestedOn, lastUsedOn: record.lastUsedOn, revokedAt: revokedAt)
            #expect(listed == record)
            // A new server reads the revocation, too.
            let fresh = try await FollowedTable(stores.routerPool).refreshed()
            #expect(fresh.of(tenant).isRevoked(attestKey: key.id))
            // The revocation stays when the key is deleted with its clip, because tokens can live longer.
            _ = try await stores.administration.deleteClip(
                BundleID(Self.clip), of: tenant, cascade: false)
            #expect(try await followed.refreshed().of(tenant).isRevoked(attestKey: key.id))
        }
    }
}

import AppAttest
import AppAttestSimulator
import AppSiteAssociation
import Attestation
import Crypto
import Foundation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Keys that devices attested, as the database keeps them.
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

    @Test func aKeyIsKeptOnceAndForItsTenantAlone() async throws {
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
                        clip: try BundleID(Self.clip), environment: .production, publicKey: key.publicKey,
                        counter: 0))
            #expect(try await keys.key(key.id, of: other) == nil)
            #expect(try await !keys.advance(key.id, to: 1, of: other, at: Self.now))
            // The same device with two tenants' keys: each has its own.
            #expect(try await add(attestation, other) == .added)
            #expect(try await keys.advance(key.id, to: 7, of: tenant, at: Self.now))
            #expect(try await keys.key(key.id, of: other)?.counter == 0)
            #expect(try await keys.key(key.id, of: tenant)?.counter == 7)
            // It goes with its clip, and is no reason to keep that.
            _ = try await stores.administration.deleteClip(
                BundleID(Self.clip), of: tenant, cascade: false)
            #expect(try await keys.key(key.id, of: tenant) == nil)
        }
    }

    /// Of those that come at once with one counter, one is told that it is the first.
    @Test func aCounterIsGoodOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            let keys = PostgresAttestedKeys(stores.appPool)
            let (key, attestation) = try await Self.attestedKey()
            _ = try await keys.add(
                key, attestedBy: attestation, of: BundleID(Self.clip), tenant, at: Self.now)
            for counter in 1...200 as ClosedRange<UInt32> {
                let won = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<3 {
                        group.addTask {
                            try await keys.advance(key.id, to: counter, of: tenant, at: Self.now)
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(won == 1, "\(counter)")
            }
            for counter in [0, 1, 199, 200] as [UInt32] {
                #expect(try await !keys.advance(key.id, to: counter, of: tenant, at: Self.now))
            }
            #expect(try await keys.advance(key.id, to: .max, of: tenant, at: Self.now))
        }
    }
}

import Administration
import AppStoreSync
import Formats
import Foundation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// The keys of App Store Connect: stored sealed, and opened only to sign a request.
@Suite struct AppStoreConnectionTests {
    private static let clip = "com.example.MyApp.Clip"
    private static let pem =
        "-----BEGIN PRIVATE KEY-----\nnothing that anybody may see\n-----END PRIVATE KEY-----\n"
    private static let (first, second) = (
        String(repeating: "1", count: 32), String(repeating: "2", count: 32)
    )

    private static func connections(
        _ stores: Stores, _ secrets: [String] = [first]
    ) throws -> PostgresStoreConnections {
        PostgresStoreConnections(stores.adminPool, keys: try #require(SealingKeys(secrets: secrets)))
    }

    private static func credentials(_ keyID: String = "ABCDE12345", issuer: String? = nil) -> StoreCredentials
    {
        StoreCredentials(keyID: keyID, issuerID: issuer, pem: pem)
    }

    /// The text of all rows that could contain a connection's key.
    private static func everything(_ stores: Stores, _ tenant: TenantID) async throws -> String {
        try await stores.adminPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            return try await transaction.execute(
                """
                SELECT coalesce(string_agg(t, ' '), '') FROM (
                    SELECT c::text || ' ' || encode(c.sealed_secret, 'escape') AS t
                    FROM doorstep.app_store_connections AS c
                    UNION ALL SELECT a::text FROM doorstep.audit_log AS a) AS s
                """
            ).one().decode(String.self)
        }
    }

    @Test func appStoreKeyIsStoredSealed() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(Self.clip, of: tenant)
            let (connections, clip) = (try Self.connections(stores), try BundleID(Self.clip))
            let made = try await connections.connect(
                clip, by: Self.credentials(issuer: "57246542-96fe-1a63-e053-0824d011072a"), of: tenant,
                actor: "t")
            #expect(try await connections.connections(of: tenant) == [made])
            let (opened, app) = try await connections.credentials(of: clip, of: tenant)
            #expect(app == clip.parent)
            _ = try await stores.administration.updateClip(clip, of: tenant) { old in
                try Clip(
                    bundleID: old.bundleID, parentBundleID: BundleID("com.example"), teamID: old.teamID,
                    isMultiBusiness: old.isMultiBusiness)
            }
            #expect(
                try await connections.credentials(of: clip, of: tenant).app == BundleID("com.example"))
            #expect(opened.pem == Self.pem && opened.keyID == "ABCDE12345")
            #expect(opened.issuerID == "57246542-96fe-1a63-e053-0824d011072a")

            let told = try await Self.everything(stores, tenant)
            #expect(told.contains("ABCDE12345") && !told.contains("nothing that anybody may see"))
            #expect(!told.contains("PRIVATE KEY"))
            #expect(!"\(opened)".contains("PRIVATE") && !String(reflecting: opened).contains("PRIVATE"))
            var dumped = ""
            dump(opened, to: &dumped)
            #expect(!dumped.contains("PRIVATE"))

            // An individual key for the clip replaces the team's key.
            _ = try await connections.connect(
                clip, by: Self.credentials("FGHIJ67890"), of: tenant, actor: "t")
            #expect(try await connections.connections(of: tenant).map(\.keyID) == ["FGHIJ67890"])
            #expect(try await connections.credentials(of: clip, of: tenant).key.issuerID == nil)

            try await connections.disconnect(clip, of: tenant, actor: "t")
            #expect(try await connections.connections(of: tenant).isEmpty)
            await #expect(throws: SyncError.notConnected(clip)) {
                try await connections.disconnect(clip, of: tenant, actor: "t")
            }
            await #expect(throws: SyncError.notConnected(clip)) {
                try await connections.credentials(of: clip, of: tenant)
            }
        }
    }

    @Test func anotherTenantsConnectionIsUnreadable() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] { try await stores.createClip(Self.clip, of: tenant) }
            let (connections, clip) = (try Self.connections(stores), try BundleID(Self.clip))
            _ = try await connections.connect(clip, by: Self.credentials(), of: tenant, actor: "t")
            #expect(try await connections.connections(of: other).isEmpty)
            await #expect(throws: SyncError.notConnected(clip)) {
                try await connections.credentials(of: clip, of: other)
            }
            await #expect(throws: AdministrationError.unknownClip(try BundleID("com.example.Other.Clip"))) {
                try await connections.connect(
                    BundleID("com.example.Other.Clip"), by: Self.credentials(), of: tenant, actor: "t")
            }

            // A value that is sealed for one tenant cannot be opened for another tenant.
            let sealed = try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                return try await transaction.execute(
                    "SELECT encode(sealed_secret, 'hex') FROM doorstep.app_store_connections"
                ).one().decode(String.self)
            }
            try await stores.administer(
                other,
                """
                INSERT INTO doorstep.app_store_connections (tenant_id, bundle_id, key_id, sealed_secret)
                VALUES ('\(other)', '\(Self.clip)', 'ABCDE12345', '\\x\(sealed)')
                """)
            await #expect(throws: SyncError.unreadableKey(clip)) {
                try await connections.credentials(of: clip, of: other)
            }
        }
    }

    @Test func appStoreKeyIsResealedByNewSecret() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(Self.clip, of: tenant)
            let clip = try BundleID(Self.clip)
            _ = try await Self.connections(stores).connect(
                clip, by: Self.credentials(), of: tenant, actor: "t")
            let newest = try Self.connections(stores, [Self.second])
            await #expect(throws: SyncError.unreadableKey(clip)) {
                try await newest.credentials(of: clip, of: tenant)
            }
            #expect(try await newest.reseal(of: tenant) == TokenResealing.Result(unreadable: 1))
            let both = try Self.connections(stores, [Self.second, Self.first])
            #expect(try await both.reseal(of: tenant) == TokenResealing.Result(resealed: 1))
            #expect(try await both.reseal(of: tenant) == TokenResealing.Result())
            #expect(try await newest.credentials(of: clip, of: tenant).key.pem == Self.pem)
        }
    }

    /// Apple shows a private key once. Deleting the clip therefore requires `cascade`, for operators and for keys of the tenant.
    @Test func clipDeletionRequiresCascadeForItsConnection() async throws {
        try await Stores.withTenant { stores, tenant in
            let (connections, clip) = (try Self.connections(stores), try BundleID(Self.clip))
            let used = AdministrationError.inUse(
                "clip \(clip)",
                by: [Dependents(RowCount(relation: "app_store_connections", count: 1), first: ["ABCDE12345"])]
            )
            let followed = FollowedTable(stores.routerPool)
            try await stores.database.withPool(as: .manager) { pool in
                try await followed.running {
                    let managed = ManagedCatalogue(pool, followedBy: followed.feed).items.clips
                    for clips in [stores.administration.items.clips, managed] {
                        try await stores.createClip(Self.clip, of: tenant)
                        _ = try await connections.connect(
                            clip, by: Self.credentials(), of: tenant, actor: "t")
                        let items = TenantItems(clips, of: tenant, by: "t")
                        await #expect(throws: used) { try await items.delete(clip) }
                        #expect(try await connections.connections(of: tenant).count == 1)
                        #expect(
                            try await items.delete(clip, cascade: true).map(\.description) == [
                                "1 app_store_connection", "1 clip",
                            ])
                        #expect(try await connections.connections(of: tenant).isEmpty)
                    }
                }
            }
        }
    }
}

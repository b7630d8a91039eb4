import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Single items are created, changed and deleted.
@Suite struct CatalogueChangeTests {
    private static let clipName = "com.example.MyApp.Clip"
    private static let first = "https://example.com/a"

    /// Runs the closure with two tenants that have the same items: a clip, two locations, an experience of the first location, a
    /// short code.
    private static func withTwins(
        _ body: (Stores, _ tenant: TenantID, _ twin: TenantID) async throws -> Void
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            let twin = try await stores.createTenant("twin")
            for tenant in [tenant, twin] {
                try await stores.createClip(clipName, of: tenant)
                try await stores.importLocations(
                    [.sample("a", metadata: ["phone": "1"]), .sample("b")], of: tenant)
                try await stores.administration.createExperience(
                    .sample(first, location: "a", title: "T"), of: tenant)
                try await stores.administration.createShortCode(.sample("c"), of: tenant)
            }
            try await body(stores, tenant, twin)
        }
    }

    /// All rows of a tenant, as text.
    private static func rows(_ stores: Stores, _ tenant: TenantID) async throws -> [String] {
        let store = stores.administration
        return try await [
            "\(store.clips(of: tenant))", "\(store.locations(of: tenant, after: nil, limit: 99))",
            "\(store.experiences(of: tenant))", "\(store.shortCodes(of: tenant, after: nil, limit: 99))",
        ]
    }

    /// The operator's latest changes as `action relation`, the newest first.
    private static func log(_ stores: Stores, _ tenant: TenantID, _ count: Int) async throws -> [String] {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT action || ' ' || relation FROM doorstep.audit_log
                    WHERE tenant_id = \(tenant.uuid) AND actor = 'operator:alice'
                    ORDER BY entry_id DESC LIMIT \(count)
                    """
                ).map { try $0.decode(at: 0, as: String.self) }
            }
        }
    }

    // MARK: Create and update

    @Test func changesAreStoredAndAudited() async throws {
        try await Self.withTwins { stores, tenant, twin in
            let (store, before) = (stores.administration, try await Self.rows(stores, twin))
            let (a, clipID) = (try LocationIdentifier("a"), try BundleID(Self.clipName))
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()

            let location = try await store.updateLocation(a, of: tenant) { old in
                let expected = try LocationRecord.sample("a", metadata: ["phone": "1"])
                #expect(old == expected)
                return try .sample(
                    "a", name: "Moved", latitude: -33.5, radius: 50, metadata: ["x": "y"],
                    details: ["phone": "1"])
            }
            #expect(try await store.location(a, of: tenant) == location)
            #expect(location.name.text == "Moved" && location.region.center.latitude == -33.5)
            _ = try await followed.refreshed()
            #expect(followed.events().last == "changed 1 rows, 0 relations, 0 unreadable")

            let clip = try await store.updateClip(clipID, of: tenant) { old in
                #expect(!old.isMultiBusiness)
                return try Clip(
                    bundleID: old.bundleID, teamID: TeamID("ZZZZZ12345"),
                    appIDPrefix: AppIDPrefix("OLDPREFIX1"), isMultiBusiness: true)
            }
            #expect(try await store.clip(clipID, of: tenant) == clip && clip.isMultiBusiness)

            let url = try URLPrefix(Self.first)
            let changed = try ExperienceRecord.sample(Self.first, rule: "path:1", subtitle: "S")
            _ = try await store.updateExperience(.advanced, url, of: tenant) { old in
                let expected = try ExperienceRecord.sample(Self.first, location: "a", title: "T")
                #expect(old == expected)
                return changed
            }
            #expect(try await store.experience(.advanced, url, of: tenant) == changed)

            let code = try ShortCode.sample("c", "https://example.com/other")
            try await store.updateShortCode(code, of: tenant)
            #expect(try await store.shortCode("c", of: tenant) == code)
            let renamed = try await ManagedCatalogue(store).tenant.change(tenant, by: store.actor) {
                try $0.patched(by: ["name": "Other"])
            }.after
            #expect(try await store.tenant(TenantSlug("acme")) == renamed && renamed.name.text == "Other")

            #expect(
                try await Self.log(stores, tenant, 5) == [
                    "update tenants", "update short_codes", "update experiences", "update clips",
                    "update locations",
                ])
            #expect(try await Self.rows(stores, twin) == before)
        }
    }

    @Test func creationOfExistingItemIsRejected() async throws {
        try await Self.withTwins { stores, tenant, _ in
            let (store, before) = (stores.administration, try await Self.rows(stores, tenant))
            let a = try LocationIdentifier("a")
            await #expect(throws: AdministrationError.locationExists(a)) {
                try await store.createLocation(.sample("a", name: "Other"), of: tenant)
            }
            await #expect(throws: AdministrationError.itemExists(of: "short_code", named: "c")) {
                try await store.createShortCode(.sample("c", "https://example.com/other"), of: tenant)
            }
            #expect(try await Self.rows(stores, tenant) == before)
            let d = try LocationRecord.sample(
                "d", metadata: ["phone": "\u{1F369}\"'"], details: ["x": "\u{1F369}\"'"])
            try await store.createLocation(d, of: tenant)
            #expect(try await store.location(d.identifier, of: tenant) == d)
        }
    }

    @Test func invalidChangeIsRejectedLikeInvalidCreation() async throws {
        try await Self.withTwins { stores, tenant, _ in
            let (store, before) = (stores.administration, try await Self.rows(stores, tenant))
            let url = try URLPrefix(Self.first)
            for (clip, location, refusal) in [
                (
                    "com.example.None.Clip", "a",
                    AdministrationError.unknownClip(try BundleID("com.example.None.Clip"))
                ),
                (Self.clipName, "none", .unknownLocation(try LocationIdentifier("none"))),
            ] {
                await #expect(throws: refusal) {
                    try await store.updateExperience(.advanced, url, of: tenant) { _ in
                        try .sample(Self.first, clip: clip, location: location)
                    }
                }
            }
            struct Refused: Error {}
            let a = try LocationIdentifier("a")
            await #expect(throws: Refused.self) {
                try await store.updateLocation(a, of: tenant) { _ in throw Refused() }
            }
            #expect(try await Self.rows(stores, tenant) == before)
        }
    }

    /// Concurrent changes of one item run one after the other. No change is lost.
    @Test(.timeLimit(.minutes(30))) func concurrentChangesAreNotLost() async throws {
        try await Self.withTwins { stores, tenant, _ in
            let (store, a) = (stores.administration, try LocationIdentifier("a"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        _ = try await store.updateLocation(a, of: tenant) { old in
                            var metadata = old.metadata
                            metadata["n\(number)"] = "x"
                            return LocationRecord(
                                identifier: old.identifier, name: old.name, region: old.region,
                                metadata: metadata)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.location(a, of: tenant).metadata.count == 9)
        }
    }

    @Test func keyExpiryIsChangedOrRemoved() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let id = try await store.createKey(
                KeyTests.key(number: 1), scopes: nil, expiresAt: nil, of: tenant
            ).id
            let date = Date(timeIntervalSince1970: 4_000_000_000)
            #expect(try await store.updateKey(id, expiresAt: date, of: tenant).expiresAt == date)
            #expect(try await store.key(id, of: tenant).expiresAt == date)
            #expect(try await store.updateKey(id, expiresAt: nil, of: tenant).expiresAt == nil)
            let other = try await stores.createTenant("other")
            await #expect(throws: AdministrationError.unknownKey) { try await store.key(id, of: other) }
            await #expect(throws: AdministrationError.unknownKey) {
                try await store.updateKey(id, expiresAt: date, of: other)
            }
            _ = try await store.revokeKey(id, of: tenant)
            await #expect(throws: AdministrationError.keyNotActive) {
                try await store.updateKey(id, expiresAt: nil, of: tenant)
            }
        }
    }

    // MARK: Delete

    @Test func deletionOfItemInUseNamesItsDependents() async throws {
        try await Self.withTwins { stores, tenant, twin in
            let (store, before) = (stores.administration, try await Self.rows(stores, tenant))
            let (a, clipID) = (try LocationIdentifier("a"), try BundleID(Self.clipName))
            let experience = Dependents(
                RowCount(relation: "experiences", count: 1), first: ["advanced https://example.com/a"])
            await #expect(throws: AdministrationError.inUse("location 'a'", by: [experience])) {
                try await store.deleteLocation(a, of: tenant, cascade: false)
            }
            await #expect(throws: AdministrationError.inUse("clip \(clipID)", by: [experience])) {
                try await store.deleteClip(clipID, of: tenant, cascade: false)
            }
            #expect(try await Self.rows(stores, tenant) == before)
            // The error names the first dependents and counts all of them, without dependents of other tenants.
            for name in ["e", "d", "c", "b"] {
                try await store.createExperience(
                    .sample("https://example.com/\(name)", location: "a"), of: tenant)
            }
            let five = Dependents(
                RowCount(relation: "experiences", count: 5),
                first: ["a", "b", "c"].map { "advanced https://example.com/\($0)" })
            await #expect(throws: AdministrationError.inUse("location 'a'", by: [five])) {
                try await store.deleteLocation(a, of: tenant, cascade: false)
            }
            await #expect(throws: AdministrationError.inUse("location 'a'", by: [experience])) {
                try await store.deleteLocation(a, of: twin, cascade: false)
            }
        }
    }

    @Test func cascadeDeletesLocationWithItsExperiences() async throws {
        try await Self.withTwins { stores, tenant, twin in
            let (store, before) = (stores.administration, try await Self.rows(stores, twin))
            let a = try LocationIdentifier("a")
            let followed = FollowedTable(stores.routerPool)
            #expect(try await followed.refreshed().experienceCount == 2)
            #expect(
                try await store.deleteLocation(a, of: tenant, cascade: true) == [
                    RowCount(relation: "experiences", count: 1), RowCount(relation: "locations", count: 1),
                ])
            #expect(
                try await Self.log(stores, tenant, 2) == ["delete locations", "delete experiences"])
            let table = try await followed.refreshed()
            #expect(table.experienceCount == 1 && table.locationCount == 3)
            await #expect(throws: AdministrationError.unknownLocation(a)) {
                try await store.deleteLocation(a, of: tenant, cascade: true)
            }
            // A location without dependents is deleted alone.
            let b = try LocationIdentifier("b")
            #expect(
                try await store.deleteLocation(b, of: tenant, cascade: true)
                    == [RowCount(relation: "locations", count: 1)])
            #expect(try await Self.rows(stores, twin) == before)
        }
    }

    @Test func cascadeDeletesClipWithAllItsDependents() async throws {
        try await MigratedDatabase.withDatabase { database in
            let (tenant, other) = (TenantID(UUID()), TenantID(UUID()))
            try await database.insertSampleRows(of: tenant)
            try await database.insertSampleRows(of: other)
            try await database.withPool(as: .admin) { pool in
                let store = PostgresAdministrationStore(pool, actor: "operator:bob")
                let clip = try #require(try await store.clips(of: tenant).first).bundleID
                do {
                    _ = try await store.deleteClip(clip, of: tenant, cascade: false)
                    Issue.record("the clip is in use")
                } catch AdministrationError.inUse(_, let dependents) {
                    #expect(
                        dependents.map(\.rows.relation) == [
                            "experiences", "instances", "channels", "app_store_connections",
                        ])
                    #expect(dependents.map(\.rows.count) == [1, 1, 1, 1])
                }
                #expect(
                    try await store.deleteClip(clip, of: tenant, cascade: true).map(\.description) == [
                        "1 experience", "1 instance", "1 channel", "1 app_store_connection", "1 clip",
                    ])
                #expect(try await store.clips(of: tenant).isEmpty)
                #expect(try await store.clips(of: other).count == 1)
            }
            // The instance's rows are deleted, but no rows of other tenants.
            try await database.withSuperuser { pool in
                for table in ["experiences", "instances", "launches", "push_tokens", "channels"] {
                    let left = try await pool.withConnection { connection in
                        try await connection.execute(
                            "SELECT tenant_id FROM doorstep.\(identifier: table)"
                        ).map { try $0.decode(at: 0, as: UUID.self) }
                    }
                    #expect(left == [other.uuid], "\(table)")
                }
            }
        }
    }

    @Test func experienceAndShortCodeAreDeleted() async throws {
        try await Self.withTwins { stores, tenant, twin in
            let (store, before) = (stores.administration, try await Self.rows(stores, twin))
            let url = try URLPrefix(Self.first)
            try await store.createExperience(.sample(Self.first, kind: .default), of: tenant)
            try await store.deleteExperience(.advanced, url, of: tenant)
            #expect(try await store.experiences(of: tenant).map(\.experience.kind) == [.default])
            try await store.deleteShortCode("c", of: tenant)
            #expect(try await store.shortCodes(of: tenant, after: nil, limit: 9).isEmpty)
            #expect(
                try await Self.log(stores, tenant, 2) == ["delete short_codes", "delete experiences"])
            #expect(try await Self.rows(stores, twin) == before)
        }
    }

    /// Items of another tenant are unknown, too.
    @Test func unknownItemIsNamedInError() async throws {
        try await Self.withTwins { stores, _, _ in
            let store = stores.administration
            let tenant = try await stores.createTenant("empty")
            let (a, clip) = (try LocationIdentifier("a"), try BundleID(Self.clipName))
            let (url, code) = (try URLPrefix(Self.first), try ShortCode.sample("c"))
            let unknown: [(AdministrationError, @Sendable () async throws -> Void)] = [
                (.unknownLocation(a), { _ = try await store.location(a, of: tenant) }),
                (.unknownLocation(a), { _ = try await store.updateLocation(a, of: tenant) { $0 } }),
                (.unknownLocation(a), { _ = try await store.deleteLocation(a, of: tenant, cascade: true) }),
                (.unknownClip(clip), { _ = try await store.clip(clip, of: tenant) }),
                (.unknownClip(clip), { _ = try await store.updateClip(clip, of: tenant) { $0 } }),
                (.unknownClip(clip), { _ = try await store.deleteClip(clip, of: tenant, cascade: true) }),
                (
                    .unknownExperience(.advanced, url),
                    { _ = try await store.experience(.advanced, url, of: tenant) }
                ),
                (
                    .unknownExperience(.advanced, url),
                    { _ = try await store.updateExperience(.advanced, url, of: tenant) { $0 } }
                ),
                (
                    .unknownExperience(.advanced, url),
                    { try await store.deleteExperience(.advanced, url, of: tenant) }
                ),
                (
                    .unknownItem(of: "short_code", named: "c"),
                    { _ = try await store.shortCode("c", of: tenant) }
                ),
                (
                    .unknownItem(of: "short_code", named: "c"),
                    { try await store.updateShortCode(code, of: tenant) }
                ),
                (
                    .unknownItem(of: "short_code", named: "c"),
                    { try await store.deleteShortCode("c", of: tenant) }
                ),
            ]
            for (refusal, call) in unknown { await #expect(throws: refusal) { try await call() } }
        }
    }

    /// The deletion waits for the other transaction, and then finds that the location is in use.
    @Test(.timeLimit(.minutes(30))) func deletionWaitsForConcurrentReference() async throws {
        try await Self.withTwins { stores, tenant, _ in
            let b = try LocationIdentifier("b")
            let task = try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    "UPDATE doorstep.experiences SET location_identifier = 'b' WHERE tenant_id = \(tenant.uuid)"
                )
                let task = Task {
                    _ = try await stores.administration.deleteLocation(b, of: tenant, cascade: false)
                }
                try await stores.waitForWaiters()
                return task
            }
            let user = Dependents(
                RowCount(relation: "experiences", count: 1), first: ["advanced https://example.com/a"])
            await #expect(throws: AdministrationError.inUse("location 'b'", by: [user])) {
                try await task.value
            }
        }
    }
}

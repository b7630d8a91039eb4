import APNsPayload
import Administration
import Cards
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import PostgreSQL
import StoreSupport
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// A tenant's usage is counted and never exceeds its quotas.
@Suite struct QuotaTests {
    private static func withTenant(
        _ quotas: [QuotaKind: Quota] = [:], _ body: (Stores, TenantID) async throws -> Void
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            try await set(quotas, stores)
            try await body(stores, tenant)
        }
    }

    private static func set(_ quotas: [QuotaKind: Quota], _ stores: Stores) async throws {
        _ = try await stores.administration.changeQuotas(of: TenantSlug("acme")) { $0 = quotas }
    }

    private static func usage(_ stores: Stores) async throws -> [QuotaKind: QuotaUsage] {
        try await stores.administration.tenant(TenantSlug("acme")).usage
    }

    private static func used(_ kind: QuotaKind, _ stores: Stores) async throws -> Int? {
        try await usage(stores)[kind]?.rows
    }

    /// The kinds of items that the total includes.
    private static let catalogue = QuotaKind.allCases.filter {
        ![.auditLog, .deliveries, .instances, .total].contains($0)
    }

    /// Adds item `number` of a kind with the store that requests use.
    private static func add(
        _ kind: QuotaKind, _ number: Int, _ stores: Stores, _ tenant: TenantID
    ) async throws {
        let (store, url) = (stores.administration, "https://example.com/\(number)")
        switch kind {
        case .channels:
            try await PostgresChannelStore(stores.appPool).add(
                BroadcastChannel(
                    id: ChannelID(number == 0 ? "YQ==" : "Yg==")!, clip: BundleID("com.example.MyApp.Clip"),
                    environment: .production, storesLastMessage: false, createdAt: Date()), of: tenant)
        case .clips: try await stores.createClip("com.example.MyApp.Clip\(number)", of: tenant)
        case .domains:
            _ = try await store.claimDomain(
                DomainName("shop\(number).example.com"), challenge: "c", of: tenant)
        case .experiences:
            try await store.createExperience(
                ExperienceRecord.sample(url, clip: "com.example.MyApp.Clip0"), of: tenant)
        case .images:
            _ = try await TenantItems(store.items.images, of: tenant, by: "t").add(
                CardImage(file: HeaderPicture.png(seed: number), addedAt: Date()))
        case .keys:
            _ = try await store.createKey(
                KeyTests.key(number: UInt32(number) + 1), scopes: nil, expiresAt: nil, of: tenant)
        case .auditLog, .deliveries, .instances: Issue.record("\(kind) is no kind of items")
        case .locations, .total: try await store.createLocation(.sample("l\(number)"), of: tenant)
        case .shortCodes: try await store.createShortCode(.sample("c\(number)"), of: tenant)
        }
    }

    @Test(arguments: catalogue + [.total])
    func writeBeyondAQuotaIsRefusedWithItsFigures(_ kind: QuotaKind) async throws {
        // Channels and experiences need a clip.
        try await Self.withTenant { stores, tenant in
            if kind != .clips { try await stores.createClip("com.example.MyApp.Clip0", of: tenant) }
            if kind == .channels { try await stores.createClip(of: tenant) }
            let base = try #require(try await Self.usage(stores)[kind])
            try await Self.set([kind: Quota(rows: base.rows + 1)], stores)
            try await Self.add(kind, 0, stores, tenant)
            let full = try #require(try await Self.usage(stores)[kind])
            #expect(full.rows == base.rows + 1 && full.bytes > base.bytes)
            await #expect(
                throws: QuotaExceeded(
                    QuotaForecast(
                        kind: kind, unit: .rows, limit: full.rows, current: full.rows, wouldBe: full.rows + 1)
                )
            ) { try await Self.add(kind, 1, stores, tenant) }
            try await Self.set([kind: Quota(bytes: full.bytes + 1)], stores)
            let error = await #expect(throws: QuotaExceeded.self) {
                try await Self.add(kind, 1, stores, tenant)
            }
            #expect(error?.forecast.kind == kind && error?.forecast.unit == .bytes)
            #expect(error?.forecast.current == full.bytes && error?.forecast.limit == full.bytes + 1)
            // The refused write changed nothing.
            #expect(try await Self.usage(stores)[kind]?.rows == full.rows)
            try await Self.set([kind: Quota(rows: full.rows + 1)], stores)
            try await Self.add(kind, 1, stores, tenant)
            #expect(try await Self.usage(stores)[kind]?.rows == full.rows + 1)
        }
    }

    @Test func roomForAChannelIsCheckedWithoutStoringOne() async throws {
        try await Self.withTenant([.channels: Quota(rows: 1)]) { stores, tenant in
            try await stores.createClip(of: tenant)
            let (store, clip) = (
                PostgresChannelStore(stores.appPool), try BundleID("com.example.MyApp.Clip")
            )
            try await store.checkRoom(of: clip, .production, of: tenant)
            #expect(try await store.channels(of: tenant).isEmpty)
            #expect(try await Self.used(.channels, stores) == 0)
            try await Self.add(.channels, 0, stores, tenant)
            let forecast = QuotaForecast(kind: .channels, unit: .rows, limit: 1, current: 1, wouldBe: 2)
            await #expect(throws: QuotaExceeded(forecast)) {
                try await store.checkRoom(of: clip, .production, of: tenant)
            }
            #expect(try await Self.used(.channels, stores) == 1)
        }
    }

    /// After a failover, an unlogged table is empty, and its sequence cannot be used (PostgreSQL 15).
    @Test func schemaHasNoUnloggedRelation() async throws {
        try await Self.withTenant { stores, _ in
            let count = try await stores.count(
                """
                SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                WHERE n.nspname = 'doorstep' AND relpersistence <> 'p'
                """)
            #expect(count == 0)
        }
    }

    @Test func usageIsZeroAfterEverythingIsDeleted() async throws {
        try await Self.withTenant { stores, tenant in
            let store = stores.administration
            let empty = try await Self.usage(stores)
            #expect(Set(empty.keys) == Set(QuotaKind.allCases))
            #expect(empty.values.allSatisfy { $0.rows == 0 && $0.bytes == 0 })
            try await stores.createClip(of: tenant)
            for kind in Self.catalogue {
                for number in 0..<2 { try await Self.add(kind, number, stores, tenant) }
            }
            let image = try CardImage(file: HeaderPicture.png(seed: 0), addedAt: Date())
            _ = try await store.updateLocation(LocationIdentifier("l0"), of: tenant) { location in
                try LocationRecord.sample(
                    location.identifier.text, name: "Ünïcode", metadata: ["a": "b"], details: ["c": "é"],
                    card: Card(action: .open, image: image.key))
            }
            let full = try await Self.usage(stores)
            #expect(full[.images]?.bytes == 2 * image.byteCount)
            #expect(full[.total]?.rows == Self.catalogue.reduce(0) { $0 + (full[$1]?.rows ?? 0) })
            #expect(full[.total]?.bytes == Self.catalogue.reduce(0) { $0 + (full[$1]?.bytes ?? 0) })
            try await stores.administer(
                tenant,
                """
                UPDATE doorstep.locations SET card_image = NULL;
                DELETE FROM doorstep.experiences; DELETE FROM doorstep.locations; DELETE FROM doorstep.short_codes;
                DELETE FROM doorstep.channels; DELETE FROM doorstep.domains;
                DELETE FROM doorstep.clips; DELETE FROM doorstep.card_image_bytes; DELETE FROM doorstep.card_images;
                DELETE FROM doorstep.api_keys
                """)
            // The audit log stays.
            #expect(
                try await Self.usage(stores).filter { $0.key != .auditLog }
                    == empty.filter { $0.key != .auditLog })
            #expect(try await stores.count("SELECT count(*) FROM doorstep.usage_settlements") == 0)
        }
    }

    @Test func revokedKeyLeavesRoomForAnotherOne() async throws {
        try await Self.withTenant([.keys: Quota(rows: 1)]) { stores, tenant in
            try await Self.add(.keys, 0, stores, tenant)
            await #expect(throws: QuotaExceeded.self) { try await Self.add(.keys, 1, stores, tenant) }
            let key = try #require(try await stores.administration.keys(of: tenant).first)
            _ = try await stores.administration.revokeKey(key.id, of: tenant)
            let usage = try await Self.usage(stores)
            #expect(usage[.keys]?.rows == 0 && usage[.keys]?.bytes == 0 && usage[.total]?.bytes == 0)
            try await Self.add(.keys, 1, stores, tenant)
        }
    }

    // MARK: Instances and deliveries

    private static func withRestaurants(
        _ quotas: [QuotaKind: Quota], _ body: (Restaurants) async throws -> Void
    ) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await set(quotas, restaurants.stores)
            try await body(restaurants)
        }
    }

    @Test func newInstanceBeyondTheQuotaIsRefused() async throws {
        try await RegisteredInstances.with { instances in
            let stores = instances.stores
            try await Self.set([.instances: Quota(rows: 2)], stores)
            let ids = (0..<3).map { _ in InstanceID(UUID()) }
            for id in ids[..<2] {
                try await instances.register(RegisteredInstances.registration(id))
            }
            let forecast = QuotaForecast(kind: .instances, unit: .rows, limit: 2, current: 2, wouldBe: 3)
            await #expect(throws: QuotaExceeded(forecast)) {
                try await instances.register(RegisteredInstances.registration(ids[2]))
            }
            #expect(try await Self.used(.instances, stores) == 2)
            // A launch of a known instance adds no row.
            try await instances.register(
                RegisteredInstances.registration(
                    ids[0], at: RegisteredInstances.now.addingTimeInterval(60)))
            #expect(try await instances.store.delete(ids[1], of: instances.tenant))
            #expect(try await Self.used(.instances, stores) == 1)
            try await instances.register(RegisteredInstances.registration(ids[2]))
            let usage = try await Self.usage(stores)
            #expect(usage[.instances]?.rows == 2 && usage[.instances]?.limit.rows == 2)
            // Instances are no part of the catalogue.
            #expect(usage[.total]?.rows == 1)
            let shares = try await PostgresQuotaUsage(stores.routerPool).fullest(limit: 1)
            #expect(
                shares.map(\.quota) == [.init(tenant: instances.tenant, kind: .instances, unit: .rows)]
                    && shares.map(\.used) == [1])
            try await stores.administer(instances.tenant, "DELETE FROM doorstep.instances")
            #expect(try await Self.used(.instances, stores) == 0)
        }
    }

    @Test func notificationBeyondTheQuotaOfDeliveriesStoresNothing() async throws {
        try await Self.withRestaurants([.deliveries: Quota(rows: 5)]) { restaurants in
            let stores = restaurants.stores
            try await restaurants.registerMany(3)
            try await restaurants.send()
            #expect(try await Self.used(.deliveries, stores) == 3)
            let forecast = QuotaForecast(kind: .deliveries, unit: .rows, limit: 5, current: 3, wouldBe: 6)
            let key = IdempotencyKey("again", for: ["request": 1], of: restaurants.tenant)
            let submission = try restaurants.submission(key: key)
            await #expect(throws: QuotaExceeded(forecast)) { try await restaurants.accept(submission) }
            #expect(try await stores.count("SELECT count(*) FROM doorstep.notifications") == 1)
            #expect(try await stores.count("SELECT count(*) FROM doorstep.idempotency_keys") == 0)
            try await Self.set([.deliveries: Quota(rows: 6)], stores)
            #expect(try await restaurants.accept(submission).trace?.counts.first?.count == 3)
            #expect(try await Self.used(.deliveries, stores) == 6)
        }
    }

    /// The audience waits, and its first part is sent.
    @Test func audienceBeyondTheQuotaOfDeliveriesContinuesWhenThereIsRoom() async throws {
        try await Self.withRestaurants([.deliveries: Quota(rows: 15)]) { restaurants in
            var size = AudiencePartSize()
            size.reachable = 10
            let restaurants = restaurants.takingIn(size)
            try await restaurants.registerMany(25)
            let trace = try await restaurants.send()
            #expect(!trace.isComplete)
            await #expect(throws: QuotaExceeded.self) { try await restaurants.continueAudiences() }
            #expect(try await Self.used(.deliveries, restaurants.stores) == 10)
            try await Self.set([.deliveries: Quota(rows: 25)], restaurants.stores)
            // The audience waits until there is room.
            try await restaurants.stores.database.withSuperuser { pool in
                try await pool.withConnection {
                    try await $0.execute(script: "UPDATE doorstep.audience_cursors SET due_at = now()")
                }
            }
            try await restaurants.continueAudiences()
            #expect(try await restaurants.trace(trace).isComplete)
            #expect(try await Self.used(.deliveries, restaurants.stores) == 25)
        }
    }

    @Test(.timeLimit(.minutes(30))) func concurrentNotificationsAreAllCounted() async throws {
        try await Self.withRestaurants([:]) { restaurants in
            try await restaurants.registerMany(2)
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { _ = try await restaurants.send() } }
                try await group.waitForAll()
            }
            #expect(try await Self.used(.deliveries, restaurants.stores) == 40)
        }
    }

    // MARK: Audit log

    @Test func changeBeyondTheQuotaOfTheAuditLogIsRefused() async throws {
        try await Self.withTenant { stores, tenant in
            let store = stores.administration
            for number in 0..<2 { try await Self.add(.keys, number, stores, tenant) }
            let images = TenantItems(store.items.images, of: tenant, by: "t")
            let image = try CardImage(file: HeaderPicture.png(seed: 0), addedAt: Date())
            _ = try await images.add(image)
            try await store.createLocation(
                .sample("l0", card: Card(action: .open, image: image.key)), of: tenant)
            let first = try #require(try await Self.usage(stores)[.auditLog])
            #expect(first.rows == 4 && (400..<4_000).contains(first.bytes))
            try await Self.set([.auditLog: Quota(bytes: first.bytes + 1)], stores)
            let error = await #expect(throws: QuotaExceeded.self) {
                try await Self.add(.locations, 1, stores, tenant)
            }
            #expect(error?.forecast.kind == .auditLog && error?.forecast.current == first.bytes)
            await #expect(throws: QuotaExceeded.self) {
                _ = try await store.updateLocation(LocationIdentifier("l0"), of: tenant) { _ in
                    try .sample("l0", name: "B")
                }
            }
            #expect(try await Self.usage(stores)[.auditLog]?.bytes == first.bytes)
            await #expect(throws: QuotaExceeded.self) { try await Self.add(.keys, 2, stores, tenant) }
            // Keys can be revoked, and items deleted.
            let key = try #require(try await store.keys(of: tenant).first)
            _ = try await store.revokeKey(key.id, of: tenant)
            _ = try await images.delete(image.key, cascade: true)
            _ = try await store.deleteLocation(LocationIdentifier("l0"), of: tenant, cascade: false)
            let entries = try await store.auditLog.page(of: tenant, before: nil, limit: 3, where: [:]).entries
            #expect(
                entries.map { "\($0.action) \($0.relation)" } == [
                    "delete locations", "delete card_images", "update locations",
                ])
        }
    }

    @Test func aTenantAboveItsQuotaCanShortenAndDelete() async throws {
        try await Self.withTenant { stores, tenant in
            for number in 0..<3 { try await Self.add(.locations, number, stores, tenant) }
            try await Self.set([.locations: Quota(rows: 1, bytes: 1), .total: Quota(bytes: 1)], stores)
            let store = stores.administration
            let first = try LocationIdentifier("l0")
            _ = try await store.updateLocation(first, of: tenant) { _ in try .sample("l0", name: "B") }
            await #expect(throws: QuotaExceeded.self) {
                _ = try await store.updateLocation(first, of: tenant) { _ in try .sample("l0", name: "Longer")
                }
            }
            _ = try await store.deleteLocation(first, of: tenant, cascade: false)
            #expect(try await Self.used(.locations, stores) == 2)
            await #expect(throws: QuotaExceeded.self) { try await Self.add(.locations, 0, stores, tenant) }
        }
    }

    /// An uncommitted transaction blocks no other writer. Its rows count when it commits.
    @Test(.timeLimit(.minutes(30))) func anOpenTransactionHoldsUpNoOtherWriter() async throws {
        try await Self.withTenant([.locations: Quota(rows: 1)]) { stores, tenant in
            let error = try await #require(throws: PostgreSQLError.self) {
                try await stores.adminPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius)
                        VALUES (\(tenant.uuid), 'open', 'n', 1, 1, 1)
                        """)
                    try await stores.database.withPool(as: .admin) { pool in
                        try await PostgresAdministrationStore(pool, actor: "t").createLocation(
                            .sample("l0"), of: tenant)
                    }
                }
            }
            #expect(error.quotaExceeded?.forecast.wouldBe == 2)
            #expect(try await Self.used(.locations, stores) == 1)
        }
    }

    @Test(.timeLimit(.minutes(30))) func ofConcurrentWritersOnlyAsManyPassAsThereIsRoom() async throws {
        try await Self.withTenant([.locations: Quota(rows: 5), .total: Quota(rows: 8)]) { stores, tenant in
            let passed = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        do {
                            try await Self.add(
                                number % 2 == 0 ? .locations : .shortCodes, number, stores, tenant)
                            return true
                        } catch is QuotaExceeded {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(passed == 8)
            #expect(try await Self.used(.total, stores) == 8)
            #expect(try await Self.used(.locations, stores) ?? 9 <= 5)
            #expect(
                try await stores.count(
                    """
                    SELECT (SELECT count(*) FROM doorstep.locations) + (SELECT count(*) FROM doorstep.short_codes)
                    """) == 8)
        }
    }

    private static func rows(_ text: String) -> FileRows<FileChunks, TableReader<LocationRecord>> {
        let rest = Mutex<[UInt8]?>(Array(text.utf8))
        return FileRows(
            FileChunks {
                rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
            }, TableReader())
    }

    @Test(arguments: [false, true]) func planForecastsTheUsageAfterTheImport(prunes: Bool) async throws {
        try await Self.withTenant { stores, tenant in
            let store = stores.administration
            try await stores.importLocations(
                [
                    .sample("a", metadata: ["x": "y"], details: ["phone": "1"], card: Card(action: .open)),
                    .sample("b", card: Card(texts: [.english: try CardText(title: "Ö", subtitle: "S")])),
                    .sample("z"),
                ], of: tenant)
            try await Self.add(.shortCodes, 0, stores, tenant)
            let text = """
                identifier,name,latitude,longitude,radius,x,details.menu,card.texts.en.title
                a,Café,1,1,1,,/m,T
                b,A place,37.334722,-122.008889,100,1,,Ü
                c,New,1,1,1,z,/n,

                """
            let before = try await Self.usage(stores)
            let planned = try await store.importLocations(
                of: tenant, Self.rows(text), ImportOptions(prunes: prunes, isDryRun: true, allowedRemovals: 3)
            )
            guard case .planned(let plan) = planned else {
                Issue.record("\(planned)")
                return
            }
            let options = ImportOptions(prunes: prunes, allowedRemovals: 3)
            guard case .done = try await store.importLocations(of: tenant, Self.rows(text), options) else {
                Issue.record("the import was refused")
                return
            }
            let after = try await Self.usage(stores)
            // The default quota of all kinds together does not limit rows.
            #expect(
                plan.quotas.map { "\($0.kind) \($0.unit)" } == [
                    "locations rows", "locations bytes", "total bytes",
                ])
            for forecast in plan.quotas {
                let (old, new) = (before[forecast.kind], after[forecast.kind])
                #expect(forecast.current == (forecast.unit == .rows ? old?.rows : old?.bytes))
                #expect(forecast.wouldBe == (forecast.unit == .rows ? new?.rows : new?.bytes))
                #expect(!forecast.isExceeded)
            }
        }
    }

    @Test func importBeyondAQuotaIsPlannedAndRefused() async throws {
        try await Self.withTenant([.locations: Quota(rows: 3)]) { stores, tenant in
            let store = stores.administration
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            let rows = Rows(try ["b", "c", "d"].map { try LocationRecord.sample($0, name: "New") })
            let exceeded = QuotaForecast(kind: .locations, unit: .rows, limit: 3, current: 2, wouldBe: 4)
            let planned = try await store.importLocations(of: tenant, rows, ImportOptions(isDryRun: true))
            guard case .planned(let plan) = planned else {
                Issue.record("\(planned)")
                return
            }
            #expect(plan.quotas.filter(\.isExceeded) == [exceeded])
            await #expect(throws: QuotaExceeded(exceeded)) {
                try await store.importLocations(of: tenant, rows, ImportOptions())
            }
            #expect(
                try await store.locations(of: tenant, after: nil, limit: 9) == [.sample("a"), .sample("b")])
            // The removed items make room for the new ones.
            let pruned = try await store.importLocations(of: tenant, rows, ImportOptions(prunes: true))
            #expect(pruned == .done(ImportCounts(added: 2, changed: 1, removed: 1, unchanged: 0)))
            #expect(try await Self.used(.locations, stores) == 3)
        }
    }

    @Test func defaultsApplyToTenantsWithoutQuotasOfTheirOwn() async throws {
        try await Self.withTenant { stores, tenant in
            let store = stores.administration
            let defaults = try await store.defaultQuotas()
            #expect(defaults[.locations] == Quota(rows: 1_000_000, bytes: 1 << 30))
            #expect(defaults[.auditLog]?.bytes == 10 << 30)
            #expect(defaults[.instances]?.rows == 1_000_000 && defaults[.deliveries]?.rows == 100_000_000)
            // The default permits thousands of locations with an image each.
            #expect(defaults[.images]?.rows ?? 0 >= 10_000)
            #expect(defaults[.total]?.rows == nil)
            #expect(
                Self.catalogue.allSatisfy { defaults[$0]?.rows != nil && defaults[$0]?.bytes != nil })
            #expect(defaults[.total]?.bytes != nil)
            #expect(defaults[.keys]?.bytes == 64 << 20)
            let changed = try await store.changeDefaultQuotas([
                .locations: Quota(rows: 1), .images: Quota(rows: Quota.off),
            ])
            #expect(changed[.locations] == Quota(rows: 1, bytes: 1 << 30) && changed[.images]?.rows == nil)
            try await Self.add(.locations, 0, stores, tenant)
            await #expect(throws: QuotaExceeded.self) { try await Self.add(.locations, 1, stores, tenant) }
            try await Self.set([.locations: Quota(rows: Quota.off)], stores)
            try await Self.add(.locations, 1, stores, tenant)
            try await Self.set([:], stores)
            await #expect(throws: QuotaExceeded.self) { try await Self.add(.locations, 2, stores, tenant) }
        }
    }

    @Test func fullestQuotasAreReadAcrossTenants() async throws {
        try await Self.withTenant([.locations: Quota(rows: 4)]) { stores, tenant in
            let other = try await stores.createTenant("other")
            try await Self.add(.locations, 0, stores, tenant)
            try await Self.add(.shortCodes, 0, stores, other)
            let shares = try await PostgresQuotaUsage(stores.routerPool).fullest(limit: 3)
            let first = try #require(shares.first)
            #expect(first.quota == .init(tenant: tenant, kind: .locations, unit: .rows) && first.used == 0.25)
            #expect(shares.contains { $0.quota.tenant == other } && shares.count == 3)
        }
    }
}

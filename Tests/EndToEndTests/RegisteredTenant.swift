import Administration
import AppStoreConnect
import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Crypto
import Formats
import Foundation
import Invocation
import OutboundHTTP
import Persistence
import PostgreSQL
import StoreSupport
import Tenancy
import TestSupport
import Testing

/// A tenant in a separate database, whose clip is connected to a simulator of App Store Connect. Waiting takes no time.
struct RegisteredTenant: Sendable {
    let pool: ConnectionPool
    let database: MigratedDatabase
    let tenant: TenantID
    let simulator: AppStoreConnectSimulator
    let clock: FastClock
    let http: OutboundClient

    static let secret = "a secret of the tests that is long enough too"

    static func lend<Result: Sendable>(
        knobs: @Sendable (inout Knobs) -> Void = { _ in },
        _ body: @Sendable (RegisteredTenant) async throws -> Result
    ) async throws -> Result {
        var options = StoreFixture.options
        knobs(&options.knobs)
        return try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .admin) { pool in
                try await AppStoreConnectSimulator.withSimulator(options) { simulator in
                    let allowed = OutboundClient.Settings(
                        allowed: ["127.0.0.0/8"].compactMap { AddressRange($0) })
                    return try await OutboundClient.withClient(allowed) { http in
                        let store = PostgresAdministrationStore(pool, actor: "t")
                        let tenant = try await store.createTenant(
                            slug: TenantSlug("acme"), name: DisplayName("Acme"))
                        let registered = RegisteredTenant(
                            pool: pool, database: database, tenant: tenant.id, simulator: simulator,
                            clock: FastClock(simulator), http: http)
                        try await registered.makeClip(store)
                        return try await body(registered)
                    }
                }
            }
        }
    }

    private func makeClip(_ store: PostgresAdministrationStore) async throws {
        let clip = try Clip(
            bundleID: BundleID(StoreFixture.clipBundleID), teamID: TeamID("ABCDE12345"), isMultiBusiness: true
        )
        try await TenantItems(store.items.clips, of: tenant, by: "t").create(clip)
        try await execute(
            """
            INSERT INTO doorstep.domains (tenant_id, host, challenge, proved_at, method)
            VALUES ('\(tenant)', '\(StoreFixture.domain)', 'c', now(), 'dns')
            """)
    }

    // MARK: Registration

    func registrar(
        _ change: (inout AppStoreConnectClient.Settings) -> Void = { _ in }, of other: TenantID? = nil,
        clock: (any SyncClock)? = nil, secret: String = Self.secret
    ) throws -> SyncRunner {
        let clock = clock ?? self.clock
        let tenant = other ?? self.tenant
        let key = try AppStoreConnectKey(
            id: StoreFixture.keyID, issuer: StoreFixture.issuer, pem: StoreFixture.key.pemRepresentation)
        let pacer = RequestPacer(
            PostgresRequestLedger(pool, keyID: StoreFixture.keyID, of: tenant), clock)
        var settings = AppStoreConnectClient.Settings()
        settings.server = simulator.host
        settings.pacer = pacer
        change(&settings)
        guard let keys = SealingKeys(secrets: [secret]) else { throw Failed() }
        let clip = try BundleID(StoreFixture.clipBundleID)
        return SyncRunner(
            clip: clip,
            PostgresSyncRecords(pool, keys: keys, clip: clip, of: tenant, actor: "operator:t"),
            AppStoreConnectService(
                AppStoreConnectClient(key, http, settings), clip: clip, app: try BundleID("com.example.app")),
            pacer, clock)
    }

    struct Failed: Error {}

    func plan(_ change: (inout SyncRunner.Wishes) -> Void = { _ in }) async throws -> SyncSurvey {
        var wishes = SyncRunner.Wishes()
        change(&wishes)
        return try await registrar { $0.readsOnly = true }.plan(wishes)
    }

    @discardableResult
    func apply(_ change: (inout SyncRunner.Wishes) -> Void = { _ in }) async throws -> SyncOutcome {
        var wishes = SyncRunner.Wishes()
        change(&wishes)
        return try await registrar().apply(wishes)
    }

    /// The experiences at App Store Connect, by the last part of their links.
    var remote: [String: [StoredExperience]] {
        Dictionary(grouping: simulator.experiences.filter { !$0.isRemoved }) { experience in
            experience.link.split(separator: "/").last.map(String.init) ?? ""
        }
    }

    var requestCount: Int { simulator.counters.requests.values.reduce(0, +) }

    // MARK: Catalogue

    /// Executes statements with the role of the administration.
    func execute(_ script: String) async throws {
        try await pool.withTransaction { transaction in
            try await transaction.execute(
                "SELECT set_config('doorstep.tenant_id', \(tenant.description), true)")
            try await transaction.execute(script: script)
        }
    }

    func addImage(seed: Int = 0) async throws -> ImageDigest {
        let items = PostgresAdministrationStore(pool, actor: "t").items.images
        return try await TenantItems(items, of: tenant, by: "t").add(
            CardImage(file: HeaderPicture.png(seed: seed), addedAt: Date())
        ).key
    }

    /// Adds experiences at `https://example.com/NAME`, each with its name as its title.
    func add(_ names: [String], image: ImageDigest) async throws {
        let rows = names.map { name in
            """
            ('\(tenant)', 'advanced', 'https://example.com/\(name)', '\(StoreFixture.clipBundleID)', '\(name.prefix(30))',
             '{"action":"OPEN"}', '\(image)')
            """
        }
        try await execute(
            """
            INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id, title, card, card_image)
            VALUES \(rows.joined(separator: ", "))
            """)
    }

    func retitle(_ name: String, _ title: String) async throws {
        try await execute(
            "UPDATE doorstep.experiences SET title = '\(title)' WHERE url = 'https://example.com/\(name)'")
    }

    func setCard(_ card: String, of name: String) async throws {
        try await execute(
            "UPDATE doorstep.experiences SET card = '\(card)' WHERE url = 'https://example.com/\(name)'")
    }

    func delete(_ name: String) async throws {
        try await execute("DELETE FROM doorstep.experiences WHERE url = 'https://example.com/\(name)'")
    }
}

extension [StoredExperience]? {
    var title: String? { self?.first?.texts["EN"]?["title"]?.stringValue }
}

extension RegisteredTenant {
    /// The current plan, written to JSON and read again.
    func save(_ change: (inout SyncRunner.Wishes) -> Void = { _ in }) async throws -> SavedPlan {
        var wishes = SyncRunner.Wishes()
        change(&wishes)
        let saved = try await SavedPlan(
            plan(change), of: BundleID(StoreFixture.clipBundleID), tenant, wishes, at: clock.now())
        let read = try SavedPlan(json: JSONValue(parsing: JSONValue.object(saved.json).serialized()))
        #expect(JSONValue.object(read.json) == .object(saved.json))
        return read
    }

    /// Expects that the plan is refused as outdated and that nothing is done.
    func expectStale(_ saved: SavedPlan, _ reason: String) async throws {
        let error = await #expect(throws: SyncError.self) { try await registrar().apply(saved) }
        #expect(error?.code == "stale_plan")
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(reason), "\(text)")
    }

    /// A client with the same key that does not record its requests.
    static func otherClient(of tenant: RegisteredTenant) throws -> AppStoreConnectClient {
        let key = try AppStoreConnectKey(
            id: StoreFixture.keyID, issuer: StoreFixture.issuer, pem: StoreFixture.key.pemRepresentation)
        var settings = AppStoreConnectClient.Settings()
        settings.server = tenant.simulator.host
        return AppStoreConnectClient(key, tenant.http, settings)
    }

    /// Another tenant with a clip of the same bundle ID.
    func makeOther() async throws -> TenantID {
        let store = PostgresAdministrationStore(pool, actor: "t")
        let other = try await store.createTenant(slug: TenantSlug("other"), name: DisplayName("Other"))
        let clip = try Clip(
            bundleID: BundleID(StoreFixture.clipBundleID), teamID: TeamID("ABCDE12345"), isMultiBusiness: true
        )
        try await TenantItems(store.items.clips, of: other.id, by: "t").create(clip)
        return other.id
    }

    /// The result of a count over all tenants.
    func count(_ query: Query) async throws -> Int {
        try await database.withSuperuser { pool in
            try await pool.withConnection { try await $0.execute(query).one().decode(at: 0, as: Int.self) }
        }
    }

    /// The records of synchronized experiences, images and budgets.
    func records(
        of other: TenantID? = nil, actor: String = "operator:first"
    ) throws
        -> PostgresSyncRecords
    {
        guard let keys = SealingKeys(secrets: [Self.secret]) else { throw Failed() }
        return PostgresSyncRecords(
            pool, keys: keys, clip: try BundleID(StoreFixture.clipBundleID), of: other ?? tenant, actor: actor
        )
    }

    /// Expects that outputs, requests and unsealed rows contain no private key, no token and no upload URL.
    func expectSilence(of texts: [String]) async throws {
        let stored: String = try await database.withSuperuser { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT coalesce(string_agg(t, ' '), '') FROM (
                        SELECT e::text || encode(coalesce(sealed_operations, ''), 'escape') AS t
                        FROM doorstep.app_store_images e
                        UNION ALL SELECT e::text FROM doorstep.app_store_experiences e
                        UNION ALL SELECT e::text FROM doorstep.app_store_runs e
                        UNION ALL SELECT e::text FROM doorstep.app_store_refusals e
                        UNION ALL SELECT e::text FROM doorstep.app_store_checks e
                        UNION ALL SELECT e::text FROM doorstep.app_store_check_rows e
                        UNION ALL SELECT encode(body, 'escape') FROM doorstep.webhook_messages e
                        UNION ALL SELECT e::text FROM doorstep.audit_log e) s
                    """
                ).one().decode(at: 0, as: String.self)
            }
        }
        let pem = StoreFixture.key.pemRepresentation.split(separator: "\n").dropFirst().dropLast()
        for text in texts + [stored] {
            for secret in ["/upload/", "Bearer", "eyJ", "PRIVATE KEY"] + pem.map(String.init) {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
    }
}

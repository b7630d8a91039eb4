import Administration
import Formats
import Foundation
import Geodesy
import HTTPAPI
import HTTPServer
import HTTPTestClient
import HTTPTypes
import Invocation
import LandingPages
import Logging
import Lookups
import NIOCore
import Notifications
import Persistence
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing
import ValueFixtures

@testable import Console

/// The console with a separate database. The tenant `acme` has the location `door`; `other` is another tenant.
struct TestConsole {
    let client: HTTPTestClient
    let sessions: PostgresConsoleSessions
    let store: PostgresAdministrationStore
    let table: LiveLookupIndex
    let database: MigratedDatabase
    let webhooks: PostgresWebhookRegistry
    let acme: Tenant
    let other: Tenant
    /// The TXT records of the DNS.
    let records: TestRecords
    let siteRequests: SiteRequests

    static let doorURL = "https://example.com/door"

    static func withConsole(
        _ settings: ConsoleServer.Settings = ConsoleServer.Settings(), tiles: TileSource? = nil,
        overConnections: Bool = false, _ body: @escaping @Sendable (TestConsole) async throws -> Void
    ) async throws {
        var settings = settings
        // On a busy machine, pages may take long. Their content must not depend on it.
        settings.patience = .seconds(60)
        settings.tiles = tiles ?? settings.tiles
        let chosen = settings
        try await MigratedDatabase.withDatabase { database in
            try await database.withPools { appPool, pool in
                let store = PostgresAdministrationStore(pool, actor: "operator:test")
                let acme = try await store.createTenant(slug: TenantSlug("acme"), name: DisplayName("Acme"))
                let other = try await store.createTenant(
                    slug: TenantSlug("other"), name: DisplayName("Other"))
                for tenant in [acme, other] {
                    let clip = try Clip(
                        bundleID: BundleID("com.example.MyApp.Clip"), teamID: TeamID("ABCDE12345"),
                        isMultiBusiness: false)
                    try await TenantItems(store.items.clips, of: tenant.id, by: "operator:test").create(clip)
                    try await TenantItems(store.items.locations, of: tenant.id, by: "operator:test").create(
                        .door)
                    try await TenantItems(store.items.experiences, of: tenant.id, by: "operator:test").create(
                        .door)
                }
                var rows = LookupIndex()
                try rows.set(.tenants, .tenant(acme.id))
                try rows.set(.clips, .clip(acme.id, "com.example.MyApp.Clip", isMultiBusiness: false))
                try rows.set(.locations, .location(acme.id, "door", name: "The door"))
                try rows.set(.experiences, .experience(acme.id, "advanced", doorURL, location: "door"))
                try rows.set(.tenants, .tenant(other.id, name: "Other tenant"))
                try rows.set(.clips, .clip(other.id, "com.example.MyApp.Clip", isMultiBusiness: false))
                try rows.set(.domains, .domain(other.id, "proved.example.com", pages: .on))
                try rows.set(
                    .experiences, .experience(other.id, "advanced", "https://proved.example.com/hall"))
                let table = LiveLookupIndex()
                table.replace(by: rows, from: .database, asOf: Date())
                let records = TestRecords()
                let siteRequests = SiteRequests()
                let landing = LandingSite()
                let keys = try #require(SealingKeys(secrets: [String(repeating: "k", count: 32)]))
                let sessions = PostgresConsoleSessions(pool)
                let servers: ConsoleServer.Servers = {
                    try await database.withSuperuser { try await PostgresServers($0).all() }
                }
                let server = ConsoleServer(
                    chosen,
                    ConsoleServer.Dependencies(
                        sessions: sessions,
                        stores: { access in
                            let store = PostgresAdministrationStore(
                                pool, actor: access.actor, isReadOnly: access.isReadOnly)
                            let ledger = PostgresDeliveryLedger(
                                pool, actor: access.actor, isReadOnly: access.isReadOnly)
                            return ConsoleStores(
                                administration: store, confirmations: PostgresConfirmationHistory(pool),
                                deliveries: ledger,
                                traces: NotificationTracer(
                                    ledger, PostgresNotificationStore(appPool, isReadOnly: access.isReadOnly)),
                                syncs: PostgresSyncOverview(pool), syncChecks: PostgresSyncChecks(pool),
                                webhooks: PostgresWebhookRegistry(
                                    pool, keys: keys, isReadOnly: access.isReadOnly))
                        }, table: table,
                        findings: { tenant in
                            try await store.withCatalogue(of: tenant.slug) { catalogue in
                                try await CatalogueLint(
                                    catalogue, table: table.current!.table(of: tenant.id)
                                ).findings
                            }
                        },
                        diagnose: { url, _, asksSite in
                            if asksSite { siteRequests.count() }
                            return [
                                "url": .string(url), "ok": true,
                                "verdict": ["code": "leads", "text": "leads to A door"],
                                "checks": [["check": "url", "status": "ok", "detail": .string(url)]],
                            ]
                        },
                        sites: ConsoleServer.Sites(
                            association: { SiteAssociation($0).serialized() },
                            page: { landing.page(at: $0, of: $1, in: $2) },
                            prove: { name, tenant, access, now in
                                siteRequests.count()
                                return try await DomainVerification(
                                    store: PostgresAdministrationStore(
                                        pool, actor: access.actor, isReadOnly: access.isReadOnly
                                    ).items.domains, by: access.actor, resolver: records, fetcher: NoPages()
                                ).verify(name, of: tenant, at: now)
                            },
                            check: {
                                siteRequests.count()
                                return await SiteCheck.run(SiteCheck.url(of: $0), clip: nil, NoPages())
                            }),
                        status: {
                            InstallationStatus(
                                databaseRelease: "15", schemaVersion: 1, knownSchemaVersion: 2,
                                connections: [.init(login: "door<b>", program: "doorstep", count: 3)],
                                queues: [.init(kind: .deliveries, count: 7, firstDueAt: nil)],
                                servers: try await servers())
                        }, servers: servers),
                    logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
                try await Self.withClient(server.responder(), overConnections) { client in
                    try await body(
                        TestConsole(
                            client: client, sessions: sessions, store: store,
                            table: table, database: database,
                            webhooks: PostgresWebhookRegistry(pool, keys: keys), acme: acme, other: other,
                            records: records, siteRequests: siteRequests))
                }
            }
        }
    }

    /// - Parameter overConnections: Whether requests come from the address of this machine. Otherwise they have no address.
    private static func withClient(
        _ responder: ConsoleResponder, _ overConnections: Bool,
        _ body: (HTTPTestClient) async throws -> Void
    ) async throws {
        guard overConnections else { return try await body(HTTPTestClient(responder)) }
        try await HTTPTestClient.withServer(ServerSettings(), responder, body)
    }

    /// Puts locations of `acme` into the lookup index, as if it followed the database.
    func follow(_ places: [(String, String, Double, Double)]) throws {
        var rows = try #require(table.current?.table)
        for (identifier, name, latitude, longitude) in places {
            try rows.set(
                .locations,
                .location(acme.id, identifier, name: name, latitude: latitude, longitude: longitude))
        }
        table.replace(by: rows, from: .database, asOf: Date())
    }

    /// Adds a notification with deliveries, one for each given state and reason, in this order.
    func addDeliveries(
        _ states: [(state: String, reason: String?)], of tenant: Tenant, goodUntil: Date? = nil
    ) async throws -> (notification: UUID, deliveries: [UUID]) {
        let createdAt = Date(
            timeIntervalSince1970: (Date().timeIntervalSince1970 * 1_000).rounded(.down) / 1_000)
        let ids = UUID.timeOrdered(states.count + 1, at: createdAt)
        let notification = try #require(ids.first)
        try await database.withSuperuser { pool in
            try await pool.withTransaction { transaction in
                try await transaction.execute(Self.setTenant(tenant))
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.notifications (tenant_id, created_at, notification_id, bundle_id, url,
                        experience_url, location_identifier, audience, push_type, priority, payload)
                    VALUES (\(tenant.id.uuid), \(createdAt), \(notification), 'com.example.MyApp.Clip',
                        'https://example.com/door', 'https://example.com/door', 'door', '{"business": true}', 'alert',
                        10, convert_to('{"aps":{"alert":"<b>Ready</b>"}}', 'UTF8'))
                    """)
                for (id, (state, reason)) in zip(ids.dropFirst(), states) {
                    let isDone = state != "queued"
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.deliveries (tenant_id, created_at, notification_id, delivery_id,
                            instance_id, token_kind, environment, state, reason, due_at, attempt, finished_at, expires_at)
                        VALUES (\(tenant.id.uuid), \(createdAt), \(notification), \(id), gen_random_uuid(), 'device',
                            'production', \(state), \(reason), CASE WHEN \(isDone) THEN NULL ELSE now() END,
                            CASE WHEN \(isDone) THEN 1 ELSE 0 END, CASE WHEN \(isDone) THEN now() END, \(goodUntil))
                        """)
                }
            }
        }
        return (notification, Array(ids.dropFirst()))
    }

    /// Executes statements as the superuser.
    func execute(_ statements: Query...) async throws {
        try await database.withSuperuser { pool in
            try await pool.withTransaction { transaction in
                try await transaction.execute(Self.setTenant(acme))
                for statement in statements { try await transaction.execute(statement) }
            }
        }
    }

    /// Sets the tenant, because foreign keys are checked as the owner, which sees only one tenant's rows.
    private static func setTenant(_ tenant: Tenant) -> Query {
        "SELECT set_config('doorstep.tenant_id', \(tenant.id.description), true)"
    }

    // MARK: Requests

    /// Creates and uses a link. Returns the cookie's name and value.
    func signIn(
        _ name: String = "ada", tenant: TenantID? = nil, isReadOnly: Bool = false
    ) async throws -> String {
        let link = try await link(name, tenant: tenant, isReadOnly: isReadOnly)
        let response = try await post("/login", ["token": link.text])
        return String((response.headers[.setCookie] ?? "").prefix { $0 != ";" })
    }

    func link(
        _ name: String = "ada", tenant: TenantID? = nil, isReadOnly: Bool = false, at now: Date = Date()
    ) async throws -> ConsoleSecret {
        let secret = try await sessions.makeSecret()
        try await sessions.add(
            secret, for: ConsoleAccess(name: DisplayName(name), tenant: tenant, isReadOnly: isReadOnly),
            lasting: 3_600, at: now)
        return secret
    }

    func get(
        _ path: String, _ cookie: String? = nil, _ further: HTTPFields = [:]
    ) async throws -> HTTPTestClient.Response {
        var headers = further
        if let cookie { headers[.cookie] = cookie }
        return try await client.send(.get, path, headers: headers)
    }

    /// Sends a file without changes.
    func send(
        _ file: [UInt8], as type: String, _ path: String, _ cookie: String? = nil,
        _ further: HTTPFields = [.secFetchSite: "same-origin"]
    ) async throws -> HTTPTestClient.Response {
        var headers = further
        headers[.contentType] = type
        headers[.cookie] = cookie
        return try await client.send(.post, path, headers: headers, body: ByteBuffer(bytes: file))
    }

    func post(
        _ path: String, _ form: [String: String], _ cookie: String? = nil,
        _ further: HTTPFields = [.secFetchSite: "same-origin"]
    ) async throws -> HTTPTestClient.Response {
        var headers = further
        headers[.contentType] = "application/x-www-form-urlencoded"
        headers[.cookie] = cookie
        let text = form.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }.joined(separator: "&")
        return try await client.send(.post, path, headers: headers, body: ByteBuffer(string: text))
    }
}

/// A DNS with the records of a test.
final class TestRecords: TextRecordResolver {
    private let texts = Mutex<[String: String]>([:])

    func publish(_ record: DomainRecord) { texts.withLock { $0[record.recordName] = record.recordValue } }

    func textRecords(of name: String) async throws(NoResponse) -> [String] {
        texts.withLock { $0[name] }.map { [$0] } ?? []
    }
}

/// Counts the requests of pages to sites and name servers of tenants.
final class SiteRequests: Sendable {
    private let number = Mutex(0)

    var total: Int { number.withLock { $0 } }

    func count() { number.withLock { $0 += 1 } }
}

/// A web without responses.
struct NoPages: PageFetcher {
    func fetch(_ url: String, limit: Int) async throws(NoResponse) -> Administration.Page {
        throw NoResponse("nobody answers")
    }
}

extension HTTPTestClient.Response {
    var text: String { String(buffer: body) }
}

extension LocationRecord {
    static var door: LocationRecord {
        get throws {
            try LocationRecord(
                identifier: LocationIdentifier("door"), name: DisplayName("The door"),
                region: CircularRegion(
                    center: Coordinate(latitude: 52, longitude: 13), radius: Distance(meters: 100)),
                metadata: [:])
        }
    }
}

extension ExperienceRecord {
    static var door: ExperienceRecord {
        get throws {
            try ExperienceRecord(
                Experience(
                    url: URLPrefix(TestConsole.doorURL), kind: .advanced,
                    clip: BundleID("com.example.MyApp.Clip"),
                    binding: .location(LocationIdentifier("door"))))
        }
    }
}

extension MigratedDatabase {
    /// Runs the closure with pools of a server's login and of an administrator's login.
    fileprivate func withPools(
        _ body: (_ app: ConnectionPool, _ admin: ConnectionPool) async throws -> Void
    ) async throws {
        try await withPool(as: .app) { app in
            try await withPool(as: .admin) { admin in try await body(app, admin) }
        }
    }
}

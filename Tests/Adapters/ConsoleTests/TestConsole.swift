import Administration
import Encodings
import Foundation
import Geodesy
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Invocation
import JSON
import Logging
import NIOCore
import Notifications
import Persistence
import PostgreSQL
import Routing
import RoutingSupport
import Tenancy
import TestSupport
import Testing

@testable import Console

/// The console on a database of its own, with a tenant `acme` that has the place `door` and another tenant `other`.
struct TestConsole {
    let client: any TestClientProtocol
    let sessions: PostgresConsoleSessions
    let store: PostgresAdministrationStore
    let table: LiveRoutingTable
    let database: MigratedDatabase
    let acme: Tenant
    let other: Tenant

    static let doorURL = "https://example.com/door"

    static func withConsole(
        tiles: TileSource? = nil, _ body: @escaping @Sendable (TestConsole) async throws -> Void
    ) async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .app) { appPool in
                try await database.withPool(as: .admin) { pool in
                    let store = PostgresAdministrationStore(pool, actor: "operator:test")
                    let acme = try await store.createTenant(
                        slug: TenantSlug("acme"), name: DisplayName("Acme"))
                    let other = try await store.createTenant(
                        slug: TenantSlug("other"), name: DisplayName("Other"))
                    for tenant in [acme, other] {
                        let clip = try Clip(
                            bundleID: BundleID("com.example.MyApp.Clip"), teamID: TeamID("ABCDE12345"),
                            isMultiBusiness: false)
                        try await TenantItems(store.items.clips, of: tenant.id, by: "operator:test").create(
                            clip)
                        try await TenantItems(store.items.locations, of: tenant.id, by: "operator:test")
                            .create(
                                .door)
                        try await TenantItems(store.items.experiences, of: tenant.id, by: "operator:test")
                            .create(
                                .door)
                    }
                    var rows = RoutingTable()
                    try rows.set(.tenants, .tenant(acme.id))
                    try rows.set(.clips, .clip(acme.id, "com.example.MyApp.Clip", isMultiBusiness: false))
                    try rows.set(.locations, .location(acme.id, "door", name: "The door"))
                    try rows.set(.experiences, .experience(acme.id, "advanced", doorURL, location: "door"))
                    let table = LiveRoutingTable()
                    table.replace(by: rows, from: .database, asOf: Date())
                    let sessions = PostgresConsoleSessions(pool)
                    var settings = ConsoleServer.Settings()
                    // A machine that has much else to do is slow: what a page shows does not depend on it here.
                    settings.patience = .seconds(60)
                    settings.tiles = tiles
                    let server = ConsoleServer(
                        settings,
                        ConsoleServer.Dependencies(
                            sessions: sessions,
                            stores: { access in
                                let store = PostgresAdministrationStore(
                                    pool, actor: access.actor, isReadOnly: access.isReadOnly)
                                let ledger = PostgresDeliveryLedger(pool, isReadOnly: access.isReadOnly)
                                return ConsoleStores(
                                    tenants: store, items: store.items, places: store,
                                    confirmations: PostgresConfirmationHistory(pool),
                                    auditLog: store.auditLog,
                                    images: store.imageFiles, deliveries: ledger,
                                    traces: NotificationTracer(ledger, PostgresNotificationStore(appPool)),
                                    registrations: PostgresRegistrationOverview(pool))
                            }, table: table,
                            findings: { tenant in
                                try await store.withCatalogue(of: tenant.slug) { catalogue in
                                    try await CatalogueLint(
                                        catalogue, table: table.current!.table(of: tenant.id)
                                    ).findings
                                }
                            },
                            diagnose: { url, _, _ in
                                [
                                    "url": .string(url), "ok": true,
                                    "checks": [["check": "url", "status": "ok", "detail": .string(url)]],
                                ]
                            }), logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
                    try await server.application().test(.router) { client in
                        try await body(
                            TestConsole(
                                client: client, sessions: sessions, store: store, table: table,
                                database: database,
                                acme: acme, other: other))
                    }
                }
            }
        }
    }

    /// Has the routing table have places of `acme`, as it has those of a database that it follows.
    func follow(_ places: [(String, String, Double, Double)]) throws {
        var rows = try #require(table.current?.table)
        for (identifier, name, latitude, longitude) in places {
            try rows.set(
                .locations,
                .location(acme.id, identifier, name: name, latitude: latitude, longitude: longitude))
        }
        table.replace(by: rows, from: .database, asOf: Date())
    }

    /// Adds a notification with deliveries, one of each state and reason that is given, in that order.
    func addDeliveries(
        _ states: [(state: String, reason: String?)], of tenant: Tenant, goodUntil: Date? = nil
    ) async throws -> (notification: UUID, deliveries: [UUID]) {
        let createdAt = Date(
            timeIntervalSince1970: (Date().timeIntervalSince1970 * 1_000).rounded(.down) / 1_000)
        let ids = UUID.timeOrdered(states.count + 1, at: createdAt)
        let notification = try #require(ids.first)
        try await database.withSuperuser { pool in
            try await pool.withTransaction { transaction in
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

    // MARK: Requests

    /// Makes a link and uses it; the cookie's name and value.
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
        var generator = SystemRandomNumberGenerator()
        let secret = ConsoleSecret.generate(using: &generator)
        try await sessions.add(
            secret, for: ConsoleAccess(name: DisplayName(name), tenant: tenant, isReadOnly: isReadOnly),
            lasting: 3_600, at: now)
        return secret
    }

    func get(_ path: String, _ cookie: String? = nil) async throws -> TestResponse {
        var headers = HTTPFields()
        headers[.cookie] = cookie
        return try await client.execute(uri: path, method: .get, headers: headers, body: nil)
    }

    /// Sends a file as it is.
    func send(
        _ file: [UInt8], as type: String, _ path: String, _ cookie: String? = nil,
        _ further: HTTPFields = [.secFetchSite: "same-origin"]
    ) async throws -> TestResponse {
        var headers = further
        headers[.contentType] = type
        headers[.cookie] = cookie
        return try await client.execute(
            uri: path, method: .post, headers: headers, body: ByteBuffer(bytes: file))
    }

    func post(
        _ path: String, _ form: [String: String], _ cookie: String? = nil,
        _ further: HTTPFields = [.secFetchSite: "same-origin"]
    ) async throws -> TestResponse {
        var headers = further
        headers[.contentType] = "application/x-www-form-urlencoded"
        headers[.cookie] = cookie
        let text = form.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }.joined(separator: "&")
        return try await client.execute(
            uri: path, method: .post, headers: headers, body: ByteBuffer(string: text))
    }
}

extension TestResponse {
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

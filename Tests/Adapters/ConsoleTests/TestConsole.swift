import Administration
import Foundation
import Geodesy
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Invocation
import JSON
import Logging
import NIOCore
import Persistence
import PostgreSQL
import Routing
import RoutingSupport
import Tenancy
import TestSupport

@testable import Console

/// The console on a database of its own, with a tenant `acme` that has the place `door` and another tenant `other`.
struct TestConsole {
    let client: any TestClientProtocol
    let sessions: PostgresConsoleSessions
    let store: PostgresAdministrationStore
    let acme: Tenant
    let other: Tenant

    static let doorURL = "https://example.com/door"

    static func withConsole(
        _ body: @escaping @Sendable (TestConsole) async throws -> Void
    ) async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .admin) { pool in
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
                var rows = RoutingTable()
                try rows.set(.tenants, .tenant(acme.id))
                try rows.set(.clips, .clip(acme.id, "com.example.MyApp.Clip", isMultiBusiness: false))
                try rows.set(.locations, .location(acme.id, "door", name: "The door"))
                try rows.set(.experiences, .experience(acme.id, "advanced", doorURL, location: "door"))
                let table = LiveRoutingTable()
                table.replace(by: rows, from: .database, asOf: Date())
                let sessions = PostgresConsoleSessions(pool)
                let server = ConsoleServer(
                    ConsoleServer.Settings(),
                    ConsoleServer.Dependencies(
                        sessions: sessions,
                        stores: { access in
                            let store = PostgresAdministrationStore(
                                pool, actor: access.actor, isReadOnly: access.isReadOnly)
                            return ConsoleStores(
                                tenants: store, items: store.items, places: store,
                                confirmations: PostgresConfirmationHistory(pool), auditLog: store.auditLog)
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
                            client: client, sessions: sessions, store: store, acme: acme, other: other))
                }
            }
        }
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

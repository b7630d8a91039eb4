import AppStoreConnect
import AppStoreConnectSimulator
import Crypto
import Foundation
import JSON
import Persistence
import PostgreSQL
import Registration
import StoreSupport
import Tenancy
import TestSupport
import Testing

/// Looks at App Store Connect from time to time: whose turn it is, what is kept of them, and who is told.
@Suite(.timeLimit(.minutes(10))) struct RegistrationCheckTests {
    private static let hook = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))

    /// Lends what looks as a server does: with its login, which may write nothing that registers.
    private static func lend(
        _ tenant: RegisteredTenant,
        _ body: (PostgresRegistrationChecks, ConnectionPool, BundleID) async throws -> Void
    ) async throws {
        let clip = try BundleID(StoreFixture.clipBundleID)
        let keys = try #require(SealingKeys(secrets: [RegisteredTenant.secret]))
        let credentials = StoreCredentials(
            keyID: StoreFixture.keyID, issuerID: StoreFixture.issuer, pem: StoreFixture.key.pemRepresentation)
        _ = try await PostgresStoreConnections(tenant.pool, keys: keys).connect(
            clip, by: credentials, of: tenant.tenant, actor: "t")
        try await tenant.execute(
            """
            INSERT INTO doorstep.webhooks (tenant_id, webhook_id, url, sealed_secret, events)
            VALUES ('\(tenant.tenant)', '\(hook)', 'https://example.com/hook', sha512('s'), '{appstore.drift}')
            """)
        try await tenant.database.withPool(as: .serve) { pool in
            try await body(PostgresRegistrationChecks(serving: pool), pool, clip)
        }
    }

    private static func look(
        _ tenant: RegisteredTenant, _ pool: ConnectionPool, _ clip: BundleID
    ) async throws -> RegistrationCheck {
        let keys = try #require(SealingKeys(secrets: [RegisteredTenant.secret]))
        let credentials = try await PostgresStoreConnections(serving: pool, keys: keys).credentials(
            of: clip, of: tenant.tenant)
        let key = try AppStoreConnectKey(
            id: credentials.keyID, issuer: credentials.issuerID, pem: credentials.pem)
        let pacer = RequestPacer(
            PostgresRequestLedger(serving: pool, keyID: credentials.keyID, of: tenant.tenant), tenant.clock)
        var settings = AppStoreConnectClient.Settings()
        settings.server = tenant.simulator.host
        settings.readsOnly = true
        settings.pacer = pacer
        let registrar = Registrar(
            clip: clip,
            PostgresRegistrationRecords(serving: pool, keys: keys, clip: clip, of: tenant.tenant),
            AppStoreConnectService(
                AppStoreConnectClient(key, tenant.http, settings), clip: clip,
                app: try BundleID("com.example.app")),
            pacer, tenant.clock)
        return try await registrar.look().check
    }

    private static func messages(_ tenant: RegisteredTenant) async throws -> Int {
        try await tenant.count("SELECT count(*) FROM doorstep.webhook_messages WHERE type = 'appstore.drift'")
    }

    @Test func oneServerOfManyLooks() async throws {
        try await RegisteredTenant.lend { tenant in
            try await Self.lend(tenant) { checks, _, clip in
                #expect(try await checks.due(limit: 10).map(\.clip) == [clip])
                let claims = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await checks.claim(clip, of: tenant.tenant, for: .seconds(3_600))
                        }
                    }
                    return try await group.reduce(into: [Bool]()) { $0.append($1) }
                }
                #expect(claims.count(where: \.self) == 1)
                #expect(try await checks.due(limit: 10).isEmpty)
                // One that is lost with its server is another's when its time is over.
                try await tenant.execute("UPDATE doorstep.app_store_checks SET due_at = now()")
                #expect(try await checks.due(limit: 10).count == 1)
                #expect(try await checks.claim(clip, of: tenant.tenant, for: .seconds(3_600)))
                // What is connected no more is nobody's.
                try await tenant.execute("DELETE FROM doorstep.app_store_connections")
                #expect(try await checks.due(limit: 10).isEmpty)
                #expect(try await !checks.claim(clip, of: tenant.tenant, for: .zero))
            }
        }
    }

    @Test func whatIsFoundIsToldWhenItChanges() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b", "c"], image: tenant.addImage())
            try await tenant.apply()
            try await tenant.clock.sleep(for: .seconds(61))
            try await Self.lend(tenant) { checks, pool, clip in
                func look() async throws -> Bool {
                    _ = try await checks.claim(clip, of: tenant.tenant, for: .zero)
                    return try await checks.record(
                        Self.look(tenant, pool, clip), of: tenant.tenant, again: .seconds(86_400))
                }
                // Nothing is other than it should be: nobody is told.
                #expect(try await !look())
                #expect(try await checks.due(limit: 10).isEmpty)
                var edit = RemoteEdit()
                edit.attributes = ["action": "PLAY"]
                tenant.simulator.edit(try #require(tenant.remote["a"]?.first?.id), edit)
                #expect(try await look())
                #expect(try await !look())
                #expect(try await Self.messages(tenant) == 1)
                edit = RemoteEdit()
                edit.isRemoved = true
                tenant.simulator.edit(try #require(tenant.remote["b"]?.first?.id), edit)
                try await tenant.clock.sleep(for: .seconds(61))
                #expect(try await look())
                let figures = try #require(try await checks.figures(limit: 10).first)
                #expect(figures.counts["drifted"] == 1 && figures.counts["missing"] == 1)
                #expect(figures.counts["in_step"] == 1 && figures.failure == nil)

                // A check that fails keeps what was found, and is made again before long.
                try await checks.note(
                    failure: "NOT_AUTHORIZED", of: clip, of: tenant.tenant, again: .zero)
                #expect(try await checks.due(limit: 10).count == 1)
                let failed = try #require(try await checks.figures(limit: 10).first)
                #expect(failed.failure == "NOT_AUTHORIZED" && failed.counts["missing"] == 1)

                // That it is mended is told too.
                #expect(try await tenant.apply().hasSucceeded)
                #expect(try await look())
                #expect(try await Self.messages(tenant) == 3)
                #expect(try await checks.figures(limit: 10).first?.failure == nil)
            }
        }
    }

    @Test func whatIsFoundIsReadByItsTenantAlone() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add((0..<3).map { "p\($0)" }, image: tenant.addImage())
            try await tenant.execute(
                """
                INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius, metadata)
                VALUES ('\(tenant.tenant)', 'l', 'L', 1, 2, 100, '{}');
                UPDATE doorstep.experiences SET location_identifier = 'l' WHERE url = 'https://example.com/p1'
                """)
            try await Self.lend(tenant) { checks, pool, clip in
                try await checks.record(Self.look(tenant, pool, clip), of: tenant.tenant)
                let other = try await tenant.makeOther()
                try await tenant.database.withPool(as: .serve) { pool in
                    let reader = PostgresRegistrationChecks(managing: pool)
                    let latest = try await reader.latest(of: tenant.tenant)
                    #expect(latest.map(\.clip) == [clip] && latest.first?.checkedAt != nil)
                    #expect(latest.first?.summary?["counts"]?.objectValue?["create"] == 3)
                    let first = try await reader.rows(
                        of: clip, of: tenant.tenant, within: nil, after: nil, limit: 2)
                    #expect(first.map(\.url) == ["https://example.com/p0", "https://example.com/p1"])
                    let rest = try await reader.rows(
                        of: clip, of: tenant.tenant, within: nil, after: first.last?.url, limit: 10)
                    #expect(rest.map(\.url) == ["https://example.com/p2"])
                    let within = try await reader.rows(
                        of: clip, of: tenant.tenant, within: ["l"], after: nil, limit: 10)
                    #expect(within.map(\.url) == ["https://example.com/p1"])
                    #expect(try await reader.latest(of: other).isEmpty)
                    #expect(
                        try await reader.rows(of: clip, of: other, within: nil, after: nil, limit: 10)
                            .isEmpty)
                }
            }
        }
    }

    @Test func whatAppleHasOfTheSiteIsInTheDiagnosis() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 0
        } _: { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await RegisteredCommand.lend(tenant) { command in
                let key = try await Self.reader(command)
                var binary = DoorstepBinary(databaseURL: tenant.database.conninfo(as: .serve))
                binary.environment["DOORSTEP_TOKEN_SECRET"] = RegisteredTenant.secret
                binary.environment["DOORSTEP_DRIFT_INTERVAL"] = "0"
                _ = try await RunningServer.lend(binary) { server in
                    func status() async throws -> String? {
                        let answer = try await server.get(
                            "/v1/diagnosis?url=https%3A%2F%2Fexample.com%2Fa", key: key)
                        return answer["checks"]?.arrayValue?.compactMap(\.objectValue).first {
                            $0["check"] == "apple_cache"
                        }.flatMap { "\($0["status"]?.stringValue ?? "") \($0["value"]?.stringValue ?? "")" }
                    }
                    let before = try await status()
                    #expect(before == "unknown example.com")
                    #expect(try await command.run(["apply"]).status == 0)
                    #expect(try await command.run(["drift"]).status == 0)
                    #expect(try await status() == "ok example.com")
                    tenant.simulator.turn { $0.unreachableDomains = [StoreFixture.domain] }
                    #expect(try await command.run(["drift"]).status == 0)
                    #expect(try await status() == "warning CANNOT_REACH_AASA_FILE")
                }
            }
        }
    }

    private static func reader(_ command: RegisteredCommand) async throws -> String {
        let made = try await command.binary.succeed([
            "key", "create", "--tenant", "acme", "--kind", "secret", "--scope", "read", "--format", "json",
        ])
        return try #require(try made.json().objectValue?["key"]?.stringValue)
    }

    /// A server looks by itself, answers what it found without asking, and measures it.
    @Test func aServerLooksByItself() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 0
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await RegisteredCommand.lend(tenant) { command in
                #expect(try await command.run(["apply"]).status == 0)
                let key = try await Self.reader(command)
                var binary = DoorstepBinary(databaseURL: tenant.database.conninfo(as: .serve))
                binary.environment["DOORSTEP_TOKEN_SECRET"] = RegisteredTenant.secret
                binary.environment["DOORSTEP_APP_STORE"] = tenant.simulator.host
                binary.environment["DOORSTEP_OUTBOUND_ALLOW"] = "127.0.0.0/8"
                let (_, status) = try await RunningServer.lend(binary) { server in
                    let deadline = ContinuousClock.now + .seconds(300)
                    var plan = try await server.get("/v1/app-store/plan", key: key)
                    while plan["checkedAt"] == .null, .now < deadline {
                        plan = try await server.get("/v1/app-store/plan", key: key)
                    }
                    #expect(plan["summary"]?.objectValue?["inStep"] == .bool(true), "\(plan)")
                    #expect(plan["clip"] == .string(StoreFixture.clipBundleID))
                    // It is measured after it is kept.
                    let state = "clip=\"\(StoreFixture.clipBundleID)\",state=\"in_step\""
                    var metrics = ""
                    while !metrics.contains(state), .now < deadline {
                        metrics = try await server.text("/metrics")
                    }
                    #expect(
                        metrics.split(separator: "\n").contains {
                            $0.hasPrefix("doorstep_app_store_experiences{") && $0.contains(state)
                                && $0.hasSuffix(" 2")
                        }, "\(metrics)")
                    let requests = tenant.requestCount
                    _ = try await server.get("/v1/app-store/plan", key: key)
                    #expect(tenant.requestCount == requests)
                    for secret in ["Bearer", "eyJ", "PRIVATE KEY"] {
                        #expect(!server.log.text.contains(secret))
                    }
                }
                #expect(status == 0)
            }
        }
    }
}

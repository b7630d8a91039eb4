import Administration
import AppStoreConnect
import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Crypto
import Formats
import Foundation
import Invocation
import LocalServers
import Persistence
import PostgreSQL
import StoreSupport
import Tenancy
import TestSupport
import Testing

/// Regular checks of App Store Connect: which clips are due, which results are stored, and which events are sent.
@Suite(.timeLimit(.minutes(10))) struct SyncCheckTests {
    private static let hook = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))

    /// Runs the closure with the checks as a server makes them. Its login may not write any records of synchronization.
    private static func lend(
        _ tenant: RegisteredTenant,
        _ body: (PostgresSyncChecks, ConnectionPool, BundleID) async throws -> Void
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
            try await body(PostgresSyncChecks(serving: pool), pool, clip)
        }
    }

    private static func look(
        _ tenant: RegisteredTenant, _ pool: ConnectionPool, _ clip: BundleID,
        clock: (any SyncClock)? = nil
    ) async throws -> SyncCheck {
        let clock = clock ?? tenant.clock
        let keys = try #require(SealingKeys(secrets: [RegisteredTenant.secret]))
        let (credentials, app) = try await PostgresStoreConnections(serving: pool, keys: keys).credentials(
            of: clip, of: tenant.tenant)
        let key = try AppStoreConnectKey(
            id: credentials.keyID, issuer: credentials.issuerID, pem: credentials.pem)
        let pacer = RequestPacer(
            PostgresRequestLedger(serving: pool, keyID: credentials.keyID, of: tenant.tenant), clock)
        var settings = AppStoreConnectClient.Settings()
        settings.server = tenant.simulator.host
        settings.readsOnly = true
        settings.pacer = pacer
        let registrar = SyncRunner(
            clip: clip,
            PostgresSyncRecords(serving: pool, keys: keys, clip: clip, of: tenant.tenant),
            AppStoreConnectService(
                AppStoreConnectClient(key, tenant.http, settings), clip: clip, app: app),
            pacer, clock)
        return try await registrar.look().check
    }

    private static func messages(_ tenant: RegisteredTenant) async throws -> Int {
        try await tenant.count("SELECT count(*) FROM doorstep.webhook_messages WHERE type = 'appstore.drift'")
    }

    @Test func oneOfManyServersClaimsCheck() async throws {
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
                // If a server dies during a check, another server can claim the check after its lease.
                try await tenant.execute("UPDATE doorstep.app_store_checks SET due_at = now()")
                #expect(try await checks.due(limit: 10).count == 1)
                #expect(try await checks.claim(clip, of: tenant.tenant, for: .seconds(3_600)))
                // The check ends with the connection.
                try await tenant.execute("DELETE FROM doorstep.app_store_connections")
                #expect(try await checks.due(limit: 10).isEmpty)
                #expect(try await !checks.claim(clip, of: tenant.tenant, for: .zero))
            }
        }
    }

    @Test func findingsAreReportedOnlyWhenTheyChange() async throws {
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
                // Nothing has changed, so no event is sent.
                #expect(try await !look())
                #expect(try await checks.due(limit: 10).isEmpty)
                var edit = RemoteEdit()
                edit.attributes = ["action": "PLAY"]
                tenant.simulator.edit(try #require(tenant.remote["a"]?.first?.id), edit)
                #expect(try await look())
                #expect(try await !look())
                // A change of the catalogue is no drift.
                try await tenant.retitle("a", "New")
                #expect(try await !look())
                #expect(try await Self.messages(tenant) == 1)
                edit = RemoteEdit()
                edit.isRemoved = true
                tenant.simulator.edit(try #require(tenant.remote["b"]?.first?.id), edit)
                try await tenant.clock.sleep(for: .seconds(61))
                #expect(try await look())
                let metrics = try #require(try await checks.metrics(limit: 10).first)
                #expect(metrics.counts["drifted"] == 1 && metrics.counts["missing"] == 1)
                #expect(metrics.counts["in_step"] == 1 && metrics.failure == nil)

                // A failed check keeps the last result and is repeated soon.
                try await checks.putOff(
                    clip, of: tenant.tenant, for: "NOT_AUTHORIZED", again: .zero)
                #expect(try await checks.due(limit: 10).count == 1)
                let failed = try #require(try await checks.metrics(limit: 10).first)
                #expect(failed.failure == "NOT_AUTHORIZED" && failed.counts["missing"] == 1)

                // The end of the drift is an event, too.
                #expect(try await tenant.apply().hasSucceeded)
                #expect(try await look())
                #expect(try await Self.messages(tenant) == 3)
                #expect(try await checks.metrics(limit: 10).first?.failure == nil)
            }
        }
    }

    /// Changes of a run are no drift. A check during a run is incomplete.
    @Test func checkDuringRunIsRejected() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await tenant.apply()
            try await tenant.clock.sleep(for: .seconds(61))
            try await Self.lend(tenant) { checks, pool, clip in
                try await tenant.records().withRun(at: Date()) { _ in
                    let error = await #expect(throws: SyncError.self) {
                        try await Self.look(tenant, pool, clip)
                    }
                    #expect(error?.code == "busy")
                }
                // While the check waits for a second listing, a run removes an experience.
                try await tenant.delete("b")
                tenant.simulator.faults = [Fault(.omitRow, times: 1, path: "/v1/appClips")]
                let clock = InterruptedClock(tenant.clock) { _ in
                    let outcome = try await tenant.apply {
                        $0.allowedRemovals = 1
                        $0.grace = 0
                    }
                    #expect(outcome.removed == 1, "\(outcome.text)")
                }
                await #expect(throws: SyncError.appliedMeanwhile(clip)) {
                    try await Self.look(tenant, pool, clip, clock: clock)
                }
                let check = try await Self.look(tenant, pool, clip)
                #expect(check.findings.isEmpty && check.counts["missing"] == 0, "\(check.findings)")
                #expect(try await checks.record(check, of: tenant.tenant) == false)
            }
        }
    }

    @Test func incompleteListingReportsNothing() async throws {
        try await RegisteredTenant.lend {
            $0.listingLag = 600
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await tenant.apply()
            try await Self.lend(tenant) { checks, pool, clip in
                // New experiences appear in listings later. They are not reported as missing.
                let early = try await Self.look(tenant, pool, clip)
                #expect(early.findings.isEmpty && early.counts["unlisted"] == 2, "\(early.counts)")
                try await tenant.clock.sleep(for: .seconds(601))
                tenant.simulator.faults = [Fault(.omitRow, times: 5, path: "/v1/appClips")]
                let error = await #expect(throws: ServiceFailure.self) {
                    try await Self.look(tenant, pool, clip)
                }
                #expect(error?.code == "incomplete_listing" && error?.verdict == .wait)
                #expect(try await Self.look(tenant, pool, clip).counts["unlisted"] == 0)
                #expect(try await Self.messages(tenant) == 0)
            }
        }
    }

    @Test func earlierCheckDoesNotReplaceLaterOne() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await tenant.apply()
            try await Self.lend(tenant) { checks, pool, clip in
                let earlier = try await Self.look(tenant, pool, clip)
                var edit = RemoteEdit()
                edit.attributes = ["action": "PLAY"]
                tenant.simulator.edit(try #require(tenant.remote["a"]?.first?.id), edit)
                let later = try await Self.look(tenant, pool, clip)
                #expect(earlier.checkedAt < later.checkedAt)
                #expect(try await checks.record(later, of: tenant.tenant))
                #expect(try await !checks.record(earlier, of: tenant.tenant, again: .seconds(60)))
                #expect(try await Self.messages(tenant) == 1)
                #expect(try await checks.metrics(limit: 10).first?.counts["drifted"] == 1)
            }
        }
    }

    /// A run makes a check due, but many small runs do not make one check each.
    @Test func runMakesCheckDue() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await Self.lend(tenant) { checks, pool, clip in
                try await checks.record(
                    Self.look(tenant, pool, clip), of: tenant.tenant, again: .seconds(86_400))
                try await tenant.apply()
                #expect(try await checks.due(limit: 10).isEmpty)
                try await tenant.execute(
                    "UPDATE doorstep.app_store_checks SET checked_at = now() - interval '2 hours'")
                try await tenant.apply()
                #expect(try await checks.due(limit: 10).map(\.clip) == [clip])
            }
        }
    }

    /// A foreign link may have any length. It is counted and does not prevent that the result is stored.
    @Test func overlongForeignLinkIsOnlyCounted() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await tenant.apply()
            var card = Card()
            card.defaultLanguage = .english
            card.texts = [.english: try CardText(title: "Foreign")]
            _ = try await RegisteredTenant.otherClient(of: tenant).createExperience(
                at: "https://example.com/" + String(repeating: "a", count: 3_000), ExperienceContent(card),
                clip: StoreFixture.clipID, image: try #require(tenant.simulator.experiences.first?.imageID))
            try await Self.lend(tenant) { checks, pool, clip in
                let check = try await Self.look(tenant, pool, clip)
                #expect(check.counts["unmanaged"] == 1 && check.rows.isEmpty)
                #expect(try await checks.record(check, of: tenant.tenant))
            }
        }
    }

    @Test func findingsAreVisibleOnlyToTheirTenant() async throws {
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
                    let reader = PostgresSyncChecks(managing: pool)
                    let latest = try await reader.latest(of: tenant.tenant, clip: nil, summarized: false)
                    #expect(latest.map(\.clip) == [clip] && latest.first?.checkedAt != nil)
                    #expect(latest.first?.summary == nil)
                    let whole = try await reader.latest(of: clip, of: tenant.tenant)
                    #expect(whole?.summary?["counts"]?.objectValue?["create"] == 3)
                    let first = try await reader.rows(
                        of: clip, of: tenant.tenant, within: nil, after: nil, limit: 2)
                    #expect(first.map(\.url) == ["https://example.com/p0", "https://example.com/p1"])
                    let rest = try await reader.rows(
                        of: clip, of: tenant.tenant, within: nil, after: first.last?.url, limit: 10)
                    #expect(rest.map(\.url) == ["https://example.com/p2"])
                    let within = try await reader.rows(
                        of: clip, of: tenant.tenant, within: ["l"], after: nil, limit: 10)
                    #expect(within.map(\.url) == ["https://example.com/p1"])
                    #expect(try await reader.latest(of: other, clip: nil, summarized: true).isEmpty)
                    #expect(
                        try await reader.rows(of: clip, of: other, within: nil, after: nil, limit: 10)
                            .isEmpty)
                }
            }
        }
    }

    @Test func diagnosisShowsApplesSiteStatus() async throws {
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
                    func point(_ name: String = "apple_cache") async throws -> JSONObject? {
                        let response = try await server.get(
                            "/v1/diagnosis?url=https%3A%2F%2Fexample.com%2Fa", key: key)
                        return response["checks"]?.arrayValue?.compactMap(\.objectValue).first {
                            $0["check"] == .string(name)
                        }
                    }
                    func status() async throws -> String? {
                        try await point().flatMap {
                            "\($0["status"]?.stringValue ?? "") \($0["value"]?.stringValue ?? "")"
                        }
                    }
                    let before = try await status()
                    #expect(before == "unknown example.com")
                    #expect(try await point("published")?["reason"] == "not_known")
                    #expect(try await command.run(["apply"]).status == 0)
                    #expect(try await command.run(["drift"]).status == 0)
                    #expect(try await status() == "ok example.com")
                    let published = try await point("published")
                    #expect(published?["status"] == "ok", "\(published ?? [:])")
                    #expect(
                        published?["detail"]?.stringValue?.hasPrefix(
                            "on the App Store: 1.0 is READY_FOR_DISTRIBUTION, according") == true)
                    let owner = DoorstepBinary(databaseURL: tenant.database.conninfo)
                    let lint = ["experience", "lint", "--tenant", "acme", "--format", "json"]
                    #expect(try await !owner.succeed(lint).output.contains("unpublished"))
                    tenant.simulator.turn { $0.versionState = .inReview }
                    #expect(try await command.run(["drift"]).status == 0)
                    let unpublished = try await point("published")
                    #expect(unpublished?["status"] == "warning" && unpublished?["reason"] == "not_published")
                    #expect(try await owner.succeed(lint).output.contains("unpublished"))
                    tenant.simulator.turn { $0.unreachableDomains = [StoreFixture.domain] }
                    #expect(try await command.run(["drift"]).status == 0)
                    #expect(try await status() == "warning CANNOT_REACH_AASA_FILE")
                    // If the key may not read builds, the status of sites is unknown.
                    tenant.simulator.faults = [
                        Fault(
                            .response(status: 403, code: "FORBIDDEN_ERROR", retryAfter: nil),
                            path: "/v1/builds"
                        )
                    ]
                    #expect(try await command.run(["drift"]).status == 0)
                    let untold = try await point()
                    #expect(untold?["status"] == "unknown")
                    #expect(
                        untold?["detail"]?.stringValue?.contains("unknown at the check") == true,
                        "\(untold ?? [:])")
                    #expect(try await point("published")?["reason"] == "not_known")
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

    /// A server checks by itself, serves the stored result without a request to Apple, and updates its metrics.
    @Test func serverChecksByItself() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 0
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await RegisteredCommand.lend(tenant) { command in
                #expect(try await command.run(["apply"]).status == 0)
                let key = try await Self.reader(command)
                let (_, status) = try await RunningServer.lend(Self.serving(tenant)) { server in
                    let deadline = ContinuousClock.now + .seconds(300)
                    var plan = try await server.get("/v1/appstore/plan", key: key)
                    while plan["checkedAt"] == .null, .now < deadline {
                        plan = try await server.get("/v1/appstore/plan", key: key)
                    }
                    #expect(plan["summary"]?.objectValue?["inStep"] == .bool(true), "\(plan)")
                    #expect(plan["clip"] == .string(StoreFixture.clipBundleID))
                    // The metric is set after the result is stored.
                    let state = "clip=\"\(StoreFixture.clipBundleID)\",state=\"in_step\""
                    var metrics = ""
                    while !metrics.contains(state), .now < deadline {
                        metrics = try await server.text("/metrics")
                    }
                    #expect(
                        metrics.split(separator: "\n").contains {
                            $0.hasPrefix("doorstep_appstore_experiences{") && $0.contains(state)
                                && $0.hasSuffix(" 2")
                        }, "\(metrics)")
                    let requests = tenant.requestCount
                    _ = try await server.get("/v1/appstore/plan", key: key)
                    #expect(tenant.requestCount == requests)
                    for secret in ["Bearer", "eyJ", "PRIVATE KEY"] {
                        #expect(!server.log.text.contains(secret))
                    }
                }
                #expect(status == 0)
            }
        }
    }

    /// The environment of a server that checks the simulator.
    private static func serving(_ tenant: RegisteredTenant) -> DoorstepBinary {
        var binary = DoorstepBinary(databaseURL: tenant.database.conninfo(as: .serve))
        binary.environment["DOORSTEP_TOKEN_SECRET"] = RegisteredTenant.secret
        binary.environment["DOORSTEP_APP_STORE"] = tenant.simulator.host
        return binary
    }

    /// Repeats until the closure accepts the response or time runs out.
    private static func poll<Answer>(
        _ ask: () async throws -> Answer, until isExpected: (Answer) -> Bool
    ) async throws -> Answer {
        let deadline = ContinuousClock.now + .seconds(300)
        while true {
            let response = try await ask()
            if isExpected(response) || .now >= deadline {
                #expect(isExpected(response), "\(response)")
                return response
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The check of one clip has to wait for an hour. The check and the metrics of another clip do not wait, and a server that ends
    /// releases its check.
    @Test func waitingCheckDoesNotDelayOthers() async throws {
        try await RegisteredTenant.lend { tenant in
            let other = try BundleID("com.example.other.Clip")
            let clips = PostgresAdministrationStore(tenant.pool, actor: "t").items.clips
            try await TenantItems(clips, of: tenant.tenant, by: "t").create(
                Clip(bundleID: other, teamID: TeamID("ABCDE12345"), isMultiBusiness: false))
            try await Self.lend(tenant) { _, _, clip in
                let keys = try #require(SealingKeys(secrets: [RegisteredTenant.secret]))
                let credentials = StoreCredentials(
                    keyID: StoreFixture.keyID, issuerID: StoreFixture.issuer,
                    pem: StoreFixture.key.pemRepresentation)
                _ = try await PostgresStoreConnections(tenant.pool, keys: keys).connect(
                    other, by: credentials, of: tenant.tenant, actor: "t")
                tenant.simulator.faults = [
                    Fault(
                        .response(status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 3_600),
                        path: "/v1/apps/\(StoreFixture.appID)")
                ]
                let (_, status) = try await RunningServer.lend(Self.serving(tenant)) { server in
                    let age =
                        "doorstep_appstore_check_age_seconds{clip=\"\(other)\",tenant=\"\(tenant.tenant)\"}"
                    _ = try await Self.poll {
                        try await server.text("/metrics")
                    } until: {
                        $0.contains(age)
                    }
                    #expect(
                        try await tenant.count(
                            "SELECT count(*) FROM doorstep.app_store_checks WHERE checked_at IS NULL AND due_at > now()"
                        ) == 1)
                }
                #expect(status == 0)
                #expect(
                    try await tenant.count(
                        "SELECT count(*) FROM doorstep.app_store_checks WHERE checked_at IS NULL AND due_at <= now()"
                    ) == 1, "\(clip) is not given back")
            }
        }
    }

    /// A failed check has a metric, and a log line with the reason only. A disconnected clip has no metric.
    @Test func failingCheckIsMeasured() async throws {
        try await RegisteredTenant.lend {
            $0.lacksAgreement = true
        } _: { tenant in
            try await RegisteredCommand.lend(tenant) { command in
                let key = try await Self.reader(command)
                let (_, status) = try await RunningServer.lend(Self.serving(tenant)) { server in
                    let plan = try await Self.poll {
                        try await server.get("/v1/appstore/plan", key: key)
                    } until: {
                        $0["failure"] != .null
                    }
                    #expect(
                        plan["failure"]?.stringValue?.hasPrefix("FORBIDDEN") == true
                            && plan["checkedAt"] == .null)
                    let series = "clip=\"\(StoreFixture.clipBundleID)\""
                    _ = try await Self.poll {
                        try await server.text("/metrics")
                    } until: {
                        $0.split(separator: "\n").contains {
                            $0.hasPrefix("doorstep_appstore_check_failing{") && $0.contains(series)
                                && $0.hasSuffix(" 1")
                        }
                    }
                    try await server.log.line(saying: "App Store Connect could not be checked")
                    try await tenant.expectSilence(of: [server.log.text])
                    try await command.binary.succeed([
                        "appstore", "disconnect", "--tenant", "acme", "--clip", StoreFixture.clipBundleID,
                    ])
                    _ = try await Self.poll {
                        try await server.text("/metrics")
                    } until: {
                        !$0.contains(series)
                    }
                }
                #expect(status == 0)
            }
        }
    }

    /// Drift that a command finds is sent to the webhook, with its details.
    @Test func driftIsDeliveredToWebhook() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 0
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await RegisteredCommand.lend(tenant) { command in
                #expect(try await command.run(["apply"]).status == 0)
                let requests = Shared<[LocalWebServer.Request]>([])
                try await LocalWebServer.lend({ request in
                    requests.change { $0.append(request) }
                    return .init("", status: 204)
                }) { hooks in
                    try await command.binary.succeed([
                        "webhook", "create", "--tenant", "acme", "--event", "appstore.drift",
                        "http://127.0.0.1:\(hooks.port)/drift",
                    ])
                    var edit = RemoteEdit()
                    edit.attributes = ["action": "PLAY"]
                    tenant.simulator.edit(try #require(tenant.remote["a"]?.first?.id), edit)
                    #expect(try await command.run(["drift"]).status == 2)
                    var binary = Self.serving(tenant)
                    binary.environment["DOORSTEP_DRIFT_INTERVAL"] = "0"
                    let asked = tenant.requestCount
                    let (_, status) = try await RunningServer.lend(binary) { _ in
                        let told = try await Self.poll({ requests.value }, until: { !$0.isEmpty })
                        let message = try #require(
                            told.first.flatMap { try? JSONValue(parsing: $0.body).objectValue })
                        #expect(message["type"] == "appstore.drift")
                        let data = try #require(message["data"]?.objectValue)
                        #expect(data["clip"] == .string(StoreFixture.clipBundleID))
                        #expect(data["findings"] == 1 && data["urls"] == ["https://example.com/a"])
                        #expect(data["counts"]?.objectValue?["drifted"] == 1, "\(data)")
                        #expect(data["checkedAt"]?.stringValue != nil)
                        try await tenant.expectSilence(
                            of: told.map { String(decoding: $0.body, as: UTF8.self) })
                    }
                    #expect(status == 0)
                    // This server has checks switched off.
                    #expect(tenant.requestCount == asked)
                }
            }
        }
    }
}

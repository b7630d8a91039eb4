import APNsPayload
import Administration
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import PostgreSQL
import PropertyTesting
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Audiences larger than one part, and instances that cannot be notified.
@Suite struct AudiencePartTests {
    private static func size(
        reachable: Int = 10, launches: Int = 1_000, skipped: Int = 100
    ) -> AudiencePartSize {
        var size = AudiencePartSize()
        size.reachable = reachable
        size.launches = launches
        size.skipped = skipped
        return size
    }

    // MARK: Parts

    enum Kind: CaseIterable {
        case business, prefix

        var audience: Audience {
            get throws {
                switch self {
                case .business: .business
                case .prefix: .urlPrefix(try URLPrefix("https://example.com/restaurants"))
                }
            }
        }
    }

    @Test(arguments: Kind.allCases) func largeAudienceIsExpandedInParts(kind: Kind) async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 100))
            try await restaurants.registerMany(250)
            let key = IdempotencyKey("many", for: ["request": 1], of: restaurants.tenant)
            let submission = try restaurants.submission(to: try kind.audience, key: key)
            let first = try #require(try await restaurants.accept(submission).trace)
            #expect(first.counts == [DeliveryCount(state: .queued, reason: nil, count: 100)])
            #expect(!first.isComplete)
            #expect(try await restaurants.trace(first).isComplete == false)
            #expect(
                try await restaurants.notifications.tenantsWithAudiencesToContinue() == [restaurants.tenant])
            let parts = try await restaurants.continueAudiences()
            #expect(parts.map { $0.counts.map(\.count) } == [[100], [50]])
            #expect(parts.map(\.isLast) == [false, true])
            #expect(try await restaurants.notifications.tenantsWithAudiencesToContinue() == [])
            let whole = try await restaurants.trace(first)
            #expect(whole.isComplete)
            #expect(whole.counts == [DeliveryCount(state: .queued, reason: nil, count: 250)])
            #expect(Set(whole.deliveries.map(\.instance)).count == 250)
            // A reader that requests page after page sees every delivery.
            #expect(Array(whole.deliveries.prefix(100)).map(\.id) == first.deliveries.map(\.id))
            let again = try await restaurants.accept(submission)
            #expect(again.isRepeated && again.trace?.isComplete == true)
            #expect(again.trace?.counts == whole.counts)
        }
    }

    /// After a failover, the new server's clock may be behind.
    @Test(arguments: Kind.allCases) func clockSetBackExcludesNoInstance(kind: Kind) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(3)
            try await restaurants.stores.database.withSuperuser { pool in
                try await pool.withConnection {
                    _ = try await $0.execute(
                        """
                        UPDATE doorstep.launches
                        SET present_since = now() + interval '2 minutes',
                            known_since = now() + interval '2 minutes'
                        """)
                }
            }
            let whole = try await restaurants.send(to: try kind.audience)
            #expect(whole.counts == [DeliveryCount(state: .queued, reason: nil, count: 3)])
        }
    }

    @Test func instanceLaunchedAfterRequestIsNotInAudience() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 10))
            var there: [InstanceID] = []
            for number in 0..<25 {
                there.append(
                    try await restaurants.register(.init(launched: 3_600 - TimeInterval(number))))
            }
            let longAgo = try await restaurants.register(.init(launched: 9 * 3_600))
            let first = try await restaurants.send()
            #expect(first.deliveries.map(\.instance) == there.prefix(10).map(Optional.some))
            _ = try await restaurants.register(.init(launched: 0))
            _ = try await restaurants.register(.init(launched: 3_580))
            // An instance with a delivery, one without a delivery yet, and one that was not in the audience at the start.
            for id in [there[2], there[20], longAgo] {
                try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) {
                    _ = try await $0.execute(
                        "UPDATE doorstep.launches SET launched_at = now() WHERE instance_id = \(id.uuid)")
                }
            }
            try await restaurants.continueAudiences()
            let whole = try await restaurants.trace(first)
            #expect(whole.isComplete)
            #expect(whole.deliveries.count == 25)
            #expect(Set(whole.deliveries.map(\.instance)) == Set(there))
        }
    }

    /// A prefix reaches every instance that a URL with this prefix ever launched, also if the instance is launched again meanwhile.
    @Test func relaunchedInstanceStaysInPrefixAudience() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 10))
            var there: [InstanceID] = []
            for _ in 0..<25 {
                there.append(
                    try await restaurants.register(
                        .init(app: .full, permission: .authorized, launched: 24 * 3_600)))
            }
            let first = try await restaurants.send(to: try Kind.prefix.audience)
            #expect(!first.isComplete)
            for id in there {
                try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) {
                    _ = try await $0.execute(
                        "UPDATE doorstep.launches SET launched_at = now() WHERE instance_id = \(id.uuid)")
                }
            }
            try await restaurants.register(.init(app: .full, permission: .authorized, launched: 0))
            try await restaurants.continueAudiences()
            let whole = try await restaurants.trace(first)
            #expect(whole.isComplete && whole.deliveries.count == 25)
            #expect(Set(whole.deliveries.map(\.instance)) == Set(there))
        }
    }

    /// Each search within a part sees the rows that are committed at its start.
    @Test(.timeLimit(.minutes(30))) func instanceRelaunchedDuringPartIsNotifiedOnce() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 20))
            // Half of the instances can be notified, so that a second search has room.
            var reachable: [InstanceID] = []
            for number in 0..<20 {
                let launched = 3_600 - TimeInterval(number)
                if number.isMultiple(of: 2) {
                    reachable.append(try await restaurants.register(.init(launched: launched)))
                } else {
                    try await restaurants.register(.init(launched: launched, token: nil))
                }
            }
            let again = reachable[3]
            let trace = try await withThrowingTaskGroup(of: NotificationTrace.self) { group in
                try await restaurants.stores.database.withSuperuser { pool in
                    try await pool.withTransaction { transaction in
                        // Between two searches, the part reads `deliveries`. The lock stops it there.
                        try await transaction.execute(
                            "LOCK TABLE doorstep.deliveries IN ACCESS EXCLUSIVE MODE")
                        group.addTask { try await restaurants.send() }
                        try await restaurants.stores.waitForWaiters()
                        try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) {
                            _ = try await $0.execute(
                                """
                                UPDATE doorstep.launches SET launched_at = now()
                                WHERE instance_id = \(again.uuid)
                                """)
                        }
                    }
                }
                return try #require(try await group.next())
            }
            #expect(trace.isComplete)
            #expect(
                trace.deliveries.filter { $0.state == .queued }.compactMap(\.instance).sorted {
                    "\($0)" < "\($1)"
                }
                    == reachable.sorted { "\($0)" < "\($1)" })
        }
    }

    /// Two servers continue the audience at once. In the end every instance has one delivery.
    @Test func everyInstanceGetsOneDeliveryDespiteCrashes() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 20))
            try await restaurants.registerMany(2_000)
            let first = try await restaurants.send()
            let store = restaurants.notifications
            let killed = try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        await AudienceContinuation(store, pollInterval: .milliseconds(5)).run()
                    }
                }
                let killed = try await restaurants.killBackends(
                    whileLeft: """
                        SELECT (SELECT count(*) FROM doorstep.audience_cursors)
                            + (SELECT count(*) FROM doorstep.instances) - (SELECT count(*) FROM doorstep.deliveries)
                        """)
                group.cancelAll()
                return killed
            }
            #expect(killed > 0)
            let counts = try #require(
                try await restaurants.notifications.trace(
                    first.notification.id, of: restaurants.tenant, after: nil, limit: 1)
            ).counts
            #expect(counts == [DeliveryCount(state: .queued, reason: nil, count: 2_000)])
            #expect(
                try await restaurants.stores.count(
                    "SELECT count(DISTINCT instance_id) FROM doorstep.deliveries") == 2_000)
        }
    }

    @Test func audienceOfSuspendedTenantIsNotExpanded() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 10))
            try await restaurants.registerMany(20)
            try await restaurants.send()
            let administration = restaurants.stores.administration
            let slug = try #require(try await administration.tenants().first?.slug)
            _ = try await administration.setSuspended(true, slug)
            #expect(try await restaurants.notifications.tenantsWithAudiencesToContinue() == [])
            _ = try await administration.setSuspended(false, slug)
            #expect(
                try await restaurants.notifications.tenantsWithAudiencesToContinue() == [restaurants.tenant])
        }
    }

    /// With any statistics of the planner, a part reads its launches in the order of their index, and no later launches.
    @Test(arguments: Kind.allCases, [true, false])
    func partReadsOnlyItsOwnLaunches(kind: Kind, isAnalyzed: Bool) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await Self.makeUp(5_000, restaurants)
            if isAnalyzed {
                try await restaurants.stores.database.withSuperuser { pool in
                    try await pool.withConnection { try await $0.execute(script: "ANALYZE") }
                }
            }
            let submission = try restaurants.submission(to: try kind.audience)
            try await restaurants.stores.database.explainEverything(planCacheMode: "auto")
            let plans = Mutex<[String]>([])
            try await restaurants.stores.database.withPool(
                as: .serve, { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                let store = PostgresNotificationStore(
                    pool, partSize: Self.size(reachable: 100, launches: 100))
                let outcome = try await NotificationIntake(store).accept(
                    submission, in: restaurants.table.of(restaurants.tenant), at: restaurants.now)
                #expect(outcome.trace?.isComplete == false)
                _ = try await store.continueAudience(of: restaurants.tenant)
            }
            let searches = plans.withLock { $0.filter { $0.contains("WITH scanned") } }
            // The searches of the first part, of the first part again by time, and of the second part.
            #expect(searches.count == 3)
            for plan in searches {
                let lines = plan.split(separator: "\n")
                let start = try #require(lines.firstIndex { $0.contains("CTE scanned") })
                let scanned = lines[(start + 1)...].prefix {
                    !$0.contains("CTE ") && !$0.contains("GroupAggregate")
                }
                let index = kind == .business ? "launches_location" : "launches_url"
                #expect(scanned.contains { $0.contains("Index Scan using \(index)") }, "\(plan)")
                // Only the few launches of each URL range are sorted.
                #expect(scanned.count { $0.contains("Sort Key") } <= (kind == .business ? 0 : 1), "\(plan)")
                #expect(!plan.contains("Seq Scan on"), "\(plan)")
            }
        }
    }

    // MARK: Unreachable instances

    /// Fabricated instances come first, and the reachable instance is still in the first part.
    @Test func fabricatedInstancesDoNotDelayReachableOnes() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 500, launches: 5_000, skipped: 100))
            try await Self.makeUp(1_500, restaurants)
            let real = try await restaurants.register(.init())
            let trace = try await restaurants.send()
            #expect(trace.isComplete)
            #expect(
                trace.counts == [
                    DeliveryCount(state: .queued, reason: nil, count: 1),
                    DeliveryCount(state: .skipped, reason: "no_token", count: 1_500),
                ])
            #expect(trace.deliveries.count == 101)
            #expect(trace.decisions[real] == "queued")
            #expect(try await restaurants.trace(trace).counts == trace.counts)
        }
    }

    /// The launches that one part examines are limited. The final counts are correct.
    @Test func partsAreBoundedByExaminedLaunches() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 200, launches: 400, skipped: 100))
            try await Self.makeUp(1_500, restaurants)
            let real = try await restaurants.register(.init())
            let trace = try await restaurants.send()
            #expect(!trace.isComplete)
            #expect(trace.counts == [DeliveryCount(state: .skipped, reason: "no_token", count: 400)])
            let parts = try await restaurants.continueAudiences()
            #expect(parts.map { $0.counts.reduce(0) { $0 + $1.count } } == [400, 400, 301])
            let whole = try await restaurants.trace(trace)
            #expect(
                whole.counts == [
                    DeliveryCount(state: .queued, reason: nil, count: 1),
                    DeliveryCount(state: .skipped, reason: "no_token", count: 1_500),
                ])
            #expect(whole.deliveries.count == 101)
            #expect(whole.decisions[real] == "queued")
        }
    }

    /// The index does not contain the query, so the search filters. The number of examined launches is limited here, too.
    @Test func prefixWithQueryExaminesBoundedLaunches() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let restaurants = restaurants.takingIn(Self.size(reachable: 200, launches: 400))
            try await Self.makeUp(1_500, restaurants)
            let table = Restaurants.a + "?table=5"
            let real = try await restaurants.register(.init(url: table))
            let submission = try restaurants.submission(table, to: .urlPrefix(try URLPrefix(table)))
            let trace = try #require(try await restaurants.accept(submission).trace)
            #expect(!trace.isComplete && trace.counts == [])
            let parts = try await restaurants.continueAudiences()
            #expect(parts.map(\.isLast) == [false, false, true])
            let whole = try await restaurants.trace(trace)
            #expect(whole.isComplete && whole.decisions == [real: "queued"])
        }
    }

    /// Registers instances without a token, launched an hour ago.
    private static func makeUp(_ count: Int, _ restaurants: Restaurants) async throws {
        let (tenant, ids) = (restaurants.tenant, (0..<count).map { _ in UUID() })
        let launchedAt = restaurants.now.addingTimeInterval(-3_600)
        try await restaurants.pool.withTenantTransaction(tenant, as: .app) { transaction in
            try await transaction.execute(
                """
                INSERT INTO doorstep.instances
                    (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                SELECT \(tenant.uuid), id, \(Restaurants.clip), 'clip', 'production', 'ephemeral', \(launchedAt)
                FROM unnest(\(ids)) AS id
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.launches
                    (tenant_id, instance_id, url, experience_url, location_identifier, launched_at)
                SELECT \(tenant.uuid), id, \(Restaurants.a), \(Restaurants.a), 'a', \(launchedAt)
                FROM unnest(\(ids)) AS id
                """)
        }
    }

    /// The database filters instances by the same rules as the router. Results are the same with and without deliveries for skipped
    /// instances.
    @Test func databaseFilterMatchesRouterDecisions() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix64(seed: seed)
        var instances: [Restaurants.Instance] = []
        for _ in 0..<300 {
            var instance = Restaurants.Instance()
            instance.app = random.pick(InstalledApp.allCases)
            instance.environment = random.pick(APNsEnvironment.allCases)
            instance.permission = random.pick(NotificationPermission.allCases)
            instance.launched = random.pick([60, 7 * 3_600, 9 * 3_600])
            instance.confirmed = random.pick([nil, 60, 9 * 3_600])
            instance.isRetired = random.oneIn(4)
            if random.oneIn(4) { instance.token = nil }
            if random.oneIn(3) {
                instance.url = Restaurants.b
                instance.location = "b"
            }
            instances.append(instance)
        }
        try await Restaurants.withRestaurants { [instances] restaurants in
            for instance in instances { try await restaurants.register(instance) }
            let individual = restaurants.takingIn(Self.size(reachable: 1_000, skipped: 1_000))
            let grouped = restaurants.takingIn(Self.size(reachable: 1_000, skipped: 0))
            for kind in Kind.allCases {
                for confirmedOnly in [false, true] {
                    for environment in [nil, APNsEnvironment.production] {
                        func decide(_ restaurants: Restaurants) async throws -> NotificationTrace {
                            let submission = try restaurants.submission(
                                to: try kind.audience, confirmedOnly: confirmedOnly, environment: environment)
                            return try #require(try await restaurants.accept(submission).trace)
                        }
                        let all = try await decide(individual)
                        let reached = try await decide(grouped)
                        let comment: Comment = "seed \(seed), \(kind) \(confirmedOnly) \(environment as Any)"
                        #expect(reached.counts == all.counts, comment)
                        #expect(reached.deliveries.allSatisfy { $0.state == .queued }, comment)
                        #expect(
                            all.counts.reduce(0) { $0 + $1.count } == all.deliveries.count, comment)
                    }
                }
            }
        }
    }

    // MARK: Targets

    /// Experiences of the same location are separate instances of the clip on a device.
    @Test func deliveryTargetsTheURLOfItsLaunch() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let order = Restaurants.a + "/order/1"
            let short = "https://example.com/a"
            let bySame = try await restaurants.register(.init(url: Restaurants.a + "/menu"))
            let byShort = try await restaurants.register(.init(url: short + "?t=7", experience: short))
            // Launched by both URLs, last by the short one; and later also by the URL of the other restaurant.
            let byBoth = try await restaurants.register(.init(launched: 300))
            try await restaurants.register(
                .init(id: byBoth, launched: 200, url: short, experience: short, token: nil))
            try await restaurants.register(
                .init(id: byBoth, launched: 100, url: Restaurants.b, location: "b", token: nil))
            let full = try await restaurants.register(
                .init(app: .full, permission: .authorized, url: short, experience: short))
            let long = try await restaurants.register(
                .init(url: short + "?t=" + String(repeating: "x", count: 1_500), experience: short))
            let aps: JSONObject = ["alert": .string(String(repeating: "y", count: 3_000))]
            let submission = try restaurants.submission(order, aps: aps)
            let trace = try #require(try await restaurants.accept(submission).trace)
            func targets(_ trace: NotificationTrace) -> [InstanceID?: String?] {
                Dictionary(uniqueKeysWithValues: trace.deliveries.map { ($0.instance, $0.target) })
            }
            let expected = [
                bySame: nil, byShort: short + "?t=7", byBoth: short, full: nil,
                long: short + "?t=" + String(repeating: "x", count: 1_500),
            ]
            #expect(targets(trace) == expected)
            #expect(targets(try await restaurants.trace(trace)) == expected)
            #expect(trace.decisions[long] == "payload_too_large")
            #expect(trace.counts.filter { $0.state == .queued }.map(\.count) == [4])

            let claimed = try await restaurants.outbox.claim(
                10, of: restaurants.tenant, for: .seconds(60))
            #expect(claimed.count == 4)
            for delivery in claimed {
                guard case .device(_, _, let instance, _, _) = delivery.destination else {
                    Issue.record("\(delivery.destination)")
                    continue
                }
                let payload = try JSONValue(parsing: delivery.payload).objectValue?["aps"]?.objectValue
                let target = payload?["target-content-id"]?.stringValue
                #expect(target == (expected[instance] ?? nil) ?? order)
                #expect(payload?["alert"] == aps["alert"])
            }
        }
    }

    /// Apple requires a target only for clips that serve several businesses. [Apple]
    @Test func singleBusinessClipIsNotifiedWithoutTarget() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let (clip, tenant) = ("com.example.Bikes.Clip", restaurants.tenant)
            let link = "https://appclip.apple.com/id?p=\(clip)"
            try await restaurants.stores.createClip(clip, of: tenant)
            try await restaurants.stores.importExperiences(
                [.sample(link, kind: .default, clip: clip, rule: "query:bike")], of: tenant)
            let table = try await restaurants.stores.loadTable()
            let id = InstanceID(UUID())
            let store = PostgresInstanceStore(restaurants.pool, keys: Restaurants.keys)
            _ = try await store.register(
                InstanceRegistration(
                    id: id, clip: try BundleID(clip), app: .clip, environment: .production,
                    permission: .ephemeral, launchedAt: restaurants.now.addingTimeInterval(-60),
                    launch: Launch(
                        url: link + "&bike=a", experience: link, location: try LocationIdentifier("a"),
                        launchedAt: restaurants.now.addingTimeInterval(-60), confirmedAt: nil),
                    tokens: [.device: .random()]), of: tenant, at: restaurants.now)
            let outcome = try await restaurants.intake.accept(
                restaurants.submission(link + "&bike=a"), in: table.of(tenant), at: restaurants.now)
            let trace = try #require(outcome.trace)
            #expect(trace.decisions == [id: "queued"])
            let stored = try await restaurants.trace(trace).notification
            #expect(stored.experienceKind == .default)
            #expect(try JSONValue(parsing: stored.payload) == ["aps": ["alert": "Ready."]])
            let claimed = try await restaurants.outbox.claim(10, of: tenant, for: .seconds(60))
            #expect(claimed.map(\.payloadText) == [#"{"aps":{"alert":"Ready."}}"#])
        }
    }
}

extension ClaimedDelivery {
    fileprivate var payloadText: String? {
        (try? payload).map { String(decoding: $0, as: UTF8.self) }
    }
}

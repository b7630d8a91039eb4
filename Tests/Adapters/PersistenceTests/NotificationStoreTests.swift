import APNsPayload
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import PostgreSQL
import PropertyTesting
import Tenancy
import TestSupport
import Testing

@testable import Persistence

@Suite struct NotificationStoreTests {
    // MARK: Audiences

    @Test func decisionPerInstanceIsStoredAndReturned() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let hour: TimeInterval = 3_600
            func register(_ change: (inout Restaurants.Instance) -> Void) async throws -> InstanceID {
                var instance = Restaurants.Instance()
                change(&instance)
                return try await restaurants.register(instance)
            }
            let expected: [InstanceID: String] = [
                try await register { _ in }: "queued",
                try await register { $0.permission = .denied }: "permission_denied",
                try await register { $0.token = nil }: "no_token",
                try await register { $0.isRetired = true }: "token_dead",
                try await register { $0.environment = .sandbox }: "wrong_environment",
                try await register {
                    $0.app = .full; $0.permission = .authorized
                }: "queued",
            ]
            // Launched elsewhere, or too long ago, so not part of the audience.
            _ = try await register {
                $0.url = Restaurants.b; $0.location = "b"
            }
            _ = try await register { $0.launched = 8 * hour + 60 }
            let outcome = try await restaurants.accept(
                restaurants.submission(environment: .production))
            let trace = try #require(outcome.trace)
            #expect(trace.decisions == expected)
            #expect(try await restaurants.trace(trace).decisions == expected)
            let deliveries = try await restaurants.trace(trace).deliveries
            #expect(deliveries.map(\.id) == trace.deliveries.map(\.id))
            for delivery in deliveries where delivery.state == .queued {
                let end = restaurants.now.addingTimeInterval(-60 + 8 * hour)
                let difference = delivery.expiresAt.map { abs($0.timeIntervalSince(end)) }
                // A delivery to the full app has no expiration.
                #expect(difference.map { $0 < 0.001 } ?? true)
            }
        }
    }

    @Test func singleInstanceGetsItsDecisionWhereverLaunched() async throws {
        try await Restaurants.withRestaurants { restaurants in
            for (url, location, launched, expected) in [
                (Restaurants.a, "a", 60, "queued"), (Restaurants.b, "b", 60, "other_business"),
                (Restaurants.a, "a", 8 * 3_600 + 1, "window_closed"),
            ] as [(String, String, TimeInterval, String)] {
                let id = try await restaurants.register(
                    Restaurants.Instance(launched: launched, url: url, location: location))
                let trace = try await restaurants.send(to: .instance(id))
                #expect(trace.decisions == [id: expected])
            }
        }
    }

    @Test func notificationToUnknownInstanceIsRejected() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let key = try #require(IdempotencyKey("key", for: [:], of: restaurants.tenant))
            for audience in [
                Audience.instance(InstanceID(UUID())), .activity(InstanceID(UUID()), "activity"),
            ] {
                var aps: JSONObject = ["alert": "Ready."]
                var headers: JSONObject = [:]
                if case .activity = audience {
                    aps = ["timestamp": 1, "event": "update", "content-state": [:]]
                    headers = ["pushType": "liveactivity"]
                }
                let outcome = try await restaurants.accept(
                    restaurants.submission(to: audience, aps: aps, headers: headers, key: key))
                #expect(outcome == .refused(.unknownInstance))
            }
            // Nothing was stored, and the idempotency key is free.
            #expect(try await restaurants.notifications.addition(with: key, of: restaurants.tenant) == nil)
            #expect(try await restaurants.stores.count("SELECT count(*) FROM doorstep.notifications") == 0)
        }
    }

    /// For a clip of several businesses, Apple describes a "launch from a generic landing page, then choose a business". [Apple]
    @Test func instanceLaunchedByGenericURLIsReachedByIt() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let generic = "https://example.com/restaurants"
            let link = "https://appclip.apple.com/id?p=\(Restaurants.clip)"
            try await restaurants.stores.importExperiences([.sample(generic)], of: restaurants.tenant)
            let restaurants = try await restaurants.reloaded()
            for (url, experience) in [(generic + "?table=1", generic), (link, link)] {
                var instance = Restaurants.Instance()
                instance.url = url
                instance.experience = experience
                instance.location = nil
                let id = try await restaurants.register(instance)
                // The target is the instance's own launch URL, or the URL of the business that the person has chosen.
                for target in [url, Restaurants.a] {
                    let trace = try await restaurants.send(target, to: .instance(id))
                    #expect(trace.decisions == [id: "queued"], "\(url) by \(target)")
                    let json = try #require(
                        trace.response["deliveries"]?.arrayValue?.first?.objectValue)
                    #expect(json["target"] == .string(url))
                }
                let byPrefix = try await restaurants.send(
                    experience, to: .urlPrefix(try URLPrefix(experience)))
                #expect(byPrefix.decisions == [id: "queued"], "\(url)")
                // The audience of a business does not include instances that chose no business.
                #expect(try await restaurants.send(to: .business).decisions[id] == nil)
            }
            // The instance belongs to another business.
            let other = try await restaurants.register(
                Restaurants.Instance(url: Restaurants.b, location: "b"))
            for target in [generic, Restaurants.a] {
                let trace = try await restaurants.send(target, to: .instance(other))
                #expect(trace.decisions == [other: "other_business"], "\(target)")
            }
            let forAll = try await restaurants.accept(restaurants.submission(generic, to: .business))
            guard case .refused(let refusal) = forAll else {
                Issue.record("accepted")
                return
            }
            #expect(refusal.code == "not_business_specific")
        }
    }

    /// APNs refuses an expiration for a channel that stores no message. [Apple]
    @Test func broadcastWithExpirationRequiresStoringChannel() async throws {
        try await Restaurants.withRestaurants { restaurants in
            for (id, stores) in [("YQ==", true), ("Yg==", false)] {
                try await PostgresChannelStore(restaurants.pool).add(
                    BroadcastChannel(
                        id: try #require(ChannelID(id)), clip: try BundleID(Restaurants.clip),
                        environment: .production, storesLastMessage: stores, createdAt: restaurants.now),
                    of: restaurants.tenant)
            }
            let later = JSONValue(Int(restaurants.now.timeIntervalSince1970) + 3_600)
            for (id, expiration, code) in [
                ("YQ==", later, nil), ("Yg==", later, "invalid_notification"), ("Yg==", 0, nil),
                ("Yg==", nil, nil),
            ] as [(String, JSONValue?, String?)] {
                var headers: JSONObject = ["pushType": "liveactivity"]
                headers["expiration"] = expiration
                let outcome = try await restaurants.accept(
                    restaurants.submission(
                        to: .channel(id), aps: ["timestamp": 1, "event": "update", "content-state": [:]],
                        headers: headers))
                switch outcome {
                case .refused(let refusal):
                    #expect(refusal.code == code && refusal.members["field"] == "headers.expiration")
                case .accepted(let trace):
                    #expect(code == nil)
                    // The headers of a broadcast, and no other headers.
                    let headers = try #require(trace.response["headers"]?.objectValue)
                    #expect(
                        Set(headers.map(\.key)) == ["apns-push-type", "apns-priority", "apns-expiration"])
                    let aps = trace.response["payload"]?.objectValue?["aps"]?.objectValue
                    #expect(aps?["target-content-id"] == nil && aps?["event"] == "update")
                case .repeated: Issue.record("repeated")
                }
            }
        }
    }

    @Test func testTenantNotifiesOnlyInSandbox() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.stores.markAsTest(restaurants.tenant)
            var instance = Restaurants.Instance()
            instance.environment = .sandbox
            let sandbox = try await restaurants.register(instance)
            let production = try await restaurants.register(Restaurants.Instance())
            for environment in [nil, APNsEnvironment.sandbox] {
                let trace = try #require(
                    try await restaurants.accept(restaurants.submission(environment: environment)).trace)
                #expect(trace.decisions == [sandbox: "queued", production: "wrong_environment"])
                #expect(trace.notification.audience.environment == .sandbox)
            }
            let alone = try #require(
                try await restaurants.accept(restaurants.submission(to: .instance(production))).trace)
            #expect(alone.decisions == [production: "wrong_environment"])
            let refused = try await restaurants.accept(restaurants.submission(environment: .production))
            #expect(refused == .refused(.sandboxOnly))

            for (environment, id) in [(APNsEnvironment.production, "YQ=="), (.sandbox, "Yg==")] {
                try await PostgresChannelStore(restaurants.pool).add(
                    BroadcastChannel(
                        id: try #require(ChannelID(id)), clip: try BundleID(Restaurants.clip),
                        environment: environment, storesLastMessage: false, createdAt: restaurants.now),
                    of: restaurants.tenant)
            }
            for (id, expected) in [("YQ==", Optional(IntakeRefusal.unknownChannel)), ("Yg==", nil)] {
                let outcome = try await restaurants.accept(
                    restaurants.submission(
                        to: .channel(id), aps: ["timestamp": 1, "event": "update", "content-state": [:]],
                        headers: ["pushType": "liveactivity"]))
                if let expected {
                    #expect(outcome == .refused(expected))
                } else {
                    #expect(outcome.trace != nil)
                }
            }
        }
    }

    /// Neither the server nor an operator can turn a test tenant into another.
    @Test func noRoleMayChangeWhetherTenantIsTest() async throws {
        try await Stores.withTenant { stores, tenant in
            for role in [DatabaseRole.app, .manager, .admin, .router] {
                let error = await #expect(throws: PostgreSQLError.self) {
                    try await stores.database.withSuperuser { pool in
                        try await pool.withTenantTransaction(tenant, as: role) { transaction in
                            _ = try await transaction.execute("UPDATE doorstep.tenants SET is_test = true")
                        }
                    }
                }
                #expect(error?.serverError?.sqlState == "42501")
            }
        }
    }

    @Test func anotherTenantsInstanceIsUnknown() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let other = try await restaurants.stores.createTenant("other")
            try await Restaurants.open(of: other, restaurants.stores)
            let id = try await restaurants.register(Restaurants.Instance(), of: other)
            let own = try await restaurants.register(Restaurants.Instance())
            let refused = try await restaurants.accept(try restaurants.submission(to: .instance(id)))
            #expect(refused == .refused(.unknownInstance))
            let trace = try await restaurants.send()
            #expect(trace.decisions == [own: "queued"])
            #expect(
                try await restaurants.notifications.trace(
                    trace.notification.id, of: other, after: nil, limit: 10) == nil)
        }
    }

    @Test func confirmedOnlyReachesInstancesConfirmedWithin8Hours() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let confirmed = try await restaurants.register(Restaurants.Instance(confirmed: 60))
            let longAgo = try await restaurants.register(Restaurants.Instance(confirmed: 9 * 3_600))
            let never = try await restaurants.register(Restaurants.Instance())
            let outcome = try await restaurants.accept(try restaurants.submission(confirmedOnly: true))
            #expect(
                try #require(outcome.trace).decisions
                    == [confirmed: "queued", longAgo: "not_confirmed", never: "not_confirmed"])
        }
    }

    /// The database search finds the same URLs as ``URLPrefix/matches(_:)``.
    @Test func prefixFindsInstancesLaunchedByMatchingURLs() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let base = "https://example.com/restaurants/a"
            let urls = [
                base, base + "/order", base + "/order/1", base + "/order/12", base + "/order/1/x",
                base + "/order?id=1", base + "/order?id=12", base + "/order?x=1&id=1", base + "/order/1?id=1",
                base + "x/order", base + "/Order/1", base + "/order-1", base + "/order%2F1", base + "/order0",
                base + "/order/1?q=?id=1", "https://example.com/restaurants/a/order?id=1&id=2",
            ]
            var instances: [InstanceID: InvocationURL] = [:]
            for url in urls {
                let url = try InvocationURL(url)
                let id = try await restaurants.register(
                    Restaurants.Instance(url: url.canonicalWithoutFragment))
                instances[id] = url
            }
            let prefixes =
                urls + ["https://example.com", "https://example.com/restaurants", "https://example.co"]
            for text in prefixes {
                let prefix = try URLPrefix(text)
                let trace = try await restaurants.send(to: .urlPrefix(prefix))
                let expected = Set(instances.filter { prefix.matches($0.value) }.keys)
                #expect(Set(trace.decisions.keys) == expected, "\(text)")
            }
        }
    }

    @Test func liveActivitiesUseTheirOwnTokens() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let id = try await restaurants.register(Restaurants.Instance(permission: .denied))
            var activity = Restaurants.Instance(id: id, url: Restaurants.a + "/x", place: .activity("A1"))
            activity.token = .random()
            try await restaurants.register(activity)
            let update: JSONObject = ["timestamp": 1, "event": "update", "content-state": ["minutes": 5]]
            func send(_ audience: Audience, _ aps: JSONObject) async throws -> NotificationIntake.Outcome {
                try await restaurants.accept(
                    try restaurants.submission(to: audience, aps: aps, headers: ["pushType": "liveactivity"]))
            }
            #expect(try await send(.activity(id, "A1"), update).trace?.decisions == [id: "queued"])
            #expect(try await send(.activity(id, "A2"), update).trace?.decisions == [id: "no_token"])
            #expect(try await send(.business, update).refusal == "wrong_audience")
            let start: JSONObject = [
                "timestamp": 1, "event": "start", "content-state": ["minutes": 5], "attributes-type": "Order",
                "attributes": [:], "alert": ["title": "T", "body": "B"],
            ]
            #expect(try await send(.business, start).trace?.decisions == [id: "no_token"])
            #expect(try await send(.activity(id, "A1"), start).refusal == "wrong_audience")
            #expect(try await send(.channel("C"), update).refusal == "unknown_channel")
        }
    }

    @Test func deliveryWarnsIfItMayOverwriteAnotherBusiness() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let id = try await restaurants.register(Restaurants.Instance())
            try await restaurants.register(
                Restaurants.Instance(id: id, url: Restaurants.b, location: "b", token: nil))
            #expect(try await restaurants.send().deliveries.map(\.warnings) == [[]])
            #expect(try await restaurants.send().deliveries.map(\.warnings) == [[]])
            let other = try await restaurants.send(Restaurants.b)
            #expect(other.deliveries.map(\.warnings) == [["may_overwrite"]])
            #expect(try await restaurants.trace(other).deliveries.map(\.warnings) == [["may_overwrite"]])
        }
    }

    @Test(arguments: ["none", "business", "url"]) func tenantPolicyDeterminesCollapseIDs(
        policy: String
    ) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.stores.administer(
                restaurants.tenant, "UPDATE doorstep.tenants SET collapse_policy = '\(policy)'")
            func collapseID(_ url: String, _ headers: JSONObject = [:]) async throws -> String? {
                try await restaurants.send(url, headers: headers).notification.headers.collapseID
            }
            let a = try await collapseID(Restaurants.a)
            #expect((a == nil) == (policy == "none"))
            #expect((a?.utf8.count ?? 1) <= 64)
            #expect(try await collapseID(Restaurants.a) == a)
            if policy != "none" {
                #expect(try await collapseID(Restaurants.b) != a)
                #expect(try await collapseID(Restaurants.a + "/order/1") != a || policy == "business")
            }
            #expect(try await collapseID(Restaurants.a, ["collapseID": "own"]) == "own")
        }
    }

    // MARK: Days

    @Test func missingDayPartitionIsCreated() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance())
            try await restaurants.stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    let days = try await connection.execute(
                        """
                        SELECT inhrelid::regclass::text FROM pg_inherits
                        WHERE inhparent IN ('doorstep.notifications'::regclass, 'doorstep.deliveries'::regclass)
                        """
                    ).map { try $0.decode(at: 0, as: String.self) }
                    for day in days { try await connection.execute("DROP TABLE \(unsafeSQL: day)") }
                }
            }
            let trace = try await restaurants.send()
            #expect(try await restaurants.trace(trace).deliveries.count == 1)
        }
    }

    // MARK: Idempotency

    @Test func hundredRequestsWithOneKeyCreateOneNotification() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(50)
            let key = IdempotencyKey("order-1", for: ["request": 7], of: restaurants.tenant)
            let outcomes = try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { try await restaurants.accept(try restaurants.submission(key: key)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let traces = outcomes.compactMap(\.trace)
            #expect(traces.count == 100)
            #expect(Set(traces).count == 1)
            #expect(outcomes.count(where: { !$0.isRepeated }) == 1)
            #expect(try await restaurants.stores.count("SELECT count(*) FROM doorstep.notifications") == 1)
            #expect(try await restaurants.stores.count("SELECT count(*) FROM doorstep.deliveries") == 50)
        }
    }

    @Test func idempotencyKeyAppliesToOneRequestPerTenantAndDay() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let id = try await restaurants.register(Restaurants.Instance())
            let key = IdempotencyKey("k", for: ["request": 7], of: restaurants.tenant)
            let first = try await restaurants.accept(try restaurants.submission(key: key))
            // Deliveries that were sent meanwhile do not change the response.
            for delivery in try await restaurants.outbox.claim(10, of: restaurants.tenant, for: .seconds(60))
            {
                try await restaurants.outbox.complete(
                    [.answered(delivery, APNsResponse(status: 200))], of: restaurants.tenant)
            }
            let again = try await restaurants.accept(try restaurants.submission(key: key))
            #expect(again.isRepeated && again.trace == first.trace)
            #expect(again.trace?.decisions == [id: "queued"])
            let changed = IdempotencyKey("k", for: ["request": 8], of: restaurants.tenant)
            #expect(
                try await restaurants.accept(try restaurants.submission(key: changed)).refusal
                    == "idempotency_key_reused")
            // The request would be refused now, but it was accepted the first time.
            #expect(
                try await restaurants.accept(
                    try restaurants.submission("https://example.org/unknown", key: key)
                ).trace == first.trace)
            let other = try await restaurants.stores.createTenant("other")
            try await Restaurants.open(of: other, restaurants.stores)
            let theirs = try await restaurants.intake.accept(
                restaurants.submission(key: key), in: try await restaurants.stores.loadTable().of(other),
                at: restaurants.now)
            #expect(!theirs.isRepeated && theirs.trace != nil)
            try await restaurants.stores.database.withSuperuser { pool in
                try await pool.withConnection {
                    try await $0.execute(
                        "UPDATE doorstep.idempotency_keys SET created_at = now() - interval '25 hours'")
                }
            }
            let later = try await restaurants.accept(try restaurants.submission(key: key))
            #expect(!later.isRepeated && later.trace?.notification.id != first.trace?.notification.id)
        }
    }

    @Test func tracePagesContainEachDeliveryOnce() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(25)
            let trace = try await restaurants.send()
            var ids: [DeliveryID] = []
            var last: DeliveryID?
            repeat {
                let page = try #require(
                    try await restaurants.notifications.trace(
                        trace.notification.id, of: restaurants.tenant, after: last, limit: 10))
                ids += page.deliveries.map(\.id)
                last = page.hasMore ? page.deliveries.last?.id : nil
            } while last != nil
            #expect(ids == trace.deliveries.map(\.id))
            #expect(Set(ids).count == 25)
        }
    }
}

extension Completion {
    /// The completion of a delivery that follows from a response of APNs.
    static func answered(_ delivery: ClaimedDelivery, _ response: APNsResponse) -> Completion {
        Completion(
            delivery: delivery,
            verdict: DeliveryVerdict(on: .answered(response), of: delivery, at: Date(), random: 0),
            response: DeliveryResponse(
                attempt: delivery.attempt, at: Date(timeIntervalSince1970: 1_772_368_200),
                result: .answered(
                    status: response.status, reason: response.reason?.rawValue, uniqueID: response.uniqueID)))
    }
}

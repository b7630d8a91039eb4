import Administration
import Confirmations
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import PostgreSQL
import Receipts
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Keys that are restricted to locations: how they are stored, which rows they can read
/// and write, and which instances they can notify.
@Suite struct RestrictedKeyTests {
    private static func locations(_ names: String...) throws -> Set<LocationIdentifier> {
        Set(try names.map { try LocationIdentifier($0) })
    }

    // MARK: Keys

    @Test func keyAndSuccessorKeepTheirLocations() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            try await stores.importLocations([.sample("a"), .sample("b, \u{e9}")], of: tenant)
            let locations = try Self.locations("a", "b, \u{e9}")
            let key = KeyTests.key(number: 1)
            let record = try await store.createKey(
                key, scopes: nil, locations: locations, expiresAt: nil, of: tenant)
            #expect(record.locations == locations)
            #expect(try await store.key(record.id, of: tenant).locations == locations)
            let next = try await store.rotateKey(
                record.id, by: { kind, _ in KeyTests.key(kind, number: 2) }, oldExpiresAt: .distantFuture,
                of: tenant)
            #expect(next.record.locations == locations)
            var table = try await stores.loadTable()
            #expect(table.holder(of: key)?.locations == locations)
            #expect(table.holder(of: next.key)?.locations == locations)
            // After a location is deleted, the key still names it, and finds no location there.
            try await stores.administer(tenant, "DELETE FROM doorstep.locations WHERE identifier = 'a'")
            #expect(try await store.key(record.id, of: tenant).locations == locations)
            table = try await stores.loadTable()
            let restricted = table.of(tenant).restricted(to: table.holder(of: key)?.locations)
            #expect(try restricted.visibleLocations == Self.locations("b, \u{e9}"))
        }
    }

    @Test func keyMustBeRestrictedToLocationsOfItsTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.importLocations([.sample("c")], of: other)
            for (names, unknown) in [(["a", "b"], "b"), (["c"], "c")] {
                let locations = Set(try names.map { try LocationIdentifier($0) })
                let error = AdministrationError.unknownLocation(try LocationIdentifier(unknown))
                await #expect(throws: error) {
                    try await stores.administration.createKey(
                        KeyTests.key(number: 1), scopes: nil, locations: locations, expiresAt: nil, of: tenant
                    )
                }
            }
            #expect(try await stores.administration.keys(of: tenant).isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(30))) func managingKeyCreatesRestrictedKeys() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            let maker = try await stores.administration.createKey(
                KeyTests.key(number: 1), scopes: .all, expiresAt: nil, of: tenant)
            try await stores.database.withPool(as: .manager) { pool in
                let followed = FollowedTable(stores.routerPool)
                try await followed.running {
                    let keys = ManagedCatalogue(pool, followedBy: followed.feed).keys
                    let key = KeyTests.key(number: 2)
                    let made = try await keys.create(
                        key, named: nil, scopes: nil, locations: try Self.locations("a"), expiresAt: nil,
                        by: .key(maker.id),
                        of: tenant)
                    #expect(try made.locations == Self.locations("a"))
                    #expect(try await keys.key(made.id, of: tenant) == made)
                    #expect(followed.live.current?.table.holder(of: key)?.locations == made.locations)
                    let gone = try LocationIdentifier("gone")
                    await #expect(throws: AdministrationError.unknownLocation(gone)) {
                        try await keys.create(
                            KeyTests.key(number: 3), named: nil, scopes: nil, locations: [gone],
                            expiresAt: nil,
                            by: .key(maker.id), of: tenant)
                    }
                    // A restricted key cannot manage the catalogue, and cannot create a key with more locations.
                    let a = try Self.locations("a")
                    #expect(try !made.covers(Scopes(.lookup), at: Self.locations("a", "b"), until: nil))
                    #expect(!made.covers(Scopes(.lookup), at: nil, until: nil))
                    #expect(made.covers(Scopes(.lookup), at: a, until: nil))
                }
            }
        }
    }

    // MARK: Reads and writes

    @Test func confirmationsAreLimitedToTheLocations() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.confirmations
                        (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                    SELECT \(tenant.uuid), gen_random_uuid(), name, 'inRegion', 'nfc', date_trunc('minute', now())
                    FROM unnest(ARRAY['a', 'a', 'b', 'c', NULL]) AS name
                    """)
            }
            try await stores.database.withPool(as: .manager) { pool in
                let history = PostgresConfirmationHistory(managing: pool)
                for (names, location, count) in [
                    (["a"], nil, 2), (["a", "b"], nil, 3), (["a", "b"], "b", 1), (["a"], "b", 0),
                    ([], nil, 0),
                ] as [([String], String?, Int)] {
                    let selection = ConfirmationSelection(
                        location: try location.map { try LocationIdentifier($0) },
                        within: Set(try names.map { try LocationIdentifier($0) }))
                    let found = try await history.latest(selection, of: tenant, limit: 10)
                    #expect(found.count == count, "\(names)")
                    let counts = try await history.counts(selection, of: tenant)
                    #expect(counts.first?.counts[.inRegion] ?? 0 == count, "\(names)")
                }
                #expect(
                    try await history.latest(ConfirmationSelection(), of: tenant, limit: 10).count == 5)
            }
        }
    }

    @Test func instanceLaunchedElsewhereIsUnknown() async throws {
        try await RegisteredInstances.with { instances in
            let elsewhere = InstanceID(UUID())
            try await instances.register(RegisteredInstances.registration(elsewhere, location: "b"))
            let kept = try #require(try await instances.store.instance(elsewhere, of: instances.tenant))
            #expect(try kept.seen(at: Self.locations("a")) == nil)
            #expect(try kept.seen(at: Self.locations("a", "b"))?.launches == kept.launches)
        }
    }

    @Test func instancesAreListedByLaunchesAtTheLocations() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let both = try await restaurants.register(
                Restaurants.Instance(launched: 30, url: Restaurants.b, location: "b", token: nil))
            try await restaurants.register(Restaurants.Instance(id: both, launched: 120))
            let there = try await restaurants.register(
                Restaurants.Instance(url: Restaurants.b, location: "b"))
            try await restaurants.stores.database.withPool(as: .manager) { pool in
                let history = PostgresNotificationHistory(managing: pool)
                func list(
                    _ selection: InstanceSelection, within names: String...
                ) async throws -> [InstanceSummary] {
                    var selection = selection
                    selection.locations = Set(try names.map { try LocationIdentifier($0) })
                    return try await history.instances(
                        selection, of: restaurants.tenant, after: nil, limit: 10)
                }
                let all = InstanceSelection()
                let here = try await list(all, within: "a")
                #expect(here.map(\.id) == [both] && here.first?.launchCount == 1)
                let ago = here.first.map { restaurants.now.timeIntervalSince($0.launchedAt).rounded() }
                #expect(ago == 120)
                let seenByB = try await list(all, within: "b").map(\.id)
                #expect(Set(seenByB) == [both, there])
                let counts = try await list(all, within: "a", "b").map(\.launchCount)
                #expect(counts.sorted() == [1, 2])
                #expect(try await list(all, within: "c").isEmpty)
                #expect(try await list(all).isEmpty)
                // Neither the name of another location nor a URL of another location finds instances there.
                let b = try InstanceSelection(location: LocationIdentifier("b"))
                #expect(try await list(b, within: "a").isEmpty)
                #expect(try await list(b, within: "a", "b").count == 2)
                let url = try InstanceSelection(url: InvocationURL(Restaurants.b))
                #expect(try await list(url, within: "a").isEmpty)
                #expect(try await list(url, within: "b").count == 2)
            }
        }
    }

    @Test func onlyNotificationsOfRestrictedKeysThereAreListed() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance())
            try await restaurants.send()
            let whole = restaurants.table.of(restaurants.tenant)
            let a = whole.restricted(to: try Self.locations("a"))
            let sent = try await restaurants.intake.accept(
                try restaurants.submission(), in: a, at: restaurants.now)
            let id = try #require(sent.trace).notification.id
            try await restaurants.stores.database.withPool(as: .manager) { pool in
                let history = PostgresNotificationHistory(managing: pool)
                for (names, ids) in [
                    (["a"], [id]), (["a", "b"], [id]), (["b"], []), ([], []),
                ] as [([String], [NotificationID])] {
                    let selection = NotificationSelection(
                        within: Set(try names.map { try LocationIdentifier($0) }))
                    let found = try await history.notifications(
                        selection, of: restaurants.tenant, before: nil, limit: 10)
                    #expect(found.map(\.id) == ids, "\(names)")
                }
                let all = try await history.notifications(
                    NotificationSelection(), of: restaurants.tenant, before: nil, limit: 10)
                #expect(all.count == 2)
            }
        }
    }

    // MARK: Notifications

    @Test func audienceExcludesInstancesLaunchedElsewhere() async throws {
        try await Restaurants.withRestaurants { restaurants in
            let here = try await restaurants.register(Restaurants.Instance())
            // Launched at another location later.
            let both = try await restaurants.register(
                Restaurants.Instance(launched: 30, url: Restaurants.b, location: "b", token: nil))
            try await restaurants.register(Restaurants.Instance(id: both, launched: 120))
            let there = try await restaurants.register(
                Restaurants.Instance(url: Restaurants.b, location: "b"))
            // A notification to a location reaches a full app wherever it was launched. A restricted key does not see these
            // instances.
            let app = try await restaurants.register(
                Restaurants.Instance(
                    app: .full, permission: .authorized, url: Restaurants.b, location: "b"))
            let whole = restaurants.table.of(restaurants.tenant)
            let a = whole.restricted(to: try Self.locations("a"))
            func send(
                _ url: String = Restaurants.a, to audience: Audience
            ) async throws -> NotificationIntake.Outcome {
                try await restaurants.intake.accept(
                    try restaurants.submission(url, to: audience), in: a, at: restaurants.now)
            }
            let prefix = Audience.urlPrefix(try URLPrefix("https://example.com/restaurants"))
            for audience in [Audience.business, prefix] {
                let trace = try #require(try await send(to: audience).trace)
                #expect(trace.decisions == [here: "queued", both: "queued"], "\(audience)")
                #expect(trace.counts.map(\.count) == [2], "\(audience)")
                #expect(trace.deliveries.allSatisfy { $0.target == nil && $0.warnings.isEmpty })
                // The expiration follows from the launch at this location, not from a later launch elsewhere.
                let ends = trace.deliveries.compactMap { delivery in
                    delivery.expiresAt.map { Int($0.timeIntervalSince(restaurants.now).rounded()) }
                }
                #expect(ends.sorted() == [8 * 3_600 - 120, 8 * 3_600 - 60])
                let stored = try await restaurants.trace(trace)
                #expect(stored.notification.audience.isOfLocation)
                for (locations, isSeen) in [(["a"], true), (["a", "b"], true), (["b"], false), ([], false)] {
                    let seen = try await restaurants.intake.trace(
                        trace.notification.id, of: restaurants.tenant,
                        within: Set(try locations.map { try LocationIdentifier($0) }), limit: 10)
                    #expect((seen != nil) == isSeen, "\(locations)")
                }
            }
            #expect(try await send(to: .instance(here)).trace?.decisions == [here: "queued"])
            for id in [there, app, InstanceID(UUID())] {
                #expect(try await send(to: .instance(id)).refusal == "unknown_instance")
            }
            #expect(try await send(to: .channel("c")).refusal == "wrong_audience")
            // The activity may belong to any location at which the instance was launched.
            let update = try restaurants.submission(
                to: .activity(both, "order"),
                aps: ["timestamp": 1, "event": "update", "content-state": ["minutes": 5]],
                headers: ["pushType": "liveactivity"])
            let refused = try await restaurants.intake.accept(update, in: a, at: restaurants.now)
            #expect(refused.refusal == "wrong_audience")
            #expect(try await restaurants.accept(update).refusal == nil)
            for url in [Restaurants.b, "https://example.com/elsewhere"] {
                #expect(try await send(url, to: .business).refusal == "does_not_match", "\(url)")
            }
            // A notification of an unrestricted key may be about other locations, so a restricted key does not see it.
            let trace = try await restaurants.send()
            let seen = try await restaurants.intake.trace(
                trace.notification.id, of: restaurants.tenant, within: try Self.locations("a"), limit: 10)
            #expect(seen == nil)
        }
    }

    @Test func laterAudiencePartsExcludeInstancesLaunchedElsewhere() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.registerMany(30)
            try await restaurants.registerMany(30, location: "b")
            var size = AudiencePartSize()
            (size.reachable, size.launches, size.skipped) = (10, 10, 5)
            let restaurants = restaurants.takingIn(size)
            let a = restaurants.table.of(restaurants.tenant).restricted(to: try Self.locations("a"))
            let prefix = Audience.urlPrefix(try URLPrefix("https://example.com/restaurants"))
            let outcome = try await restaurants.intake.accept(
                try restaurants.submission(to: prefix), in: a, at: restaurants.now)
            let trace = try #require(outcome.trace)
            try await restaurants.continueAudiences()
            let whole = try await restaurants.trace(trace)
            #expect(whole.counts.map(\.count) == [30] && whole.isComplete)
        }
    }

    /// The successor of a key has the same restriction. A key for other locations is another sender.
    @Test func idempotencyIsSharedByKeysOfTheSameLocations() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance())
            func makeKeys() throws -> [IdempotencyKey] {
                try [nil, Self.locations("a"), Self.locations("a", "b"), Self.locations("b")].map {
                    locations in
                    try #require(
                        IdempotencyKey(
                            String(repeating: "k", count: 255), for: ["request": 7], of: restaurants.tenant,
                            within: locations))
                }
            }
            let keys = try makeKeys()
            var traces: [NotificationTrace] = []
            for key in keys {
                let first = try await restaurants.accept(try restaurants.submission(key: key))
                #expect(!first.isRepeated)
                traces.append(try #require(first.trace))
            }
            #expect(Set(traces.map(\.notification.id)).count == 4)
            for (key, trace) in zip(try makeKeys(), traces) {
                let again = try await restaurants.accept(try restaurants.submission(key: key))
                #expect(again.isRepeated && again.trace == trace)
            }
        }
    }

    @Test func repeatedRequestIsReplayedAfterLocationDeletion() async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.register(Restaurants.Instance())
            let locations = try Self.locations("a")
            let key = IdempotencyKey("k", for: ["request": 7], of: restaurants.tenant, within: locations)
            func send(in table: LookupIndex) async throws -> NotificationIntake.Outcome {
                try await restaurants.intake.accept(
                    try restaurants.submission(key: key),
                    in: table.of(restaurants.tenant).restricted(to: locations), at: restaurants.now)
            }
            let first = try #require(try await send(in: restaurants.table).trace)
            try await restaurants.stores.administer(
                restaurants.tenant,
                "DELETE FROM doorstep.experiences; DELETE FROM doorstep.locations WHERE identifier = 'a'")
            let table = try await restaurants.stores.loadTable()
            let a = try LocationIdentifier("a")
            #expect(table.of(restaurants.tenant).location(a) == nil)
            let again = try await send(in: table)
            #expect(again.isRepeated && again.trace == first)
        }
    }
}

import APNsPayload
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// The lists that keys can request, with a login that can only read them.
@Suite struct NotificationHistoryTests {
    private static func withHistory(
        _ body: (Restaurants, PostgresNotificationHistory) async throws -> Void
    ) async throws {
        try await Restaurants.withRestaurants { restaurants in
            try await restaurants.stores.database.withPool(as: .manager) { pool in
                try await body(restaurants, PostgresNotificationHistory(managing: pool))
            }
        }
    }

    @Test func notificationsAreListedNewestFirst() async throws {
        try await Self.withHistory { restaurants, history in
            try await restaurants.register(Restaurants.Instance())
            var sent: [RecordedNotification] = []
            for _ in 0..<3 { sent.append(try await restaurants.send().notification) }
            let expected = sent.sorted {
                ($0.createdAt, $0.id.description) > ($1.createdAt, $1.id.description)
            }.map(\.id)
            func list(
                _ selection: NotificationSelection = NotificationSelection(),
                before last: NotificationID? = nil,
                limit: Int = 10
            ) async throws -> [RecordedNotification] {
                try await history.notifications(
                    selection, of: restaurants.tenant, before: last, limit: limit)
            }
            #expect(try await list().map(\.id) == expected)
            #expect(Set(try await list().map(\.url)) == [Restaurants.a])
            var seen: [NotificationID] = []
            while let next = try await list(before: seen.last, limit: 1).first { seen.append(next.id) }
            #expect(seen == expected)
            #expect(try await list(NotificationSelection(location: LocationIdentifier("a"))).count == 3)
            #expect(try await list(NotificationSelection(location: LocationIdentifier("b"))).isEmpty)
            #expect(try await list(NotificationSelection(clip: BundleID(Restaurants.clip))).count == 3)
            #expect(try await list(NotificationSelection(clip: BundleID("com.example.Other.Clip"))).isEmpty)
            #expect(try await list(before: NotificationID(UUID())).isEmpty)
            let other = try await restaurants.stores.createTenant("other")
            #expect(
                try await history.notifications(
                    NotificationSelection(), of: other, before: nil, limit: 10
                ).isEmpty)
        }
    }

    /// A list reads only the rows that it returns, in a table of any size.
    @Test func listingReadsOnlyIndexes() async throws {
        try await Stores.withTenant { stores, tenant in
            let others = try await stores.createTenant("others")
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    for (tenant, count) in [(tenant, 20_000), (others, 20_000)] {
                        try await transaction.execute(
                            script: """
                                SET LOCAL session_replication_role = replica;
                                INSERT INTO doorstep.notifications
                                    (tenant_id, created_at, notification_id, bundle_id, url, experience_url,
                                        location_identifier, audience, push_type, priority, payload)
                                SELECT '\(tenant)', 'epoch'::timestamptz + ms * interval '1 ms',
                                    (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
                                    'com.example.MyApp.Clip', 'https://example.com/a', 'https://example.com/a',
                                    'l' || n % 100, '{"business": true, "ofLocation": true}', 'alert', 10, '{}'
                                FROM (
                                    SELECT n, floor(extract(epoch FROM now()) * 1000)::bigint - n AS ms
                                    FROM generate_series(1, \(count)) n) AS m;
                                """)
                    }
                    try await transaction.execute(script: "ANALYZE doorstep.notifications")
                }
            }
            let day = try await stores.database.withSuperuser { pool in
                try await pool.withConnection {
                    try await $0.execute(
                        "SELECT 'notifications_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')"
                    ).one().decode(at: 0, as: String.self)
                }
            }
            let restricted = Set(try (0..<3).map { try LocationIdentifier("l\($0)") })
            let plans = Mutex<[String]>([])
            try await stores.database.explainEverything(planCacheMode: "auto")
            try await stores.database.withPool(
                as: .manager, { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                let history = PostgresNotificationHistory(managing: pool)
                for (selection, index) in [
                    (NotificationSelection(), "created_at"),
                    (NotificationSelection(location: try LocationIdentifier("l7")), "location_identifier"),
                    (NotificationSelection(within: restricted), "location_identifier"),
                ] {
                    plans.withLock { $0 = [] }
                    let first = try await history.notifications(
                        selection, of: tenant, before: nil, limit: 50)
                    let second = try await history.notifications(
                        selection, of: tenant, before: first.last?.id, limit: 50)
                    #expect(first.count == 50 && second.count == 50)
                    #expect(Set(first.map(\.id)).isDisjoint(with: second.map(\.id)))
                    let all = first + second
                    #expect(all.map(\.createdAt) == all.map(\.createdAt).sorted(by: >))
                    // For empty days, the planner may choose to read the table, too.
                    let lines = plans.withLock({ $0 }).flatMap { $0.split(separator: "\n") }
                        .filter { $0.contains(" on \(day) ") }
                    #expect(lines.count == 2, "\(lines)")
                    #expect(
                        lines.allSatisfy { $0.contains("Index Scan Backward") && $0.contains(index) },
                        "\(lines)")
                }
            }
        }
    }

    @Test func instancesAreListedInOrderOfIDs() async throws {
        try await Self.withHistory { restaurants, history in
            var ids: [InstanceID] = []
            for location in ["a", "a", "b"] {
                ids.append(
                    try await restaurants.register(
                        Restaurants.Instance(
                            url: location == "a" ? Restaurants.a : Restaurants.b, location: location)))
            }
            func list(
                _ selection: InstanceSelection = InstanceSelection(), after last: InstanceID? = nil,
                limit: Int = 10
            ) async throws -> [InstanceID] {
                try await history.instances(selection, of: restaurants.tenant, after: last, limit: limit).map(
                    \.id)
            }
            let expected = ids.sorted { $0.description < $1.description }
            #expect(try await list() == expected)
            var seen: [InstanceID] = []
            while let next = try await list(after: seen.last, limit: 1).first {
                seen.append(next)
                // The instance is launched again meanwhile. Its position in the list stays the same.
                let again = try #require(expected.last)
                try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) {
                    transaction in
                    _ = try await transaction.execute(
                        """
                        UPDATE doorstep.instances SET launched_at = now()
                        WHERE tenant_id = \(restaurants.tenant.uuid) AND instance_id = \(again.uuid)
                        """)
                }
            }
            #expect(seen == expected)
            #expect(try await list(InstanceSelection(location: LocationIdentifier("b"))) == [ids[2]])
            #expect(try await list(InstanceSelection(clip: BundleID("com.example.Other.Clip"))).isEmpty)
            let found = try await history.instances(
                InstanceSelection(location: LocationIdentifier("b")), of: restaurants.tenant, after: nil,
                limit: 1
            ).first
            #expect(found?.hasToken == true && found?.launchCount == 1)
        }
    }

    @Test func latestInstancesAreCompleteAcrossPages() async throws {
        try await Self.withHistory { restaurants, history in
            for _ in 0..<4 {
                _ = try await restaurants.register(
                    Restaurants.Instance(url: Restaurants.a, location: "a"))
            }
            // Two launches at the same time, and one a microsecond earlier.
            try await restaurants.pool.withTenantTransaction(restaurants.tenant, as: .app) { transaction in
                _ = try await transaction.execute(
                    """
                    UPDATE doorstep.instances AS i
                    SET launched_at = timestamptz '2026-03-01T12:30:00.123457Z' - m.n / 2 * interval '1 microsecond'
                    FROM (SELECT instance_id, row_number() OVER (ORDER BY instance_id DESC) AS n
                        FROM doorstep.instances WHERE tenant_id = \(restaurants.tenant.uuid)) AS m
                    WHERE i.tenant_id = \(restaurants.tenant.uuid) AND i.instance_id = m.instance_id
                    """)
            }
            func page(after last: LaunchLocation?, limit: Int) async throws -> [InstanceSummary] {
                try await history.latestInstances(
                    InstanceSelection(), of: restaurants.tenant, after: last, limit: limit)
            }
            let all = try await page(after: nil, limit: 10)
            #expect(all.count == 4 && all.map(\.launchedAt) == all.map(\.launchedAt).sorted(by: >))
            var seen: [InstanceSummary] = []
            while let next = try await page(after: seen.last?.launchPlace, limit: 1).first {
                seen.append(next)
            }
            #expect(seen == all)
        }
    }

    @Test func channelsAreListedByClipEnvironmentAndID() async throws {
        try await Self.withHistory { restaurants, history in
            let store = PostgresChannelStore(restaurants.stores.appPool)
            let channels = try [
                ("Yg==", APNsEnvironment.sandbox), ("Yw==", .production), ("YQ==", .production),
            ]
            .map { id, environment in
                BroadcastChannel(
                    id: try #require(ChannelID(id)), clip: try BundleID(Restaurants.clip),
                    environment: environment, storesLastMessage: true, createdAt: RegisteredInstances.now)
            }
            for channel in channels { try await store.add(channel, of: restaurants.tenant) }
            func list(
                _ selection: ChannelSelection = ChannelSelection(), after last: ChannelCursor? = nil,
                limit: Int = 10
            ) async throws -> [BroadcastChannel] {
                try await history.channels(selection, of: restaurants.tenant, after: last, limit: limit)
            }
            let expected = [channels[2], channels[1], channels[0]]
            #expect(try await list() == expected)
            var seen: [BroadcastChannel] = []
            while let next = try await list(after: seen.last?.place, limit: 1).first { seen.append(next) }
            #expect(seen == expected)
            #expect(try await list(ChannelSelection(environment: .sandbox)) == [channels[0]])
            #expect(try await list(ChannelSelection(clip: BundleID("com.example.Other.Clip"))).isEmpty)
        }
    }

    @Test func closedPoolIsReportedUnavailable() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.database.withPool(as: .manager) { pool in
                await pool.close()
                let refusal = await #expect(throws: StoreUnavailable.self) {
                    try await PostgresNotificationHistory(managing: pool).channels(
                        ChannelSelection(), of: tenant, after: nil, limit: 1)
                }
                #expect(refusal?.cause == "pool_closed")
            }
        }
    }
}

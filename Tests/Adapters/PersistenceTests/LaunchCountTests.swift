import Confirmations
import Foundation
import Invocation
import Lookups
import Persistence
import PostgreSQL
import PropertyTesting
import Synchronization
import Tenancy
import TestSupport
import Testing

/// Lookups and launch reports are counted by day, location, experience and source.
@Suite struct LaunchCountTests {
    private static let experiences = ["https://example.com/a", "https://example.com/b"]

    private static func launch(
        _ location: String?, _ experience: String = experiences[0], _ source: InvocationSource = .nfc
    ) throws -> CountedLaunch {
        CountedLaunch(
            location: try location.map { try LocationIdentifier($0) }, experience: experience, source: source)
    }

    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    private static func statistics(
        _ stores: Stores, _ tenant: TenantID, by grouping: StatisticsGrouping = .day,
        _ selection: ConfirmationSelection = ConfirmationSelection(),
        _ order: StatisticsOrder = .group(after: nil)
    ) async throws -> [Statistics] {
        try await PostgresConfirmationHistory(stores.adminPool).statistics(
            selection, by: grouping, of: tenant, order, limit: 1_000)
    }

    /// Two servers count for two tenants and two days. Counts of a deleted tenant are dropped and do not block other counts.
    @Test func countsOfTwoServersAddUpByDay() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let queues = (0..<2).map { _ in
                LaunchCountQueue(stores.appPool) { error in
                    // The tenant without a row in the database.
                    #expect((error as? PostgreSQLError)?.sqlState == "23503")
                }
            }
            let days = [try Self.date("2026-11-18T23:59:59Z"), try Self.date("2026-11-19T00:00:00Z")]
            for queue in queues {
                for _ in 0..<3 { queue.count(.lookup, try Self.launch("a"), of: tenant, at: days[0]) }
                queue.count(.report, try Self.launch("a"), of: tenant, at: days[0])
                queue.count(.lookup, try Self.launch("b"), of: tenant, at: days[1])
                queue.count(.lookup, try Self.launch(nil), of: other, at: days[1])
                queue.count(.lookup, try Self.launch("a"), of: TenantID(UUID()), at: days[1])
            }
            await withTaskGroup { group in
                for queue in queues { group.addTask { await queue.flush() } }
            }
            // No counts are pending.
            for queue in queues { await queue.flush() }
            #expect(
                try await Self.statistics(stores, tenant) == [
                    Statistics(
                        group: "2026-11-18", lookups: 6, confirmations: 0, inRegion: 0, launchReports: 2,
                        delivered: 0),
                    Statistics(
                        group: "2026-11-19", lookups: 2, confirmations: 0, inRegion: 0, delivered: 0),
                ])
            #expect(
                try await Self.statistics(stores, other, by: .location) == [
                    Statistics(group: "", lookups: 2, confirmations: 0, inRegion: 0, delivered: 0)
                ])
        }
    }

    /// The queue writes counts later if the database is unavailable, and writes them once.
    @Test func unwrittenCountsAreWrittenLaterOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            let failures = Mutex(0)
            let queue = LaunchCountQueue(stores.appPool) { _ in failures.withLock { $0 += 1 } }
            for verb in [
                "REVOKE INSERT ON doorstep.launch_days FROM", "GRANT INSERT ON doorstep.launch_days TO",
            ] {
                try await stores.database.withSuperuser { pool in
                    try await pool.withTransaction { try await $0.execute(script: "\(verb) doorstep_app") }
                }
                queue.count(.lookup, try Self.launch("a"), of: tenant, at: Date())
                queue.count(.report, try Self.launch("a"), of: tenant, at: Date())
                await queue.flush()
            }
            #expect(failures.withLock { $0 } == 1)
            let counted = try await Self.statistics(stores, tenant)
            #expect(counted.map(\.lookups) == [2] && counted.map(\.launchReports) == [2])
        }
    }

    /// More rows than one statement writes.
    @Test func countsOfManyLocationsAreAllWritten() async throws {
        try await Stores.withTenant { stores, tenant in
            let queue = LaunchCountQueue(stores.appPool) { Issue.record($0) }
            for number in 0..<12_001 {
                queue.count(.lookup, try Self.launch("store-\(number)"), of: tenant, at: Date())
            }
            await queue.flush()
            #expect(try await Self.statistics(stores, tenant).map(\.lookups) == [12_001])
        }
    }

    @Test func countsOlderThanTheRetentionAreDeleted() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let queue = LaunchCountQueue(stores.appPool) { Issue.record($0) }
            let now = try Self.date("2026-03-31T12:00:00Z")
            for (tenant, days) in [(tenant, [0, 89, 90, 91, 400]), (other, [0])] {
                for ago in days {
                    queue.count(
                        .lookup, try Self.launch("a"), of: tenant,
                        at: now.addingTimeInterval(-86_400 * Double(ago)))
                }
            }
            // One more than a transaction deletes.
            for number in 0..<1_001 {
                queue.count(
                    .lookup, try Self.launch("\(number)"), of: tenant,
                    at: try Self.date("2020-01-01T00:00:00Z"))
            }
            await queue.flush()
            func maintain() async throws -> Int {
                try await stores.database.withPool(as: .serve) {
                    try await LaunchRetention($0, retention: 90).maintain(at: now)
                }
            }
            let deleted = try await maintain()
            // 91 and 400 days ago, and 2020.
            #expect(deleted == 1_003)
            #expect(
                try await Self.statistics(stores, tenant).map(\.group) == [
                    "2025-12-31", "2026-01-01", "2026-03-31",
                ])
            #expect(try await Self.statistics(stores, other).map(\.group) == ["2026-03-31"])
            #expect(try await maintain() == 0)
        }
    }

    // MARK: Statistics

    /// An event of each kind, as the oracle counts it.
    private struct Event {
        enum Kind: CaseIterable { case lookup, report, confirmation, delivery }

        let kind: Kind
        let at: Date
        let location: String?
        let experience: String
        let source: InvocationSource
        let outcome: String

        func group(by grouping: StatisticsGrouping) -> String? {
            switch (grouping, kind) {
            case (.source, .delivery), (.experience, .confirmation): nil
            case (.day, _): String(at.ISO8601Format().prefix(10))
            case (.location, _): location ?? ""
            case (.source, _): source.rawValue
            case (.experience, _): experience
            }
        }
    }

    private static func events(_ count: Int, from start: Date) -> [Event] {
        var random = SplitMix64(seed: 44)
        return (0..<count).map { _ in
            Event(
                kind: Event.Kind.allCases.randomElement(using: &random)!,
                at: start.addingTimeInterval(60 * Double(Int.random(in: 0..<(5 * 1_440), using: &random))),
                location: ["a", "b", "ß", nil].randomElement(using: &random)!,
                experience: experiences.randomElement(using: &random)!,
                source: [.nfc, .qrCode, .unknown].randomElement(using: &random)!,
                outcome: ["inRegion", "notInRegion", "doesNotMatch"].randomElement(using: &random)!)
        }
    }

    private static func store(_ events: [Event], of tenant: TenantID, in stores: Stores) async throws {
        let queue = LaunchCountQueue(stores.appPool) { Issue.record($0) }
        for event in events {
            let launch = try launch(event.location, event.experience, event.source)
            switch event.kind {
            case .lookup: queue.count(.lookup, launch, of: tenant, at: event.at)
            case .report: queue.count(.report, launch, of: tenant, at: event.at)
            case .confirmation, .delivery: continue
            }
        }
        await queue.flush()
        try await stores.database.withSuperuser { pool in
            try await pool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                for event in events where event.kind == .confirmation {
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.confirmations
                            (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                        VALUES (\(tenant.uuid), gen_random_uuid(), \(event.location), \(event.outcome),
                            \(event.source.rawValue), \(event.at))
                        """)
                }
                for event in events where event.kind == .delivery {
                    // One that was delivered, and one that was refused.
                    try await transaction.execute(
                        """
                        WITH sent AS (
                            INSERT INTO doorstep.notifications
                                (tenant_id, created_at, notification_id, bundle_id, url, experience_url, location_identifier,
                                audience, push_type, priority, payload)
                            VALUES (\(tenant.uuid), \(event.at), gen_random_uuid(), 'com.example.App.Clip', \(event.experience),
                                \(event.experience), \(event.location), '{}', 'alert', 10, '{}')
                            RETURNING notification_id)
                        INSERT INTO doorstep.deliveries
                            (tenant_id, created_at, notification_id, delivery_id, instance_id, token_kind, environment, state,
                            reason, attempt, finished_at)
                        SELECT \(tenant.uuid), \(event.at), notification_id, gen_random_uuid(), gen_random_uuid(), 'device',
                            'production', state, 'r', 1, now()
                        FROM sent, unnest(ARRAY['delivered', 'refused']) AS state
                        """)
                }
            }
        }
    }

    private static func expected(
        _ events: [Event], by grouping: StatisticsGrouping, in selection: ConfirmationSelection
    ) -> [Statistics] {
        let selected = events.filter { event in
            event.at >= selection.start && event.at < selection.end
                && (selection.location.map { $0.text == event.location } ?? true)
                && (selection.locations.map { $0.contains { $0.text == event.location } } ?? true)
        }
        let groups = Dictionary(grouping: selected) { $0.group(by: grouping) }
        return groups.compactMap { group, events -> Statistics? in
            guard let group else { return nil }
            func count(_ kind: Event.Kind) -> Int { events.count { $0.kind == kind } }
            return Statistics(
                group: group, lookups: count(.lookup),
                confirmations: grouping == .experience ? nil : count(.confirmation),
                inRegion: grouping == .experience
                    ? nil : events.count { $0.kind == .confirmation && $0.outcome == "inRegion" },
                launchReports: count(.report), delivered: grouping == .source ? nil : count(.delivery))
        }.sorted { $0.group.utf8.lexicographicallyPrecedes($1.group.utf8) }
    }

    /// The counts by each attribute equal those of an oracle, for days, a location and a key's locations. Another tenant has
    /// events of its own.
    @Test func statisticsEqualThoseOfOracle() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            // Partitions of deliveries exist from yesterday on.
            let start = Date().addingTimeInterval(-86_400).startOfUTCDay
            let events = Self.events(400, from: start)
            try await Self.store(events, of: tenant, in: stores)
            try await Self.store(Self.events(40, from: start), of: other, in: stores)
            let (a, b) = (try LocationIdentifier("a"), try LocationIdentifier("b"))
            let selections = [
                ConfirmationSelection(),
                ConfirmationSelection(
                    start: start.addingTimeInterval(86_400), end: start.addingTimeInterval(3 * 86_400)),
                ConfirmationSelection(location: a), ConfirmationSelection(within: [a, b]),
                ConfirmationSelection(location: a, within: [b]),
            ]
            for grouping in StatisticsGrouping.allCases {
                for selection in selections {
                    let expected = Self.expected(events, by: grouping, in: selection)
                    #expect(
                        try await Self.statistics(stores, tenant, by: grouping, selection) == expected,
                        "\(grouping) \(selection)")
                    // Pages contain each group once.
                    if let first = expected.first {
                        let rest = try await Self.statistics(
                            stores, tenant, by: grouping, selection, .group(after: first.group))
                        #expect(rest == Array(expected.dropFirst()))
                    }
                }
            }
            let busiest = try await Self.statistics(stores, tenant, by: .location, .init(), .busiest)
            let sums = busiest.map { $0.lookups + ($0.confirmations ?? 0) }
            #expect(sums == sums.sorted(by: >) && Set(busiest.map(\.group)) == ["a", "b", "ß", ""])
            let outside = try await Self.statistics(
                stores, tenant, by: .location, .init(), .mostOutsideRegion)
            let counts = outside.map { row in
                events.count {
                    $0.kind == .confirmation && $0.outcome == "notInRegion"
                        && ($0.location ?? "") == row.group
                }
            }
            #expect(!counts.isEmpty && !counts.contains(0) && counts == counts.sorted(by: >))
        }
    }
}

extension Date {
    fileprivate var startOfUTCDay: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
    }
}

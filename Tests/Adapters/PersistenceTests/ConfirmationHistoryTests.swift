import Confirmations
import Foundation
import Invocation
import Persistence
import PostgreSQL
import Receipts
import Synchronization
import Tenancy
import TestSupport
import Testing

/// Confirmations are listed, counted and exported.
@Suite struct ConfirmationHistoryTests {
    private struct Row {
        let minute: String
        var location: String?
        var outcome = "inRegion"
    }

    private static let rows = [
        Row(minute: "2026-03-01 00:00Z", location: "a"), Row(minute: "2026-03-01 23:59Z", location: "b"),
        Row(minute: "2026-03-02 00:00Z", location: "a", outcome: "notInRegion"),
        Row(minute: "2026-03-02 12:00Z", outcome: "doesNotMatch"),
        Row(minute: "2026-03-02 12:00Z", location: "a"), Row(minute: "2026-03-03 12:00Z", location: "a"),
    ]

    private static func insert(_ rows: [Row], of tenant: TenantID, in stores: Stores) async throws {
        try await stores.appPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            for row in rows {
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.confirmations
                        (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                    VALUES (\(tenant.uuid), gen_random_uuid(), \(row.location), \(row.outcome), 'qr_code',
                        \(row.minute)::text::timestamptz)
                    """)
            }
        }
    }

    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    /// Runs the closure with the history of a tenant, first as an operator, then as a manager. Another tenant has the same rows.
    private static func withHistory(
        _ body: (PostgresConfirmationHistory, TenantID) async throws -> Void
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] { try await insert(rows, of: tenant, in: stores) }
            try await body(PostgresConfirmationHistory(stores.adminPool), tenant)
            try await stores.database.withPool(as: .manager) { pool in
                try await body(PostgresConfirmationHistory(managing: pool), tenant)
            }
        }
    }

    @Test func confirmationsAreListedNewestFirst() async throws {
        try await Self.withHistory { history, tenant in
            let all = try await history.latest(ConfirmationSelection(), of: tenant, limit: 100)
            #expect(all.count == 6)
            #expect(all.map(\.record.minute) == all.map(\.record.minute).sorted(by: >))
            #expect(all[0].record.location?.text == "a" && all[0].record.source == .qrCode)
            let first = try await history.latest(ConfirmationSelection(), of: tenant, limit: 2)
            #expect(first == Array(all.prefix(2)))
            for index in all.indices {
                let rest = try await history.latest(
                    ConfirmationSelection(), of: tenant, before: all[index].place, limit: 100)
                #expect(rest == Array(all.dropFirst(index + 1)))
            }
        }
    }

    @Test func confirmationsAreFilteredByDayAndLocation() async throws {
        try await Self.withHistory { history, tenant in
            let day = ConfirmationSelection(
                start: try Self.date("2026-03-02T00:00:00Z"), end: try Self.date("2026-03-03T00:00:00Z"))
            let ofDay = try await history.latest(day, of: tenant, limit: 100)
            #expect(ofDay.count == 3)
            var both = day
            both.location = try LocationIdentifier("a")
            let ofBoth = try await history.latest(both, of: tenant, limit: 100)
            #expect(ofBoth.map(\.record.outcome) == [.inRegion, .notInRegion])
            let nowhere = ConfirmationSelection(location: try LocationIdentifier("none"))
            #expect(try await history.latest(nowhere, of: tenant, limit: 100).isEmpty)
        }
    }

    @Test(arguments: [1, 2, 4, 100])
    func pagesContainEachConfirmationOnce(limit: Int) async throws {
        try await Self.withHistory { history, tenant in
            let newestFirst = try await history.latest(ConfirmationSelection(), of: tenant, limit: 100)
            var all: [RecordedConfirmation] = []
            while case let page = try await history.oldest(
                ConfirmationSelection(), of: tenant, after: all.last?.place, limit: limit), !page.isEmpty
            {
                #expect(page.count <= limit)
                all += page
            }
            #expect(all == newestFirst.reversed())
        }
    }

    @Test func outcomesAreCountedByDay() async throws {
        try await Self.withHistory { history, tenant in
            #expect(
                try await history.counts(ConfirmationSelection(), of: tenant) == [
                    ConfirmationCounts(
                        day: try Self.date("2026-03-03T00:00:00Z"), counts: [.inRegion: 1]),
                    ConfirmationCounts(
                        day: try Self.date("2026-03-02T00:00:00Z"),
                        counts: [.notInRegion: 1, .doesNotMatch: 1, .inRegion: 1]),
                    ConfirmationCounts(
                        day: try Self.date("2026-03-01T00:00:00Z"), counts: [.inRegion: 2]),
                ])
            let ofB = ConfirmationSelection(location: try LocationIdentifier("b"))
            #expect(
                try await history.counts(ofB, of: tenant) == [
                    ConfirmationCounts(
                        day: try Self.date("2026-03-01T00:00:00Z"), counts: [.inRegion: 1])
                ])
        }
    }

    /// A query for one location and one day reads the index of that day's partition.
    @Test func filteredDayReadsOnlyItsPartition() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.confirmations
                        (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                    SELECT \(tenant.uuid), gen_random_uuid(), 'place ' || n % 500, 'inRegion', 'nfc',
                        date_trunc('minute', now()) - n * interval '1 minute'
                    FROM generate_series(1, 20000) AS n
                    """)
            }
            _ = try await ConfirmationDays(stores.routerPool, retention: 90).maintain()
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { try await $0.execute("ANALYZE doorstep.confirmations") }
            }
            let start = Date(
                timeIntervalSince1970: (Date().timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
                    - 3 * 86_400)
            let selection = ConfirmationSelection(
                location: try LocationIdentifier("place 7"), start: start, end: start + 86_400)
            let plans = Mutex<[String]>([])
            try await stores.database.explainEverything(planCacheMode: "auto")
            try await stores.database.withPool(
                as: .admin, { $0.onNotice = { notice in plans.withLock { $0.append(notice.message) } } }
            ) { pool in
                let history = PostgresConfirmationHistory(pool)
                let latest = try await history.latest(selection, of: tenant, limit: 100)
                let page = try await history.oldest(selection, of: tenant, after: nil, limit: 100)
                #expect(latest.count >= 2 && latest == page.reversed())
            }
            let about = plans.withLock { $0.filter { $0.contains(" on confirmations") } }
            #expect(about.count == 2)
            for plan in about {
                #expect(plan.contains("_location on confirmations_"), "\(plan)")
                #expect(!plan.contains("Seq Scan") && !plan.contains("confirmations_default"), "\(plan)")
            }
        }
    }
}

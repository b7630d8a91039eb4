public import Foundation
import Invocation
public import Lookups
public import PostgreSQL
public import Tenancy

/// Counts lookups and launch reports in PostgreSQL, as `doorstep_app`: a row for each day, location, experience and source. Writes the
/// counts some seconds later.
///
/// If the process is killed, unwritten counts are lost. If the connection breaks during a write, counts may be added twice. The
/// memory depends on the number of different counts, not on the number of requests.
public final class LaunchCountQueue: LaunchCounter, GatheringQueue {
    private struct Place: Hashable {
        let launch: CountedLaunch
        /// Days since 1970-01-01 UTC.
        let day: Int32

        var order: (Int32, String, String, String) {
            (day, launch.location?.text ?? "", launch.experience, launch.source.rawValue)
        }
    }

    private struct Counts {
        var lookups = 0
        var reports = 0

        static func + (one: Counts, other: Counts) -> Counts {
            Counts(lookups: one.lookups + other.lookups, reports: one.reports + other.reports)
        }
    }

    private let gathering: TenantGathering<[Place: Counts]>

    /// The maximum number of different counts of a tenant in memory. During an outage of the database, further ones are lost. [ours]
    private static let maximumWaiting = 100_000

    /// The maximum number of rows that one statement writes.
    private static let batch = 5_000

    /// - Parameter interval: The time for which counts are collected before they are written.
    public init(
        _ pool: ConnectionPool, interval: Duration = .seconds(10),
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        gathering = TenantGathering(
            pool, interval: interval, onFailure: onFailure,
            // Adds the fewer counts to the many, because requests that count wait meanwhile.
            merge: {
                $0.count < $1.count
                    ? $1.merging($0, uniquingKeysWith: +) : $0.merging($1, uniquingKeysWith: +)
            },
            write: Self.write)
    }

    public func count(
        _ kind: CountedLaunch.Kind, _ launch: CountedLaunch, of tenant: TenantID, at now: Date
    ) {
        let place = Place(launch: launch, day: now.dayNumber)
        gathering.gather(for: tenant, in: [:]) { counts in
            guard counts.count < Self.maximumWaiting || counts[place] != nil else { return }
            switch kind {
            case .lookup: counts[place, default: Counts()].lookups += 1
            case .report: counts[place, default: Counts()].reports += 1
            }
        }
    }

    public func run() async { await gathering.run() }

    public func flush() async { await gathering.flush() }

    private static func write(_ counts: [Place: Counts], in transaction: TenantTransaction) async throws {
        // All servers use the same order, so that two servers do not wait for each other.
        let rows = counts.sorted { $0.key.order < $1.key.order }
        for start in stride(from: 0, to: rows.count, by: batch) {
            try await write(rows[start..<min(start + batch, rows.count)], in: transaction)
        }
    }

    private static func write(
        _ rows: ArraySlice<(key: Place, value: Counts)>, in transaction: TenantTransaction
    ) async throws {
        let launches = rows.map(\.key.launch)
        try await transaction.execute(
            """
            INSERT INTO doorstep.launch_days AS d
                (tenant_id, day, location_identifier, experience_url, source, lookups, launch_reports)
            SELECT \(transaction.tenant.uuid), date '1970-01-01' + v.day, v.location, v.experience, v.source, v.lookups, v.reports
            FROM unnest(
                \(rows.map(\.key.day)), \(launches.map { $0.location?.text ?? "" })::text[],
                \(launches.map(\.experience))::text[], \(launches.map(\.source.rawValue))::text[],
                \(rows.map(\.value.lookups)), \(rows.map(\.value.reports)))
                WITH ORDINALITY AS v (day, location, experience, source, lookups, reports, number)
            ORDER BY v.number
            ON CONFLICT (tenant_id, day, location_identifier, experience_url, source) DO UPDATE
            SET lookups = d.lookups + excluded.lookups,
                launch_reports = d.launch_reports + excluded.launch_reports
            """)
    }
}

public import AppAttest
public import Confirmations
public import Foundation
public import PostgreSQL
public import Tenancy

/// Counts the attestations of requests in PostgreSQL, as `doorstep_app`: a row for each clip, operation and day. Writes the counts
/// some seconds later.
///
/// If the process is killed, unwritten counts are lost. If the connection breaks during a write, counts may be added twice. The
/// memory depends on the number of different counts, not on the number of requests.
public final class AttestationCountQueue: AttestationRecorder, GatheringQueue {
    private struct Place: Hashable {
        let clip: BundleID
        let operation: ClipAttestation.Operation
        /// Days since 1970-01-01 UTC.
        let day: Int32
    }

    private typealias Counts = [RequestAttestation.Grade: Int]

    private let gathering: TenantGathering<[Place: Counts]>

    /// - Parameter interval: The time for which counts are collected before they are written.
    public init(
        _ pool: ConnectionPool, interval: Duration = .seconds(10),
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        gathering = TenantGathering(
            pool, interval: interval, onFailure: onFailure,
            merge: { $0.merging($1) { $0.merging($1, uniquingKeysWith: +) } }, write: Self.write)
    }

    public func record(
        _ grade: RequestAttestation.Grade, of clip: BundleID, for operation: ClipAttestation.Operation,
        _ tenant: TenantID, at now: Date
    ) {
        let place = Place(clip: clip, operation: operation, day: now.dayNumber)
        gathering.gather(for: tenant, in: [:]) { $0[place, default: [:]][grade, default: 0] += 1 }
    }

    public func run() async { await gathering.run() }

    public func flush() async { await gathering.flush() }

    private static func write(_ counts: [Place: Counts], in transaction: TenantTransaction) async throws {
        let (tenant, rows) = (transaction.tenant, Array(counts))
        func column(_ grade: RequestAttestation.Grade) -> [Int] { rows.map { $0.value[grade] ?? 0 } }
        // All servers use the same order, so that two servers do not wait for each other. Counts of deleted clips are left out.
        try await transaction.execute(
            """
            INSERT INTO doorstep.attestation_days AS d
                (tenant_id, bundle_id, operation, day, by_token, signed, not_attested)
            SELECT \(tenant.uuid), v.bundle_id, v.operation, date '1970-01-01' + v.day, v.by_token, v.signed,
                v.not_attested
            FROM unnest(
                \(rows.map(\.key.clip.text))::text[], \(rows.map(\.key.operation.rawValue))::text[],
                \(rows.map(\.key.day)), \(column(.token)), \(column(.request)), \(column(.none)))
                AS v (bundle_id, operation, day, by_token, signed, not_attested)
            WHERE EXISTS (
                SELECT FROM doorstep.clips AS c
                WHERE c.tenant_id = \(tenant.uuid) AND c.bundle_id = v.bundle_id COLLATE "C")
            ORDER BY v.bundle_id COLLATE "C", v.operation COLLATE "C", v.day
            ON CONFLICT (tenant_id, bundle_id, operation, day) DO UPDATE
            SET by_token = d.by_token + excluded.by_token, signed = d.signed + excluded.signed,
                not_attested = d.not_attested + excluded.not_attested
            """)
    }
}

extension Date {
    /// Days since 1970-01-01 UTC.
    var dayNumber: Int32 { Int32(clamping: Int((timeIntervalSince1970 / 86_400).rounded(.down))) }
}

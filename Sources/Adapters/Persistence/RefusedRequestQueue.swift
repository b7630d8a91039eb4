public import Administration
import Foundation
public import PostgreSQL
public import Tenancy

/// Records refused and failed requests in PostgreSQL, as `doorstep_app`, some seconds later.
///
/// A tenant's keys can send any number of refused requests. So each interval records a limited number of a tenant's requests, the first
/// ones, and the database keeps a limited number, the newest ones. If the process is killed, unwritten requests are lost.
public final class RefusedRequestQueue: RefusedRequestRecorder, GatheringQueue {
    /// The maximum number of requests of a tenant in each interval. [ours]
    public static let maximumWaiting = 100
    /// The maximum number of a tenant's requests in the database. [ours]
    public static let maximumStored = 10_000

    private let gathering: TenantGathering<[RefusedRequest]>

    /// - Parameter interval: The time for which requests are collected before they are written.
    public init(
        _ pool: ConnectionPool, interval: Duration = .seconds(10),
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        gathering = TenantGathering(
            pool, interval: interval, onFailure: onFailure,
            merge: { Array(($1 + $0).prefix(Self.maximumWaiting)) }, write: Self.write)
    }

    public func record(_ request: RefusedRequest, of tenant: TenantID) {
        gathering.gather(for: tenant, in: []) { waiting in
            if waiting.count < Self.maximumWaiting { waiting.append(request) }
        }
    }

    public func run() async { await gathering.run() }

    public func flush() async { await gathering.flush() }

    private static func write(
        _ requests: [RefusedRequest], in transaction: TenantTransaction
    ) async throws {
        let tenant = transaction.tenant.uuid
        try await transaction.execute(
            """
            INSERT INTO doorstep.refused_requests
                (tenant_id, entry_id, at, request_id, endpoint, status, code, key_id)
            SELECT \(tenant), r.* FROM unnest(
                \(requests.map(\.id)), \(requests.map(\.at)), \(requests.map(\.requestID))::text[],
                \(requests.map(\.endpoint))::text[], \(requests.map(\.status))::smallint[],
                \(requests.map(\.code))::text[], \(requests.map(\.key.uuid))) AS r
            ON CONFLICT DO NOTHING
            """)
        try await transaction.execute(
            """
            DELETE FROM doorstep.refused_requests
            WHERE tenant_id = \(tenant) AND entry_id <= (
                SELECT entry_id FROM doorstep.refused_requests
                WHERE tenant_id = \(tenant) ORDER BY entry_id DESC OFFSET \(maximumStored) LIMIT 1)
            """)
    }
}

import Administration
import Formats
import Foundation
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Refused requests are recorded, listed and deleted.
@Suite struct RefusedRequestTests {
    private static func request(
        _ number: Int, at: Date = Date(), status: Int = 404, code: String = "does_not_match"
    ) -> RefusedRequest {
        RefusedRequest(
            id: .timeOrdered(at: at), at: at, requestID: "r\(number)", endpoint: "GET /v1/lookup",
            status: status, code: code, key: KeyID(UUID()))
    }

    private static func list(
        _ stores: Stores, _ tenant: TenantID, _ selection: RefusedRequestSelection = .init(),
        before: UUID? = nil, limit: Int = 20_000
    ) async throws -> [RefusedRequest] {
        try await stores.administration.auditLog.refusedRequests(
            of: tenant, selection, before: before, limit: limit)
    }

    @Test func recordedRequestsAreListedNewestFirst() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let queue = RefusedRequestQueue(stores.appPool) { Issue.record($0) }
            let start = Date(timeIntervalSince1970: 1_795_000_000)
            let requests = (0..<5).map { number in
                Self.request(
                    number, at: start.addingTimeInterval(Double(number)), status: 400 + number,
                    code: number == 2 ? "invalid_url" : "does_not_match")
            }
            for request in requests { queue.record(request, of: tenant) }
            queue.record(Self.request(9), of: other)
            await queue.flush()
            // No request is pending.
            await queue.flush()
            let all = try await Self.list(stores, tenant)
            #expect(all == requests.reversed())
            #expect(try await Self.list(stores, tenant, before: all[1].id) == Array(all.dropFirst(2)))
            #expect(try await Self.list(stores, tenant, limit: 2) == Array(all.prefix(2)))
            for selection in [
                RefusedRequestSelection(requestID: "r3"), RefusedRequestSelection(status: 404),
                RefusedRequestSelection(code: "invalid_url"), RefusedRequestSelection(key: requests[1].key),
                RefusedRequestSelection(status: 400, key: requests[1].key),
            ] {
                #expect(
                    try await Self.list(stores, tenant, selection) == all.filter(selection.selects),
                    "\(selection)")
            }
            #expect(try await Self.list(stores, other).map(\.requestID) == ["r9"])
        }
    }

    /// A flood of refused requests fills neither the server's memory nor the database.
    @Test func floodOfRequestsIsBounded() async throws {
        try await Stores.withTenant { stores, tenant in
            let queue = RefusedRequestQueue(stores.appPool) { Issue.record($0) }
            let start = Date()
            for number in 0..<1_000 {
                queue.record(
                    Self.request(number, at: start.addingTimeInterval(Double(number) / 100)), of: tenant)
            }
            await queue.flush()
            #expect(
                try await Self.list(stores, tenant).map(\.requestID)
                    == (0..<RefusedRequestQueue.maximumWaiting).reversed().map { "r\($0)" })
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    _ = try await connection.execute(
                        """
                        INSERT INTO doorstep.refused_requests
                        SELECT \(tenant.uuid), ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), 'old',
                            'GET /v1/lookup', 404, 'does_not_match', gen_random_uuid()
                        FROM generate_series(1, \(RefusedRequestQueue.maximumStored)) AS n
                        """)
                }
            }
            queue.record(Self.request(7, at: start.addingTimeInterval(100)), of: tenant)
            await queue.flush()
            let kept = try await Self.list(stores, tenant)
            #expect(kept.count == RefusedRequestQueue.maximumStored && kept.first?.requestID == "r7")
        }
    }

    @Test func unwrittenRequestsAreWrittenLaterOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            let failures = Mutex(0)
            let queue = RefusedRequestQueue(stores.appPool) { _ in failures.withLock { $0 += 1 } }
            for (number, verb) in [
                "REVOKE INSERT ON doorstep.refused_requests FROM",
                "GRANT INSERT ON doorstep.refused_requests TO",
            ].enumerated() {
                try await stores.database.withSuperuser { pool in
                    try await pool.withTransaction { try await $0.execute(script: "\(verb) doorstep_app") }
                }
                queue.record(Self.request(number), of: tenant)
                await queue.flush()
            }
            #expect(failures.withLock { $0 } == 1)
            #expect(try await Self.list(stores, tenant).map(\.requestID) == ["r1", "r0"])
        }
    }

    @Test func requestsAreDeletedAfterAWeek() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let queue = RefusedRequestQueue(stores.appPool) { Issue.record($0) }
            let now = Date(timeIntervalSince1970: 1_795_000_000)
            for (number, days) in [0.0, 6.9, 7.1, 30].enumerated() {
                queue.record(Self.request(number, at: now.addingTimeInterval(-86_400 * days)), of: tenant)
            }
            queue.record(Self.request(9, at: now), of: other)
            await queue.flush()
            func maintain() async throws -> Int {
                try await stores.database.withPool(as: .serve) {
                    try await RefusedRequestRetention($0).maintain(at: now)
                }
            }
            let deleted = try await maintain()
            #expect(deleted == 2)
            #expect(try await Self.list(stores, tenant).map(\.requestID) == ["r0", "r1"])
            #expect(try await Self.list(stores, other).map(\.requestID) == ["r9"])
            #expect(try await maintain() == 0)
        }
    }
}

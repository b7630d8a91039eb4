import APNsPayload
import ArgumentParser
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import Persistence
import Platform
import PostgreSQL
import Synchronization
import Tenancy

/// Measures the database's part of delivery: deciding and queueing, lending and completing, and all of it with a sender that
/// answers at once.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Time the outbox of notifications.",
        discussion: """
            DATABASE_URL names a migrated database, and a login that may do everything: a tenant of its own is made \
            and left there. Prints JSON. Build with -c release.
            """)

    @Option(help: "How many instances each notification goes to.")
    var instances = 10_000

    @Option(help: "How many notifications are sent in each part.")
    var notifications = 5

    func validate() throws {
        guard instances > 0, notifications > 0 else {
            throw ValidationError("--instances and --notifications are positive")
        }
    }

    func run() async throws {
        guard let url = ProcessInfo.processInfo.environment["DATABASE_URL"] else {
            throw ValidationError("DATABASE_URL is not set")
        }
        let configuration = PoolConfiguration(
            conninfo: url, maximumConnections: 4, statementTimeout: .seconds(600))
        let report = try await ConnectionPool.withPool(configuration) { try await measure($0) }
        print(JSONValue.object(report).prettyPrinted())
    }

    private func measure(_ pool: ConnectionPool) async throws -> JSONObject {
        guard let keys = SealingKeys(secrets: ["the benchmark's secret has 32 bytes or more"]) else {
            throw ValidationError("the secret is too short")
        }
        let tenant = TenantID(UUID())
        try await prepare(pool, tenant, keys)
        let table = try await pool.tenantTable(of: tenant)
        let store = PostgresNotificationStore(pool)
        let intake = NotificationIntake(store)
        let outbox = PostgresOutbox(pool, keys: keys)
        let submission = NotificationSubmission(
            NotificationRequest(
                url: try InvocationURL(Self.url), aps: ["alert": ["title": "Order", "body": "It is ready."]]),
            to: .business)
        let clock = ContinuousClock()
        var report = JSONObject()
        let total = Double(instances * notifications)

        func queue() async throws {
            for _ in 0..<notifications {
                guard
                    case .accepted(let trace) = try await intake.accept(
                        submission, in: table, at: Date())
                else { throw ValidationError("a notification was refused") }
                var counts = trace.counts
                while let part = try await store.continueAudience(of: tenant) { counts += part.counts }
                guard counts.allSatisfy({ $0.state == .queued }),
                    counts.reduce(0, { $0 + $1.count }) == instances
                else { throw ValidationError("not all were queued") }
            }
        }
        let queueing = try await clock.measure { try await queue() }
        report["queued per second"] = JSONValue(Int(total / (queueing / .seconds(1))))

        let lending = try await clock.measure {
            while case let claimed = try await outbox.claim(500, of: tenant, for: .seconds(600)),
                !claimed.isEmpty
            {
                try await outbox.complete(claimed.map { Self.delivered($0) }, of: tenant)
            }
        }
        report["claimed and completed per second, one at a time"] = JSONValue(
            Int(total / (lending / .seconds(1))))

        try await queue()
        let dispatching = await dispatch(outbox, instances * notifications)
        report["dispatched per second"] = JSONValue(Int(total / (dispatching / .seconds(1))))
        report["most memory, MB"] = JSONValue(try ResidentMemory.peak() / 1_000_000)
        return report
    }

    /// Sends everything in the outbox. Returns the time until the expected number of deliveries was attempted.
    private func dispatch(_ outbox: PostgresOutbox, _ expected: Int) async -> Duration {
        let sender = InstantSender()
        let done = AsyncStream.makeStream(of: Void.self)
        let count = Counter(expected)
        let dispatcher = Dispatcher(
            outbox, sender,
            onEvent: { event in
                if case .attempted = event, count.isLast() { done.continuation.yield() }
            })
        return await ContinuousClock().measure {
            async let run: Void = dispatcher.run()
            for await _ in done.stream { break }
            dispatcher.shutDown()
            await run
        }
    }

    private static let url = "https://bench.example/a"

    private static func delivered(_ delivery: ClaimedDelivery) -> Completion {
        Completion(
            delivery: delivery,
            verdict: DeliveryVerdict(
                on: .answered(APNsResponse(status: 200)), of: delivery, at: Date(), random: 0),
            response: DeliveryResponse(
                attempt: delivery.attempt, at: Date(),
                result: .answered(status: 200, reason: nil, uniqueID: nil)))
    }

    /// A tenant with one restaurant, at which all instances were launched just now.
    private func prepare(_ pool: ConnectionPool, _ tenant: TenantID, _ keys: SealingKeys) async throws {
        let ids = (0..<instances).map { _ in UUID() }
        let keys = keys.of(tenant)
        let tokens = try ids.map { id in
            guard let token = PushToken((0..<32).map { _ in UInt8.random(in: .min ... .max) }) else {
                throw ValidationError("no token")
            }
            return (
                try keys.seal(token, for: InstanceID(id), at: .device),
                keys.digests(of: token)[0]
            )
        }
        try await pool.withTransaction { transaction in
            try await transaction.execute(
                "SELECT set_config('doorstep.tenant_id', \(tenant.description), true)")
            try await transaction.execute(
                """
                INSERT INTO doorstep.tenants (tenant_id, slug, name)
                VALUES (\(tenant.uuid), \("bench-" + tenant.description.prefix(8)), 'Benchmark')
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.clips (tenant_id, bundle_id, parent_bundle_id, team_id, multi_business)
                VALUES (\(tenant.uuid), 'com.example.Bench.Clip', 'com.example.Bench', 'ABCDE12345', true)
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius, metadata)
                VALUES (\(tenant.uuid), 'a', 'A', 1, 2, 100, '{}')
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.experiences
                    (tenant_id, kind, url, bundle_id, location_identifier)
                VALUES (\(tenant.uuid), 'advanced', \(Self.url), 'com.example.Bench.Clip', 'a')
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.instances
                    (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                SELECT \(tenant.uuid), id, 'com.example.Bench.Clip', 'clip', 'production', 'ephemeral', now()
                FROM unnest(\(ids)) AS id
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.launches
                    (tenant_id, instance_id, url, experience_url, location_identifier, launched_at)
                SELECT \(tenant.uuid), id, \(Self.url), \(Self.url), 'a', now() FROM unnest(\(ids)) AS id
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.push_tokens (tenant_id, instance_id, kind, digest, sealed, registered_at)
                SELECT \(tenant.uuid), id, 'device', decode(digest, 'hex'), decode(sealed, 'hex'), now()
                FROM unnest(\(ids), \(tokens.map { Base16.text($0.1) }), \(tokens.map { Base16.text($0.0) }))
                    AS t (id, digest, sealed)
                """)
        }
        try await pool.withConnection { try await $0.execute(script: "ANALYZE") }
    }
}

private struct InstantSender: PushSender {
    func send(_ request: PushRequest) async -> PushOutcome { .answered(APNsResponse(status: 200)) }
}

/// Reports the last of a given number of calls.
private final class Counter: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) {
        left = Mutex(count)
    }

    func isLast() -> Bool {
        left.withLock { left in
            left -= 1
            return left == 0
        }
    }
}

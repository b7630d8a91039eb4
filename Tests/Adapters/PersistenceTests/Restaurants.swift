import APNsPayload
import Administration
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// A tenant whose clip serves two restaurants, and instances that were launched there.
struct Restaurants: Sendable {
    static let clip = "com.example.MyApp.Clip"
    static let a = "https://example.com/restaurants/a"
    static let b = "https://example.com/restaurants/b"
    static let keys = SealingKeys(secrets: ["the secret of a test is 32 bytes long"])!

    let stores: Stores
    let tenant: TenantID
    let table: LookupIndex
    /// Connects with the server's login.
    let pool: ConnectionPool
    let now = Date()

    /// The size of one part of an audience.
    var partSize = AudiencePartSize()

    var notifications: PostgresNotificationStore { PostgresNotificationStore(pool, partSize: partSize) }
    var intake: NotificationIntake { NotificationIntake(notifications) }
    var outbox: PostgresOutbox { PostgresOutbox(pool, keys: Self.keys) }

    @discardableResult
    static func withRestaurants<R: Sendable>(
        connections: Int = 4, _ body: (Restaurants) async throws -> R
    ) async throws -> R {
        try await Stores.withTenant { stores, tenant in
            try await open(of: tenant, stores)
            let table = try await stores.loadTable()
            return try await stores.database.withPool(as: .serve, { $0.maximumConnections = connections }) {
                try await body(Restaurants(stores: stores, tenant: tenant, table: table, pool: $0))
            }
        }
    }

    static func open(of tenant: TenantID, _ stores: Stores) async throws {
        try await stores.createClip(clip, multiBusiness: true, of: tenant)
        try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
        try await stores.importExperiences(
            [.sample(a, location: "a"), .sample(b, location: "b")], of: tenant)
    }

    /// The values that a clip reports.
    struct Instance: Sendable {
        var id = InstanceID(UUID())
        var app = InstalledApp.clip
        var environment = APNsEnvironment.production
        var permission = NotificationPermission.ephemeral
        /// The age of the launch in seconds.
        var launched: TimeInterval = 60
        var url = Restaurants.a
        /// Nil if the launch led to no location.
        var location: String? = "a"
        /// Nil for the experience of the location.
        var experience: String?
        var confirmed: TimeInterval?
        var place = TokenKind.device
        /// Nil for an instance without a token.
        var token: PushToken? = .random()
        var isRetired = false
    }

    @discardableResult
    func register(_ instance: Instance, of other: TenantID? = nil) async throws -> InstanceID {
        let tenant = other ?? tenant
        let launchedAt = now.addingTimeInterval(-instance.launched)
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            try await transaction.execute(
                """
                INSERT INTO doorstep.instances
                    (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                VALUES (\(tenant.uuid), \(instance.id.uuid), \(Self.clip), \(instance.app.rawValue),
                    \(instance.environment.rawValue), \(instance.permission.rawValue), \(launchedAt))
                ON CONFLICT DO NOTHING
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.launches
                    (tenant_id, instance_id, url, experience_url, location_identifier, launched_at, confirmed_at)
                VALUES (\(tenant.uuid), \(instance.id.uuid), \(instance.url),
                    \(instance.experience ?? "https://example.com/restaurants/" + (instance.location ?? "")),
                    \(instance.location), \(launchedAt), \(instance.confirmed.map { now.addingTimeInterval(-$0) }))
                """)
            guard let token = instance.token else { return }
            try await transaction.execute(
                """
                INSERT INTO doorstep.push_tokens
                    (tenant_id, instance_id, kind, name, digest, sealed, registered_at, retired_at)
                VALUES (\(tenant.uuid), \(instance.id.uuid), \(instance.place.kind), \(instance.place.name),
                    \(Self.keys.of(tenant).digests(of: token)[0]),
                    \(try Self.keys.of(tenant).seal(token, for: instance.id, at: instance.place)),
                    \(launchedAt), \(instance.isRetired ? now : nil))
                ON CONFLICT DO NOTHING
                """)
        }
        return instance.id
    }

    /// Registers many instances that were launched at one restaurant, all with the same token.
    func registerMany(_ count: Int, location: String = "a", of other: TenantID? = nil) async throws {
        let tenant = other ?? tenant
        let ids = (0..<count).map { _ in UUID() }
        let token = PushToken.random()
        let keys = Self.keys.of(tenant)
        let sealed = try ids.map {
            try keys.seal(token, for: InstanceID($0), at: .device)
        }.map { Self.hex($0) }
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            try await transaction.execute(
                """
                INSERT INTO doorstep.instances
                    (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                SELECT \(tenant.uuid), id, \(Self.clip), 'clip', 'production', 'ephemeral', now() FROM unnest(\(ids)) AS id
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.launches
                    (tenant_id, instance_id, url, experience_url, location_identifier, launched_at)
                SELECT \(tenant.uuid), id, 'https://example.com/restaurants/' || \(location),
                    'https://example.com/restaurants/' || \(location), \(location), now()
                FROM unnest(\(ids)) AS id
                """)
            try await transaction.execute(
                """
                INSERT INTO doorstep.push_tokens (tenant_id, instance_id, kind, digest, sealed, registered_at)
                SELECT \(tenant.uuid), id, 'device', sha256('d'), decode(sealed, 'hex'), now()
                FROM unnest(\(ids), \(sealed)) AS t (id, sealed)
                """)
        }
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { try await $0.execute(script: "ANALYZE") }
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: Sending

    func submission(
        _ url: String = Restaurants.a, to audience: Audience = .business,
        aps: JSONObject = ["alert": "Ready."],
        headers: JSONObject = [:], confirmedOnly: Bool = false, environment: APNsEnvironment? = nil,
        key: IdempotencyKey? = nil
    ) throws -> NotificationSubmission {
        NotificationSubmission(
            NotificationRequest(url: try InvocationURL(url), aps: aps, headers: headers),
            to: audience, confirmedOnly: confirmedOnly, environment: environment, idempotencyKey: key)
    }

    func accept(
        _ submission: NotificationSubmission, of other: TenantID? = nil
    ) async throws -> NotificationIntake.Outcome {
        try await intake.accept(submission, in: table.of(other ?? tenant), at: now)
    }

    @discardableResult
    func send(
        _ url: String = Restaurants.a, to audience: Audience = .business, headers: JSONObject = [:],
        of other: TenantID? = nil
    ) async throws -> NotificationTrace {
        try #require(try await accept(try submission(url, to: audience, headers: headers), of: other).trace)
    }

    /// A copy with the current catalogue.
    func reloaded() async throws -> Restaurants {
        Restaurants(stores: stores, tenant: tenant, table: try await stores.loadTable(), pool: pool)
    }

    /// A copy with another size of parts.
    func takingIn(_ size: AudiencePartSize) -> Restaurants {
        var restaurants = self
        restaurants.partSize = size
        return restaurants
    }

    /// Adds the remaining parts of audiences.
    /// - Returns: The number of parts.
    @discardableResult
    func continueAudiences() async throws -> [AudiencePart] {
        var parts: [AudiencePart] = []
        while let part = try await notifications.continueAudience(of: tenant) { parts.append(part) }
        return parts
    }

    /// The stored trace of a notification.
    func trace(_ trace: NotificationTrace) async throws -> NotificationTrace {
        try #require(
            try await notifications.trace(trace.notification.id, of: tenant, after: nil, limit: 1_000))
    }

    /// Makes all leased and waiting deliveries due.
    func passTime() async throws {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection {
                try await $0.execute(
                    "UPDATE doorstep.deliveries SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL"
                )
            }
        }
    }

    /// Kills one of the server's backends after each progress, until no work is left.
    ///
    /// The test waits for progress, not for a time: on a slow machine, backends could be killed before any of them does work.
    /// - Parameter query: Counts the remaining work.
    /// - Returns: The number of killed backends.
    func killBackends(whileLeft query: Query) async throws -> Int {
        try await stores.database.withSuperuser { pool in
            var (killed, seen) = (0, Int.max)
            while case let left = try await stores.count(query), left > 0 {
                guard left < seen else { continue }
                seen = left
                killed += try await pool.withConnection {
                    try await $0.execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND usename = 'doorstep_test_serve'
                        ORDER BY random() LIMIT 1
                        """
                    ).count
                }
            }
            return killed
        }
    }
}

extension PushToken {
    static func random() -> PushToken {
        PushToken((0..<32).map { _ in UInt8.random(in: .min ... .max) })!
    }
}

extension NotificationIntake.Outcome {
    var trace: NotificationTrace? {
        switch self {
        case .accepted(let trace), .repeated(let trace): trace
        case .refused: nil
        }
    }

    var refusal: String? {
        if case .refused(let refusal) = self { refusal.code } else { nil }
    }

    var isRepeated: Bool {
        if case .repeated = self { true } else { false }
    }
}

extension NotificationTrace {
    /// The state of each instance's delivery, or the reason for skipping the instance.
    var decisions: [InstanceID: String] {
        Dictionary(
            deliveries.compactMap { delivery in
                delivery.instance.map {
                    ($0, delivery.state == .skipped ? delivery.reason ?? "" : delivery.state.rawValue)
                }
            }, uniquingKeysWith: { $1 })
    }
}

/// A sender with scripted responses. It keeps the requests.
final class ScriptedSender: PushSender {
    private let requests = Mutex<[PushRequest]>([])
    private let response: @Sendable (PushRequest) async -> PushOutcome

    init(
        _ response: @escaping @Sendable (PushRequest) async -> PushOutcome = { _ in
            .answered(APNsResponse(status: 200))
        }
    ) {
        self.response = response
    }

    var sent: [PushRequest] { requests.withLock { $0 } }

    func send(_ request: PushRequest) async -> PushOutcome {
        requests.withLock { $0.append(request) }
        return await response(request)
    }
}

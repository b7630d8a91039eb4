import APNsPayload
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Instances as tests register them.
struct RegisteredInstances: Sendable {
    let stores: Stores
    let tenant: TenantID
    let store: PostgresInstanceStore

    static let secret = String(repeating: "s", count: 32)
    static let clip = "com.example.MyApp.Clip"
    /// The time of the tests.
    static let now = Date(timeIntervalSince1970: 1_772_368_200)

    init(_ stores: Stores, _ tenant: TenantID, secrets: [String] = [secret]) throws {
        self.stores = stores
        self.tenant = tenant
        store = PostgresInstanceStore(
            stores.appPool, keys: try #require(SealingKeys(secrets: secrets)))
    }

    /// Lends the store of a tenant that has a clip.
    static func with(_ body: (RegisteredInstances) async throws -> Void) async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await body(RegisteredInstances(stores, tenant))
        }
    }

    static func token(_ number: Int) throws -> PushToken {
        try #require(PushToken(withUnsafeBytes(of: UInt64(number).bigEndian, Array.init) + [0xCA, 0xFE]))
    }

    static func registration(
        _ id: InstanceID, url: String? = "https://example.com/a", location: String? = "a",
        at launchedAt: Date = now, confirmedAt: Date? = nil, clip: String? = clip,
        app: InstalledApp = .clip, permission: NotificationPermission = .ephemeral,
        tokens: [TokenKind: PushToken] = [:]
    ) throws -> InstanceRegistration {
        InstanceRegistration(
            id: id, clip: try clip.map { try BundleID($0) }, app: app, environment: .production,
            permission: permission, launchedAt: launchedAt,
            launch: try url.map { url in
                Launch(
                    url: url, experience: "https://example.com/a",
                    location: try location.map { try LocationIdentifier($0) }, launchedAt: launchedAt,
                    confirmedAt: confirmedAt)
            }, tokens: tokens)
    }

    @discardableResult
    func register(
        _ registration: InstanceRegistration, at now: Date = now
    ) async throws -> (instance: Instance, isNew: Bool) {
        try #require(try await store.register(registration, of: tenant, at: now).stored)
    }

    /// The ten latest launched instances as an administrator sees them, the latest first.
    func latest(_ selection: InstanceSelection) async throws -> [InstanceSummary] {
        try await stores.adminPool.withTenantTransaction(tenant, as: .admin) {
            try await $0.latestInstances(selection, after: nil, limit: 10)
        }
    }

    /// What stands in the table, as superuser: the tokens of all instances, `kind name`, `-` before one that is retired.
    func tokens(of id: InstanceID) async throws -> [String] {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT CASE WHEN retired_at IS NULL THEN '' ELSE '-' END || kind || ' ' || name
                    FROM doorstep.push_tokens WHERE instance_id = \(id.uuid) ORDER BY kind, name
                    """
                ).map { try $0.decode(at: 0) }
            }
        }
    }

    /// Runs a statement of the server's role for the tenant.
    func execute(_ query: Query) async throws {
        try await stores.appPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            try await transaction.execute(query)
        }
    }
}

extension Registration {
    /// Nil for a refusal.
    var stored: (instance: Instance, isNew: Bool)? {
        if case .registered(let instance, let isNew, _) = self { (instance, isNew) } else { nil }
    }
}

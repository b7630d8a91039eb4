import APNsPayload
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// A tenant and its registered instances, for tests.
struct RegisteredInstances: Sendable {
    let stores: Stores
    let tenant: TenantID
    let store: PostgresInstanceStore

    static let secret = String(repeating: "s", count: 32)
    static let clip = "com.example.MyApp.Clip"
    /// The current time of the tests.
    static let now = Date(timeIntervalSince1970: 1_772_368_200)

    init(_ stores: Stores, _ tenant: TenantID, secrets: [String] = [secret]) throws {
        self.stores = stores
        self.tenant = tenant
        store = PostgresInstanceStore(
            stores.appPool, keys: try #require(SealingKeys(secrets: secrets)))
    }

    /// Runs the closure with a tenant that has a clip.
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

    /// The ten instances with the latest launches, the latest first, as an administrator sees them.
    func latest(_ selection: InstanceSelection) async throws -> [InstanceSummary] {
        try await stores.adminPool.withTenantTransaction(tenant, as: .admin) {
            try await $0.latestInstances(selection, after: nil, limit: 10)
        }
    }

    /// The stored tokens of all instances as `kind name`, read as superuser. A `-` precedes a retired token.
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

    /// Executes a statement for the tenant with the server's role.
    func execute(_ query: Query) async throws {
        try await stores.appPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            try await transaction.execute(query)
        }
    }
}

extension Registration {
    /// The stored instance; nil for a refusal.
    var stored: (instance: Instance, isNew: Bool)? {
        if case .registered(let instance, let isNew, _, _) = self { (instance, isNew) } else { nil }
    }
}

import Administration
public import AppStoreSync
import Foundation
public import PostgreSQL
public import Tenancy

/// The tenants' connections to App Store Connect in PostgreSQL. Their keys are sealed. The role is `doorstep_admin`.
public struct PostgresStoreConnections: Sendable {
    private let pool: ConnectionPool
    private let keys: SealingKeys
    private let role: DatabaseRole

    public init(_ pool: ConnectionPool, keys: SealingKeys) {
        self.init(pool, keys: keys, as: .admin)
    }

    /// Creates the connections for a server. The role is `doorstep_app`, which cannot write connections.
    public init(serving pool: ConnectionPool, keys: SealingKeys) {
        self.init(pool, keys: keys, as: .app)
    }

    private init(_ pool: ConnectionPool, keys: SealingKeys, as role: DatabaseRole) {
        self.pool = pool
        self.keys = keys
        self.role = role
    }

    /// Connects a clip, replacing its previous connection.
    /// - Throws: `AdministrationError.unknownClip`.
    public func connect(
        _ clip: BundleID, by credentials: StoreCredentials, of tenant: TenantID, actor: String
    ) async throws -> StoreConnection {
        let place = Self.place(clip, credentials.keyID)
        let sealed = try keys.of(tenant).seal(Array(credentials.pem.utf8), at: place)
        do {
            return try await write(tenant, by: actor) { transaction in
                try StoreConnection(
                    row: try await transaction.execute(
                        """
                        INSERT INTO doorstep.app_store_connections
                            (tenant_id, bundle_id, key_id, issuer_id, sealed_secret)
                        VALUES (\(tenant.uuid), \(clip.text), \(credentials.keyID), \(credentials.issuerID), \(sealed))
                        ON CONFLICT (tenant_id, bundle_id) DO UPDATE
                        SET key_id = excluded.key_id, issuer_id = excluded.issuer_id,
                            sealed_secret = excluded.sealed_secret, connected_at = now()
                        RETURNING \(unsafeSQL: StoreConnection.columns)
                        """
                    ).one())
            }
        } catch let error as PostgreSQLError where error.isForeignKeyViolation() {
            throw AdministrationError.unknownClip(clip)
        }
    }

    /// Deletes a clip's key. Registered experiences remain.
    /// - Throws: `SyncError.notConnected`.
    public func disconnect(_ clip: BundleID, of tenant: TenantID, actor: String) async throws {
        let count = try await write(tenant, by: actor) {
            try await $0.delete(from: "app_store_connections", where: "bundle_id", is: clip.text)
        }
        guard count == 1 else { throw SyncError.notConnected(clip) }
    }

    /// All connections, sorted by clip.
    public func connections(of tenant: TenantID) async throws -> [StoreConnection] {
        try await pool.withTenantTransaction(tenant, as: role, .readOnly) {
            try await $0.storeConnections()
        }
    }

    /// The credentials that sign requests about a clip.
    /// - Throws: `SyncError.notConnected`, and `.unreadableKey`.
    public func credentials(
        of clip: BundleID, of tenant: TenantID
    ) async throws -> (key: StoreCredentials, app: BundleID) {
        let row = try await pool.withTenantTransaction(tenant, as: role, .readOnly) { transaction in
            try await transaction.execute(
                """
                SELECT key_id, issuer_id, sealed_secret, parent_bundle_id
                FROM doorstep.app_store_connections JOIN doorstep.clips USING (tenant_id, bundle_id)
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                """
            ).first?.decode(String.self, String?.self, [UInt8].self, String.self)
        }
        guard let (keyID, issuerID, sealed, app) = row else { throw SyncError.notConnected(clip) }
        guard let pem = keys.of(tenant).open(sealed, at: Self.place(clip, keyID)) else {
            throw SyncError.unreadableKey(clip)
        }
        let key = StoreCredentials(
            keyID: keyID, issuerID: issuerID, pem: String(decoding: pem, as: UTF8.self))
        return (key, try PersistenceError.reading("clips") { try BundleID(app) })
    }

    /// Encrypts a tenant's keys again, if the newest secret did not encrypt them.
    ///
    /// The audit log gets no entry, because nothing visible changes.
    public func reseal(of tenant: TenantID) async throws -> TokenResealing.Result {
        try await write(tenant, by: "") { transaction in
            // A connection that another process creates in the meantime uses that process's secrets. If these are old, the next call
            // encrypts the connection again.
            let rows = try await transaction.execute(
                """
                SELECT bundle_id, key_id, sealed_secret FROM doorstep.app_store_connections
                WHERE tenant_id = \(tenant.uuid) ORDER BY bundle_id FOR UPDATE
                """
            ).map { try $0.decode(String.self, String.self, [UInt8].self) }
            var result = TokenResealing.Result()
            let sealing = keys.of(tenant)
            for (bundleID, keyID, sealed) in rows where !keys.isNewest(sealed) {
                let place = Self.place(try BundleID(bundleID), keyID)
                guard let pem = sealing.open(sealed, at: place) else {
                    result.unreadable += 1
                    continue
                }
                try await transaction.execute(
                    """
                    UPDATE doorstep.app_store_connections SET sealed_secret = \(try sealing.seal(pem, at: place))
                    WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(bundleID)
                    """)
                result.resealed += 1
            }
            return result
        }
    }

    private func write<Result: Sendable>(
        _ tenant: TenantID, by actor: String, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await pool.withTenantTransaction(tenant, as: role, actor: actor, .readWrite, body)
    }

    /// A key that was copied to another row cannot be decrypted there.
    private static func place(_ clip: BundleID, _ keyID: String) -> [String] {
        ["app_store_connections", clip.text, keyID]
    }
}

extension TenantTransaction {
    /// The connections without their keys, sorted by clip.
    func storeConnections() async throws -> [StoreConnection] {
        try await execute(
            """
            SELECT \(unsafeSQL: StoreConnection.columns) FROM doorstep.app_store_connections
            WHERE tenant_id = \(tenant.uuid) ORDER BY bundle_id
            """
        ).map { try StoreConnection(row: $0) }
    }
}

extension StoreConnection {
    fileprivate static let columns = "bundle_id, key_id, issuer_id, connected_at"

    /// Reads the columns in ``columns``.
    fileprivate init(row: Row) throws {
        let (clip, keyID, issuerID, connectedAt) = try row.decode(
            String.self, String.self, String?.self, Date.self)
        self = try PersistenceError.reading("app_store_connections") {
            StoreConnection(
                clip: try BundleID(clip), keyID: keyID, issuerID: issuerID, connectedAt: connectedAt)
        }
    }
}

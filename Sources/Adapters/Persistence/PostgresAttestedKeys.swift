public import AppAttest
public import Confirmations
import Crypto
public import Foundation
public import PostgreSQL
public import Tenancy

/// Keys that devices attested, in PostgreSQL, as `doorstep_app`.
///
/// If the database does not respond, each function throws `StoreUnavailable`.
public struct PostgresAttestedKeys: AttestedKeys {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func add(
        _ key: AttestedKey, attestedBy attestation: [UInt8], of clip: BundleID, _ tenant: TenantID,
        at now: Date
    ) async throws -> KeyAddition {
        let digest = Data(SHA256.hash(data: attestation))
        // Ignores a version that the column cannot contain.
        let version = key.bundleVersion.flatMap { text in
            text.utf8.count <= 255 && !text.utf8.contains(0) ? text : nil
        }
        do {
            return try await reportingUnavailability {
                try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                    let added = try await transaction.execute(
                        """
                        INSERT INTO doorstep.attest_keys
                            (tenant_id, key_id, bundle_id, environment, public_key, attestation_digest, category,
                            bundle_version, attested_on, last_used_on)
                        VALUES (\(tenant.uuid), \(Data(key.id)), \(clip.text), \(key.environment.rawValue),
                            \(Data(key.publicKey)), \(digest), \(key.category.map { Int($0.rawValue) }),
                            \(version), (\(now) AT TIME ZONE 'UTC')::date, (\(now) AT TIME ZONE 'UTC')::date)
                        ON CONFLICT (tenant_id, key_id) DO NOTHING
                        """
                    ).affectedRows
                    guard added == 0 else { return .added }
                    let rows = try await transaction.execute(
                        """
                        SELECT FROM doorstep.attest_keys
                        WHERE tenant_id = \(tenant.uuid) AND key_id = \(Data(key.id)) AND bundle_id = \(clip.text)
                            AND attestation_digest = \(digest)
                        """)
                    return rows.isEmpty ? .taken : .repeated
                }
            }
        } catch let error as PostgreSQLError where error.isForeignKeyViolation() {
            return .unknownClip
        }
    }

    public func key(_ id: [UInt8], of tenant: TenantID) async throws -> RegisteredKey? {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app, .readOnly) { transaction in
                let rows = try await transaction.execute(
                    """
                    SELECT bundle_id, environment, category, public_key, counter FROM doorstep.attest_keys
                    WHERE tenant_id = \(tenant.uuid) AND key_id = \(Data(id))
                    """)
                return try rows.first.map { row in
                    let (clip, environment, category, publicKey, counter) = try row.decode(
                        String.self, String.self, Int16?.self, Data.self, Int.self)
                    return try PersistenceError.reading("attest_keys") {
                        guard let environment = AttestationEnvironment(rawValue: environment),
                            let counter = UInt32(exactly: counter)
                        else { throw PersistenceError.unreadable("attest_keys") }
                        return RegisteredKey(
                            clip: try BundleID(clip), environment: environment,
                            category: category.flatMap { UInt32(exactly: $0) }.flatMap(
                                ValidationCategory.init(rawValue:)),
                            publicKey: Array(publicKey), counter: counter)
                    }
                }
            }
        }
    }

    public func advance(
        _ id: [UInt8], to counter: UInt32, of tenant: TenantID, at now: Date
    ) async throws -> Bool {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                // If two transactions have the same counter, the second waits for the first, and then finds that the stored
                // counter is not smaller.
                try await transaction.execute(
                    """
                    UPDATE doorstep.attest_keys SET counter = \(Int(counter)), last_used_on = (\(now) AT TIME ZONE 'UTC')::date
                    WHERE tenant_id = \(tenant.uuid) AND key_id = \(Data(id)) AND counter < \(Int(counter))
                    """
                ).affectedRows == 1
            }
        }
    }
}

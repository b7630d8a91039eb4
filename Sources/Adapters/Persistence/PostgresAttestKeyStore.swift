import Administration
import AppAttest
import Foundation
import PostgreSQL
import Tenancy

/// A tenant's keys of App Attest, for their management.
struct PostgresAttestKeyStore: AttestKeyStore {
    let store: PostgresAdministrationStore

    func keys(of tenant: TenantID, after: AttestKeyID?, limit: Int) async throws -> [AttestKeyRecord] {
        try await store.read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT key_id, k.bundle_id, k.environment, k.category, k.bundle_version, k.attested_on::text,
                    k.last_used_on::text, r.revoked_at
                FROM doorstep.attest_keys AS k LEFT JOIN doorstep.revoked_attest_keys AS r USING (tenant_id, key_id)
                WHERE tenant_id = \(tenant.uuid) AND key_id > \(Data(after?.bytes ?? []))
                ORDER BY key_id LIMIT \(limit)
                """
            ).map { try AttestKeyRecord(row: $0) }
        }
    }

    func revoke(_ id: AttestKeyID, of tenant: TenantID, by actor: String) async throws -> Bool {
        try await store.writeUntilVisible(tenant, by: actor) { transaction in
            let isKnown: Bool = try await transaction.execute(
                """
                WITH known AS (
                    SELECT key_id FROM doorstep.attest_keys
                    WHERE tenant_id = \(tenant.uuid) AND key_id = \(Data(id.bytes))
                ), revoked AS (
                    INSERT INTO doorstep.revoked_attest_keys (tenant_id, key_id)
                    SELECT \(tenant.uuid), key_id FROM known
                    ON CONFLICT (tenant_id, key_id) DO NOTHING
                )
                SELECT EXISTS (SELECT FROM known)
                """
            ).one().decode(at: 0)
            guard isKnown else { throw AdministrationError.unknownAttestKey }
        }.isVisible
    }
}

extension AttestKeyRecord {
    fileprivate init(row: Row) throws {
        let (id, clip, environment, category, version, attestedOn, lastUsedOn, revokedAt) = try row.decode(
            Data.self, String.self, String.self, Int?.self, String?.self, String.self, String.self,
            Date?.self)
        self = try PersistenceError.reading("attest_keys") {
            guard let id = AttestKeyID(Array(id)),
                let environment = AttestationEnvironment(rawValue: environment)
            else { throw PersistenceError.unreadable("attest_keys") }
            let build = AttestedBuild(
                environment: environment,
                category: category.flatMap { UInt32(exactly: $0) }.flatMap(ValidationCategory.init))
            return AttestKeyRecord(
                id: id, clip: try BundleID(clip), build: build, bundleVersion: version,
                attestedOn: attestedOn, lastUsedOn: lastUsedOn, revokedAt: revokedAt)
        }
    }
}

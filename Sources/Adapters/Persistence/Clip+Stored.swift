public import Administration
import AppAttest
import PostgreSQL
import Tenancy

extension TenantTransaction {
    /// All clips, sorted by bundle ID.
    func clips() async throws -> [Clip] {
        try await items(after: nil, limit: .max)
    }
}

extension Clip: StoredResource {
    static let relation = "clips"

    func refusal(_ error: PostgreSQLError) -> any Error { card.refusal(error, in: "clips") ?? error }

    /// Unless forced, refuses a policy that would refuse requests before enough attested requests were counted.
    func check(replacing before: Clip?, force: Bool, _ transaction: TenantTransaction) async throws {
        guard !force, let attestation else { return }
        for operation in ClipAttestation.Operation.allCases
        where attestation.isStricter(than: before?.attestation, for: operation) {
            let mustBeSigned = attestation.requiresSignature(of: operation)
            let seen = try await transaction.execute(
                """
                SELECT coalesce(sum(signed + CASE WHEN \(mustBeSigned) THEN 0 ELSE by_token END), 0)::bigint
                FROM doorstep.attestation_days
                WHERE tenant_id = \(transaction.tenant.uuid) AND bundle_id = \(bundleID.text)
                    AND operation = \(operation.rawValue)
                    AND day > (now() AT TIME ZONE 'UTC')::date - \(MonitoredAttestations.days)::integer
                """
            ).one().decode(at: 0, as: Int.self)
            guard seen >= MonitoredAttestations.required else {
                throw AdministrationError.monitoredTooLittle(operation, seen: seen)
            }
        }
    }

    static let canBeReferredTo = true

    static func delete(
        _ bundleID: BundleID, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        try await transaction.delete(
            "clip \(bundleID)", from: "clips", where: "bundle_id", is: bundleID.text,
            dependents: [
                Reference(relation: "experiences", column: "bundle_id", name: "kind || ' ' || url"),
                Reference(relation: "instances", column: "bundle_id", name: "instance_id::text"),
                Reference(relation: "channels", column: "bundle_id", name: "channel_id"),
                Reference(relation: "app_store_connections", column: "bundle_id", name: "key_id"),
            ], cascade: cascade)
    }
}

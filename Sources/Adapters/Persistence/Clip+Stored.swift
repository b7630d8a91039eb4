public import Administration
import AppAttest
import AppSiteAssociation
import Cards
import JSON
import PostgreSQL
import Tenancy

extension TenantTransaction {
    /// By bundle ID.
    func clips() async throws -> [Clip] {
        try await execute(
            """
            SELECT \(unsafeSQL: Clip.columns) FROM doorstep.clips
            WHERE tenant_id = \(tenant.uuid) ORDER BY bundle_id
            """
        ).map { try Clip(row: $0) }
    }
}

extension Clip: StoredItem {
    static func page(
        of tenant: TenantID, after: BundleID?, limit: Int, where filter: [String: String]
    ) -> Query {
        """
        SELECT \(unsafeSQL: columns) FROM doorstep.clips
        WHERE tenant_id = \(tenant.uuid) AND bundle_id > \(after?.text ?? "")
        ORDER BY bundle_id LIMIT \(limit)
        """
    }

    static func selection(_ bundleID: BundleID, of tenant: TenantID, lock: String) -> Query {
        """
        SELECT \(unsafeSQL: columns) FROM doorstep.clips
        WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(bundleID.text) \(unsafeSQL: lock)
        """
    }

    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.clips
            (tenant_id, bundle_id, parent_bundle_id, team_id, app_id_prefix, multi_business, attestation,
            app_store_id, android_url, site_name, card, card_image)
        VALUES (\(tenant.uuid), \(bundleID.text), \(parentBundleID.text), \(teamID.text), \(ownAppIDPrefix?.text),
            \(isMultiBusiness), \(storedAttestation)::jsonb, \(links.appStoreID), \(links.androidURL),
            \(links.siteName?.text), \(card.stored.json)::jsonb, \(card.stored.image))
        ON CONFLICT (tenant_id, bundle_id) DO NOTHING
        """
    }

    func update(of tenant: TenantID) -> Query {
        """
        UPDATE doorstep.clips
        SET parent_bundle_id = \(parentBundleID.text), team_id = \(teamID.text), app_id_prefix = \(ownAppIDPrefix?.text), multi_business = \(isMultiBusiness),
            attestation = \(storedAttestation)::jsonb, app_store_id = \(links.appStoreID),
            android_url = \(links.androidURL), site_name = \(links.siteName?.text),
            card = \(card.stored.json)::jsonb, card_image = \(card.stored.image)
        WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(bundleID.text)
        """
    }

    func refusal(_ error: PostgreSQLError) -> any Error { card.refusal(error, in: "clips") ?? error }

    /// What would refuse requests waits until enough of them were seen to bring what is required, unless that is insisted on.
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

    fileprivate static let columns = """
        bundle_id, parent_bundle_id, team_id, app_id_prefix, multi_business, attestation::text, app_store_id, \
        android_url, site_name, \(Card.storedColumns)
        """

    /// Takes ``columns``.
    init(row: Row) throws {
        let (
            bundleID, parent, teamID, prefix, isMultiBusiness, attestation, appStoreID, androidURL, siteName,
            card,
            image
        ) = try row.decode(
            String.self, String.self, String.self, String?.self, Bool.self, String?.self, String?.self,
            String?.self,
            String?.self, JSONText?.self, String?.self)
        self = try PersistenceError.reading("clips") {
            try Clip(
                bundleID: BundleID(bundleID), parentBundleID: BundleID(parent), teamID: TeamID(teamID),
                appIDPrefix: prefix.map { try AppIDPrefix($0) }, isMultiBusiness: isMultiBusiness,
                attestation: attestation.map { text in
                    try ClipAttestation(JSONObjectReader(JSONValue(parsing: Array(text.utf8))))
                },
                links: ClipLinks(
                    appStoreID: appStoreID, androidURL: androidURL,
                    siteName: siteName.map { try DisplayName(stored: $0) }),
                card: Card(stored: card, image: image))
        }
    }

    private var storedAttestation: String? {
        attestation.map { JSONValue.object($0.json).text }
    }
}

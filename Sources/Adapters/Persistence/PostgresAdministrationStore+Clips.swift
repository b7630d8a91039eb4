public import Administration
import AppSiteAssociation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func createClip(_ clip: Clip, of tenant: TenantID) async throws {
        do {
            try await write(tenant) { try await $0.add(clip) }
        } catch let error as PostgreSQLError where error.isUniqueViolation("clips_pkey") {
            throw AdministrationError.clipExists(clip.bundleID)
        }
    }

    /// By bundle ID.
    public func clips(of tenant: TenantID) async throws -> [Clip] {
        try await read(tenant) { try await $0.clips() }
    }

    public func clip(_ bundleID: BundleID, of tenant: TenantID) async throws -> Clip {
        try await read(tenant) { try await $0.clip(bundleID) }
    }

    /// Changes a clip to what the closure makes of it; what identifies it stays.
    public func updateClip(
        _ bundleID: BundleID, of tenant: TenantID, _ change: (Clip) throws -> Clip
    ) async throws -> Clip {
        try await write(tenant) { transaction in
            let clip = try change(try await transaction.clip(bundleID, "FOR UPDATE"))
            try await transaction.execute(
                """
                UPDATE doorstep.clips
                SET team_id = \(clip.teamID.text), app_id_prefix = \(clip.ownAppIDPrefix?.text),
                    multi_business = \(clip.isMultiBusiness)
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(bundleID.text)
                """)
            return clip
        }
    }

    /// Deletes a clip; with `cascade` its experiences, instances and channels too.
    /// - Returns: How many rows went, by relation.
    /// - Throws: `AdministrationError.unknownClip`; `inUse` when something refers to it and does not go too.
    public func deleteClip(
        _ bundleID: BundleID, of tenant: TenantID, cascade: Bool
    ) async throws -> [RowCount] {
        try await delete(
            "clip \(bundleID)", from: "clips", where: "bundle_id", is: bundleID.text, of: tenant,
            referents: [
                Reference(relation: "experiences", column: "bundle_id", name: "kind || ' ' || url"),
                Reference(relation: "instances", column: "bundle_id", name: "instance_id::text"),
                Reference(relation: "channels", column: "bundle_id", name: "channel_id"),
            ], cascade: cascade, unknown: .unknownClip(bundleID))
    }
}

extension TenantTransaction {
    func add(_ clip: Clip) async throws {
        try await execute(
            """
            INSERT INTO doorstep.clips
                (tenant_id, bundle_id, parent_bundle_id, team_id, app_id_prefix, multi_business)
            VALUES (\(tenant.uuid), \(clip.bundleID.text), \(clip.parentBundleID.text),
                \(clip.teamID.text), \(clip.ownAppIDPrefix?.text), \(clip.isMultiBusiness))
            """)
    }

    /// By bundle ID.
    func clips() async throws -> [Clip] {
        try await execute(
            """
            SELECT \(unsafeSQL: Clip.columns) FROM doorstep.clips
            WHERE tenant_id = \(tenant.uuid) ORDER BY bundle_id
            """
        ).map { try Clip(row: $0) }
    }

    fileprivate func clip(_ bundleID: BundleID, _ lock: String = "") async throws -> Clip {
        let rows = try await execute(
            """
            SELECT \(unsafeSQL: Clip.columns) FROM doorstep.clips
            WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(bundleID.text) \(unsafeSQL: lock)
            """)
        guard let row = rows.first else { throw AdministrationError.unknownClip(bundleID) }
        return try Clip(row: row)
    }
}

extension Clip {
    fileprivate static let columns = "bundle_id, team_id, app_id_prefix, multi_business"

    /// Takes ``columns``.
    fileprivate init(row: Row) throws {
        let (bundleID, teamID, prefix, isMultiBusiness) = try row.decode(
            String.self, String.self, String?.self, Bool.self)
        self = try PersistenceError.reading("clips") {
            try Clip(
                bundleID: BundleID(bundleID), teamID: TeamID(teamID),
                appIDPrefix: prefix.map { try AppIDPrefix($0) }, isMultiBusiness: isMultiBusiness)
        }
    }
}

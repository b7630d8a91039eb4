public import Administration
import Foundation
import Geodesy
public import Invocation
import JSON
import PostgreSQL
import Routing
public import Tenancy

extension PostgresAdministrationStore {
    public func importLocations(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<LocationRecord>, any Error>
    ) async throws -> ImportOutcome {
        try await importTable(of: tenant, LocationStaging(), rows)
    }

    /// By identifier, up to `limit`.
    public func locations(
        of tenant: TenantID, after: LocationIdentifier?, limit: Int
    ) async throws -> [LocationRecord] {
        try await items(of: tenant, after: after, limit: limit)
    }

    public func location(
        _ identifier: LocationIdentifier, of tenant: TenantID
    ) async throws -> LocationRecord {
        try await item(identifier, of: tenant)
    }

    public func createLocation(_ record: LocationRecord, of tenant: TenantID) async throws {
        try await create(record, of: tenant, existing: .locationExists(record.identifier))
    }

    /// Changes a location to what the closure makes of it; what identifies it stays.
    public func updateLocation(
        _ identifier: LocationIdentifier, of tenant: TenantID,
        _ change: (LocationRecord) throws -> LocationRecord
    ) async throws -> LocationRecord {
        try await update(identifier, of: tenant, change)
    }

    /// Deletes a location; with `cascade` the experiences that are bound to it too.
    /// - Returns: How many rows went, by relation.
    /// - Throws: `AdministrationError.unknownLocation`; `inUse` when an experience is bound to it and does not go too.
    public func deleteLocation(
        _ identifier: LocationIdentifier, of tenant: TenantID, cascade: Bool
    ) async throws -> [RowCount] {
        try await delete(LocationRecord.self, identifier, of: tenant, cascade: cascade)
    }
}

extension LocationRecord: StoredItem {
    static func page(
        of tenant: TenantID, after: LocationIdentifier?, limit: Int, where filter: [String: String]
    ) -> Query {
        """
        SELECT \(unsafeSQL: columnList) FROM doorstep.locations
        WHERE tenant_id = \(tenant.uuid) AND identifier > \(after?.text ?? "")
        ORDER BY identifier LIMIT \(limit)
        """
    }

    static func selection(_ identifier: LocationIdentifier, of tenant: TenantID, lock: String) -> Query {
        """
        SELECT \(unsafeSQL: columnList) FROM doorstep.locations
        WHERE tenant_id = \(tenant.uuid) AND identifier = \(identifier.text) \(unsafeSQL: lock)
        """
    }

    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.locations (tenant_id, \(unsafeSQL: Self.columnList))
        SELECT \(tenant.uuid), \(unsafeSQL: Self.columnList)
        FROM jsonb_populate_record(NULL::doorstep.locations, \(jsonText))
        ON CONFLICT (tenant_id, identifier) DO NOTHING
        """
    }

    func update(of tenant: TenantID) -> Query {
        """
        UPDATE doorstep.locations SET (\(unsafeSQL: Self.changeableList)) = (
            SELECT \(unsafeSQL: Self.changeableList)
            FROM jsonb_populate_record(NULL::doorstep.locations, \(jsonText)))
        WHERE tenant_id = \(tenant.uuid) AND identifier = \(identifier.text)
        """
    }

    static let canBeReferredTo = true

    static func delete(
        _ identifier: LocationIdentifier, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        try await transaction.delete(
            "location '\(identifier)'", from: "locations", where: "identifier", is: identifier.text,
            referents: [
                Reference(relation: "experiences", column: "location_identifier", name: "kind || ' ' || url")
            ], cascade: cascade)
    }
}

extension LocationRecord {
    /// The columns of a record, what identifies it first, as ``init(row:)`` reads them and ``fields`` has them.
    private static let columns = [
        "identifier", "name", "latitude", "longitude", "radius", "metadata", "details",
    ]
    static let columnList = columns.joined(separator: ", ")
    fileprivate static let changeableList = changeable()

    /// The columns that can change, each with something before its name.
    fileprivate static func changeable(_ prefix: String = "") -> String {
        columns.dropFirst().map { prefix + $0 }.joined(separator: ", ")
    }

    init(row: Row) throws {
        let (identifier, name, latitude, longitude, radius, metadata, details) = try row.decode(
            String.self, String.self, Double.self, Double.self, Double.self, JSONText.self, JSONText?.self)
        self = try PersistenceError.reading("locations") {
            LocationRecord(
                identifier: try LocationIdentifier(identifier), name: try DisplayName(name),
                region: try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius)),
                metadata: try metadata.members, details: try LocationDetails(details?.members ?? [:]))
        }
    }

    /// What COPY writes into the columns.
    fileprivate var fields: [String?] {
        [
            identifier.text, name.text, region.center.latitude.description,
            region.center.longitude.description, region.radius.meters.description,
            String(decoding: JSONValue.object(metadata).serialized(), as: UTF8.self),
            details.isEmpty ? nil : String(decoding: details.json, as: UTF8.self),
        ]
    }

    fileprivate var jsonText: JSONText {
        JSONText(String(decoding: JSONValue.object(json).serialized(), as: UTF8.self))
    }
}

extension JSONText {
    fileprivate var members: JSONObject {
        get throws { try JSONValue(parsing: text.utf8).objectValue ?? [:] }
    }
}

// MARK: - History

extension PostgresAdministrationStore {
    /// The location's changes, the newest first, up to `limit`; those of one that was deleted too.
    public func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [AuditEntry] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: AuditEntry.columns) FROM doorstep.audit_log
                WHERE tenant_id = \(tenant.uuid) AND relation = 'locations'
                    AND coalesce(after, before) ->> 'identifier' = \(identifier.text)
                ORDER BY entry_id DESC LIMIT \(limit)
                """
            ).map { try AuditEntry(row: $0) }
        }
    }
}

// MARK: - Import

/// How locations are imported.
struct LocationStaging: Staging {
    static let table: Query = """
        CREATE TEMPORARY TABLE staged ON COMMIT DROP AS
        SELECT 0::bigint AS line, \(unsafeSQL: LocationRecord.columnList) FROM doorstep.locations WITH NO DATA
        """

    func fields(of row: LocationRecord) -> [String?] { row.fields }

    func problems(of tenant: TenantID) -> [Query] {
        [
            """
            SELECT line, 'identifier: it is on line ' || first || ' already' FROM (
                SELECT line, min(line) OVER (PARTITION BY identifier) AS first FROM pg_temp.staged
                WHERE identifier IN (SELECT identifier FROM pg_temp.staged GROUP BY identifier HAVING count(*) > 1)
            ) repeated
            WHERE line > first ORDER BY line
            """
        ]
    }

    func merge(into tenant: TenantID) -> Query {
        """
        WITH merged AS (
        INSERT INTO doorstep.locations AS l (tenant_id, \(unsafeSQL: LocationRecord.columnList))
        SELECT \(tenant.uuid), \(unsafeSQL: LocationRecord.columnList) FROM pg_temp.staged
        ON CONFLICT (tenant_id, identifier) DO UPDATE
        SET (\(unsafeSQL: LocationRecord.changeableList)) = ROW (\(unsafeSQL: LocationRecord.changeable("excluded.")))
        WHERE (\(unsafeSQL: LocationRecord.changeable("l."))) IS DISTINCT FROM
            (\(unsafeSQL: LocationRecord.changeable("excluded.")))
        RETURNING xmax = 0 AS is_new)
        SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new) FROM merged
        """
    }
}

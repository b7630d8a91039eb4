public import Administration
import Cards
import Foundation
import Geodesy
public import Invocation
import JSON
import Lookups
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func importLocations(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<LocationRecord>, any Error>,
        _ options: ImportOptions = ImportOptions()
    ) async throws -> ImportOutcome {
        try await importRows(of: tenant, rows, options)
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
        UPDATE doorstep.locations SET (\(unsafeSQL: Self.changeable())) = (
            SELECT \(unsafeSQL: Self.changeable())
            FROM jsonb_populate_record(NULL::doorstep.locations, \(jsonText)))
        WHERE tenant_id = \(tenant.uuid) AND identifier = \(identifier.text)
        """
    }

    func refusal(_ error: PostgreSQLError) -> any Error {
        card.refusal(error, in: Self.relation) ?? error
    }

    static let canBeReferredTo = true

    static func delete(
        _ identifier: LocationIdentifier, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        try await transaction.delete(
            "location '\(identifier)'", from: "locations", where: "identifier", is: identifier.text,
            dependents: [experiences], cascade: cascade)
    }
}

extension LocationRecord {
    /// Those that are bound to it.
    fileprivate static let experiences = Reference(
        relation: "experiences", column: "location_identifier", name: "kind || ' ' || url")

    /// Takes ``columnList``.
    init(row: Row) throws {
        let (identifier, name, latitude, longitude, radius, metadata, details, card, image) =
            try row.decode(
                String.self, String.self, Double.self, Double.self, Double.self, JSONText.self,
                JSONText?.self, JSONText?.self, String?.self)
        self = try PersistenceError.reading("locations") {
            LocationRecord(
                identifier: try LocationIdentifier(identifier), name: try DisplayName(stored: name),
                region: try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius)),
                metadata: try metadata.members, details: try LocationDetails(details?.members ?? [:]),
                card: try Card(stored: card, image: image))
        }
    }

    /// The row's columns by their names.
    fileprivate var jsonText: JSONText {
        var columns = json
        let stored = card.stored
        columns["card"] = stored.json.flatMap { try? JSONValue(parsing: $0.utf8) }
        columns["card_image"] = stored.image.map(JSONValue.string)
        return JSONText(JSONValue.object(columns).text)
    }
}

extension JSONText {
    fileprivate var members: JSONObject {
        get throws { try JSONValue(parsing: text.utf8).objectValue ?? [:] }
    }
}

// MARK: - Import

extension LocationRecord: StagedItem {
    static let relation = "locations"
    static let quota = QuotaKind.locations
    static let keyColumns = ["identifier"]
    static let keyField = "identifier"
    static let changeableColumns: [StagedColumn] =
        [
            StagedColumn("name", "text", .required),
            StagedColumn("latitude", "double precision", .required),
            StagedColumn("longitude", "double precision", .required),
            StagedColumn("radius", "double precision", .required),
            StagedColumn("metadata", "jsonb", .names(empty: "'{}'::jsonb")),
            StagedColumn("details", "jsonb", .names(empty: "NULL::jsonb")),
        ] + Card.stagedColumns
    static var reference: Reference? { experiences }

    static func key(from columns: [String]) throws -> LocationIdentifier {
        try PersistenceError.reading(relation) { try LocationIdentifier(columns.first ?? "") }
    }

    var stagedCard: Card? { card }

    func fields(with card: Card?) -> [String?] {
        [
            identifier.text, name.text, region.center.latitude.description,
            region.center.longitude.description, region.radius.meters.description,
            JSONValue.object(metadata).text,
            details.isEmpty ? nil : String(decoding: details.json, as: UTF8.self),
        ] + Card.staged(card)
    }

    static func problems(of tenant: TenantID, prunes: Bool) -> [Query] {
        [longDetails(of: tenant), Card.unknownImages(of: tenant)]
    }
}

// MARK: - History

extension PostgresAdministrationStore {
    /// The location's changes, the newest first, up to `limit`; those of one that was deleted too.
    /// - Parameter newest: among how many of the tenant's changes they are looked for; nil for all, which may take long.
    public func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int, among newest: Int? = nil
    ) async throws -> [AuditEntry] {
        try await read(tenant) { transaction in
            // No index has the identifiers: each would make every import slower.
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: AuditEntry.columns) FROM (
                    SELECT * FROM doorstep.audit_log WHERE tenant_id = \(tenant.uuid)
                    ORDER BY entry_id DESC LIMIT \(newest ?? .max)) AS newest
                WHERE relation = 'locations' AND coalesce(after, before) ->> 'identifier' = \(identifier.text)
                ORDER BY entry_id DESC LIMIT \(limit)
                """
            ).map { try AuditEntry(row: $0) }
        }
    }
}

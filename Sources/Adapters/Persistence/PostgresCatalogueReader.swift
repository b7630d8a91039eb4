import Administration
import Foundation
import Geodesy
import Invocation
import JSON
import PostgreSQL
import Tenancy

/// Reads a tenant's rows in one transaction of one snapshot, by cursors.
struct PostgresCatalogueReader: CatalogueReader {
    let tenant: Tenant
    private let transaction: TenantTransaction

    private static let rowsAtATime = 2_000

    init(_ transaction: TenantTransaction, _ tenant: Tenant) {
        self.transaction = transaction
        self.tenant = tenant
    }

    func clips() async throws -> [Clip] {
        try await transaction.clips()
    }

    func domains() async throws -> [DomainRecord] {
        try await transaction.domains()
    }

    func furtherLocationColumns() async throws -> [String] {
        try await transaction.execute(
            """
            SELECT DISTINCT key COLLATE "C" AS key
            FROM doorstep.locations, LATERAL (
                SELECT jsonb_object_keys(metadata) UNION ALL SELECT 'details.' || jsonb_object_keys(details)
            ) AS k (key)
            WHERE tenant_id = \(tenant.id.uuid) ORDER BY key
            """
        ).map { try $0.decode(String.self) }
    }

    func eachLocation(_ body: (LocationRecord) throws -> Void) async throws {
        try await eachRow(
            """
            DECLARE catalogue NO SCROLL CURSOR FOR
            SELECT \(unsafeSQL: LocationRecord.columnList) FROM doorstep.locations
            WHERE tenant_id = \(tenant.id.uuid) ORDER BY identifier
            """
        ) { try body(LocationRecord(row: $0)) }
    }

    func eachExperience(_ body: (ExperienceRecord) throws -> Void) async throws {
        try await eachRow(
            """
            DECLARE catalogue NO SCROLL CURSOR FOR
            SELECT url, kind, bundle_id, location_identifier, identifier_rule, title, subtitle
            FROM doorstep.experiences WHERE tenant_id = \(tenant.id.uuid) ORDER BY url, kind
            """
        ) { try body(ExperienceRecord(row: $0)) }
    }

    func eachShortCode(_ body: (ShortCode) throws -> Void) async throws {
        try await eachRow(
            """
            DECLARE catalogue NO SCROLL CURSOR FOR
            SELECT code, url FROM doorstep.short_codes WHERE tenant_id = \(tenant.id.uuid) ORDER BY code
            """
        ) { try body(ShortCode(row: $0)) }
    }

    /// - Parameter declaration: of a cursor named `catalogue`.
    private func eachRow(_ declaration: Query, _ body: (Row) throws -> Void) async throws {
        try await transaction.execute(declaration)
        while true {
            let rows = try await transaction.execute(
                "FETCH \(unsafeSQL: String(Self.rowsAtATime)) FROM catalogue")
            for row in rows { try body(row) }
            guard rows.count == Self.rowsAtATime else { break }
        }
        try await transaction.execute("CLOSE catalogue")
    }
}

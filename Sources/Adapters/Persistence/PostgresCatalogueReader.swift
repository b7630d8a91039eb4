import Administration
import Cards
import Foundation
import Geodesy
import Invocation
import JSON
import PostgreSQL
import Tenancy

/// Reads a tenant's rows with cursors, in one transaction with one snapshot.
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

    func eachImage(_ body: (CardImage) throws -> Void) async throws {
        // Reads one file at a time, because all files together may not fit into memory.
        var last: ImageDigest?
        repeat {
            let images: [CardImage] = try await transaction.items(after: last, limit: Self.rowsAtATime)
            for image in images {
                guard let file = try await transaction.file(of: image.key) else {
                    throw PersistenceError.unreadable("card_images")
                }
                try body(CardImage(file: file, addedAt: image.addedAt))
            }
            last = images.last?.key
        } while last != nil
    }

    func domains() async throws -> [DomainRecord] {
        try await transaction.domains()
    }

    func furtherLocationColumns() async throws -> [String] {
        let columns = try await transaction.execute(
            """
            SELECT DISTINCT key COLLATE "C", is_metadata
            FROM doorstep.locations, LATERAL (
                SELECT jsonb_object_keys(metadata), true
                UNION ALL SELECT 'details.' || jsonb_object_keys(details), false
            ) AS k (key, is_metadata)
            WHERE tenant_id = \(tenant.id.uuid)
            """
        ).map { row in
            let (name, isMetadata) = try row.decode(String.self, Bool.self)
            return isMetadata ? LocationRecord.column(ofMetadata: name) : name
        }
        return (columns + (try await cardColumns(of: LocationRecord.relation))).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }

    func furtherExperienceColumns() async throws -> [String] {
        try await cardColumns(of: ExperienceRecord.relation).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }

    /// The columns of all cards of a relation, in any order.
    private func cardColumns(of relation: String) async throws -> Set<String> {
        var columns: Set<String> = []
        try await eachRow(
            """
            DECLARE catalogue NO SCROLL CURSOR FOR
            SELECT \(unsafeSQL: Card.storedColumns) FROM doorstep.\(identifier: relation)
            WHERE tenant_id = \(tenant.id.uuid) AND num_nonnulls(card, card_image) > 0
            """
        ) { row in
            let (json, image) = try row.decode(JSONText?.self, String?.self)
            columns.formUnion(try Card(stored: json, image: image).furtherFields.keys)
        }
        return columns
    }

    func eachLocation(_ body: (LocationRecord) throws -> Void) async throws {
        try await each("identifier", body)
    }

    func eachExperience(_ body: (ExperienceRecord) throws -> Void) async throws {
        try await each("url, kind", body)
    }

    func eachShortCode(_ body: (ShortCode) throws -> Void) async throws { try await each("code", body) }

    private func each<Item: StoredResource>(_ order: String, _ body: (Item) throws -> Void) async throws {
        try await eachPart(
            """
            DECLARE catalogue NO SCROLL CURSOR FOR
            SELECT \(unsafeSQL: Item.columnList) FROM doorstep.\(identifier: Item.relation)
            WHERE tenant_id = \(tenant.id.uuid) ORDER BY \(unsafeSQL: order)
            """
        ) { for item in try Item.items(in: $0) { try body(item) } }
    }

    private func eachRow(_ declaration: Query, _ body: (Row) throws -> Void) async throws {
        try await eachPart(declaration) { for row in $0 { try body(row) } }
    }

    /// - Parameter declaration: Declares a cursor named `catalogue`.
    private func eachPart(_ declaration: Query, _ body: (QueryResult) throws -> Void) async throws {
        try await transaction.execute(declaration)
        while true {
            let rows = try await transaction.execute(
                "FETCH \(unsafeSQL: String(Self.rowsAtATime)) FROM catalogue")
            try body(rows)
            guard rows.count == Self.rowsAtATime else { break }
        }
        try await transaction.execute("CLOSE catalogue")
    }
}

import Administration
import Cards
import Formats
import Foundation
import Geodesy
import Invocation
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

    func furtherColumns<Item: CollectionResource>(of _: Item.Type) async throws -> [String] {
        var columns: Set<String> = []
        if Item.fields.contains(where: { $0.type == .texts }) { columns.formUnion(try await textColumns()) }
        if Item.fields.contains(where: { $0.type == .card }) {
            columns.formUnion(try await cardColumns(of: try Self.stored(Item.self).relation))
        }
        return columns.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The columns of the metadata and details of all locations, in any order. No other kind has fields of texts.
    private func textColumns() async throws -> [String] {
        try await transaction.execute(
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

    func each<Item: CollectionResource>(_: Item.Type, _ body: (Item) throws -> Void) async throws {
        try await eachStored(try Self.stored(Item.self), body)
    }

    /// The kind with its table.
    private static func stored<Item: CollectionResource>(
        _: Item.Type
    ) throws -> any ImportedResource.Type {
        guard
            let stored = PostgresAdministrationStore.collections.first(where: {
                $0.collection == Item.collection
            })
        else { throw PersistenceError.unreadable(Item.collection) }
        return stored
    }

    /// - Parameter body: takes the same type of items, which the compiler does not know.
    private func eachStored<Stored: ImportedResource, Item: CollectionResource>(
        _: Stored.Type, _ body: (Item) throws -> Void
    ) async throws {
        try await eachPart(
            """
            DECLARE catalogue NO SCROLL CURSOR FOR
            SELECT \(unsafeSQL: Stored.columnList) FROM doorstep.\(identifier: Stored.relation)
            WHERE tenant_id = \(tenant.id.uuid) ORDER BY \(unsafeSQL: Stored.exportOrder)
            """
        ) { rows in
            for stored in try Stored.items(in: rows) {
                guard let item = stored as? Item else { throw PersistenceError.unreadable(Stored.relation) }
                try body(item)
            }
        }
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

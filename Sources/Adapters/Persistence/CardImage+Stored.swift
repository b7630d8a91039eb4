public import Administration
public import Cards
import PostgreSQL
public import Tenancy

extension CardImage: StoredResource {
    static let relation = "card_images"

    /// Differs from the default: it does not lock the image, because a lock requires the right to change images. A transaction that
    /// adds a card with this image locks it.
    static func selection(_ digest: ImageDigest, of tenant: TenantID, lock: String) -> Query {
        """
        SELECT \(unsafeSQL: columnList) FROM doorstep.card_images
        WHERE tenant_id = \(tenant.uuid) AND sha256 = \(digest.description)
        """
    }

    /// Differs from the default: the statement also stores the file.
    func insertion(into tenant: TenantID) -> Query {
        """
        WITH added AS (
            INSERT INTO doorstep.card_images (tenant_id, sha256, media_type, byte_count, added_at)
            VALUES (\(tenant.uuid), \(key.description), \(format.rawValue), \(byteCount), \(addedAt))
            ON CONFLICT (tenant_id, sha256) DO NOTHING
            RETURNING tenant_id, sha256)
        INSERT INTO doorstep.card_image_bytes (tenant_id, sha256, bytes)
        SELECT tenant_id, sha256, \(file ?? []) FROM added
        """
    }

    /// Changes nothing, because the digest identifies the content. No role may update an image.
    func update(of tenant: TenantID) -> Query { Self.selection(key, of: tenant, lock: "") }

    static let canBeReferredTo = true

    /// With `cascade`, removes the image from the cards that name it.
    static func delete(
        _ digest: ImageDigest, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        do {
            return try await transaction.delete(
                "image \(digest)", from: "card_images", where: "sha256", is: digest.description,
                dependents: references, cascade: cascade)
        } catch let error as PostgreSQLError where error.isForeignKeyViolation() {
            // Since the check, another transaction has added a card with this image.
            throw AdministrationError.conflict
        }
    }

    fileprivate static let references = [
        Reference(relation: "clips", column: "card_image", name: "bundle_id", isCleared: true),
        Reference(relation: "locations", column: "card_image", name: "identifier", isCleared: true),
        Reference(
            relation: "experiences", column: "card_image", name: "kind || ' ' || url", isCleared: true),
    ]
}

extension TenantTransaction {
    /// Nil if the image does not exist.
    func file(of image: ImageDigest) async throws -> [UInt8]? {
        try await execute(
            """
            SELECT bytes FROM doorstep.card_image_bytes
            WHERE tenant_id = \(tenant.uuid) AND sha256 = \(image.description)
            """
        ).first?.decode(at: 0, as: [UInt8].self)
    }
}

/// The files of tenants' images, for keys.
struct PostgresImageFiles: ImageFiles {
    let store: PostgresAdministrationStore

    /// PostgreSQL does not read the bytes before the range, because the column is stored out of line and uncompressed (PostgreSQL,
    /// "TOAST").
    func bytes(_ range: Range<Int>, of image: ImageDigest, of tenant: TenantID) async throws -> [UInt8]? {
        try await store.read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT substring(bytes FROM \(range.lowerBound + 1)::int FOR \(range.count)::int)
                FROM doorstep.card_image_bytes
                WHERE tenant_id = \(tenant.uuid) AND sha256 = \(image.description)
                """
            ).first?.decode(at: 0, as: [UInt8].self)
        }
    }
}

extension PostgresAdministrationStore {
    /// The clips, locations and experiences whose cards name the image.
    public func dependents(of image: ImageDigest, of tenant: TenantID) async throws -> [Dependents] {
        try await read(tenant) { transaction in
            var dependents: [Dependents] = []
            for reference in CardImage.references {
                guard let found = try await transaction.dependents(reference, to: image.description) else {
                    continue
                }
                dependents.append(found)
            }
            return dependents
        }
    }
}

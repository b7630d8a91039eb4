public import Cards
public import Formats
public import Tenancy

/// Stores tenants' items of one kind, for management.
///
/// Refusals of the database are thrown as `AdministrationError`.
public protocol CatalogueStore<Item>: Sendable {
    associatedtype Item: Resource

    /// Returns a page of items in the order of their keys, after a key. If other items are added or deleted between two pages,
    /// each remaining item is still in exactly one page.
    /// - Parameters:
    ///   - limit: The maximum number of items.
    ///   - filter: Values by name, in the form of ``Resource/filters``.
    func items(
        of tenant: TenantID, after: Item.Key?, limit: Int, where filter: [String: String]
    ) async throws -> [Item]

    func item(_ key: Item.Key, of tenant: TenantID) async throws -> Item?

    /// Replaces an item by the closure's result; creates one if there is none. No other change of the item happens in between.
    /// - Parameters:
    ///   - actor: The actor in the audit log.
    ///   - force: Whether to make the change even if a check advises against it.
    ///   - make: Called again if another request creates the item at the same moment.
    func change(
        _ key: Item.Key, of tenant: TenantID, by actor: String, force: Bool,
        _ make: @Sendable (Item?) throws -> Item
    ) async throws -> CatalogueChange<Item>

    /// Deletes an item. With `cascade`, also deletes the items that refer to it.
    /// - Parameter check: throws if the item must not be deleted.
    /// - Throws: `AdministrationError.inUse`, or the error for an unknown item.
    func delete(
        _ key: Item.Key, of tenant: TenantID, by actor: String, cascade: Bool,
        _ check: @Sendable (Item) throws -> Void
    ) async throws -> CatalogueDeletion
}

extension CatalogueStore {
    public func change(
        _ key: Item.Key, of tenant: TenantID, by actor: String, _ make: @Sendable (Item?) throws -> Item
    ) async throws -> CatalogueChange<Item> {
        try await change(key, of: tenant, by: actor, force: false, make)
    }
}

/// The result of a deletion.
public struct CatalogueDeletion: Sendable, Hashable {
    /// The number of deleted rows by relation. The item's own relation is last.
    public let rows: [RowCount]
    /// Whether this server's lookups already follow the deletion.
    public let isVisible: Bool

    public init(rows: [RowCount], isVisible: Bool) {
        self.rows = rows
        self.isVisible = isVisible
    }

    public var json: JSONObject {
        ["rows": .array(rows.map { .object($0.json) }), "visible": .bool(isVisible)]
    }

    public init(_ fields: inout JSONObjectReader) throws {
        self.init(
            rows: try fields.requiredArray("rows").map { value in
                var row = try JSONObjectReader(value, path: "rows")
                return RowCount(
                    relation: try row.requiredString("relation"), count: try row.requiredInteger("rows"))
            }, isVisible: try fields.requiredBool("visible"))
    }
}

/// A store that also writes many items at once, as an import does.
public protocol CollectionStore<Item>: CatalogueStore where Item: CollectionResource {
    /// Adds and changes items by rows, and removes the other items if the options request it. All of this happens, or nothing.
    ///
    /// Existing items are read and locked only after the last row has arrived.
    /// - Parameter actor: The actor in the audit log.
    /// - Returns: The result, and whether this server's lookups use it.
    /// - Throws: `AdministrationError.conflict` if another import of the tenant is running, `.removalsInUse`,
    ///   `.tooManyRemovals`; `.keyNotActive` and `.tenantSuspended` if the key lost its right meanwhile; and the errors of the
    ///   rows.
    func importRows(
        _ rows: some AsyncSequence<ImportedRow<Item>, any Error>, of tenant: TenantID, by actor: Actor,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool)
}

/// Reads the files of tenants' images.
public protocol ImageFiles: Sendable {
    /// Reads a part of a file, so that a slow reader does not hold the whole file in memory.
    /// - Parameter range: of its bytes, from 0.
    /// - Returns: The bytes of the range that exist; nil if the tenant has no such image.
    func bytes(_ range: Range<Int>, of image: ImageDigest, of tenant: TenantID) async throws -> [UInt8]?
}

/// The result for an item.
public struct CatalogueChange<Item: Resource>: Sendable {
    /// Nil if the item is new.
    public let before: Item?
    public let after: Item
    /// Whether this server's lookups already use the change.
    public let isVisible: Bool

    public init(before: Item?, after: Item, isVisible: Bool) {
        self.before = before
        self.after = after
        self.isVisible = isVisible
    }
}

/// The stores of all kinds of items.
public struct CatalogueStores: Sendable {
    public let clips: any CatalogueStore<Clip>
    public let images: any CatalogueStore<CardImage>
    public let locations: any CollectionStore<LocationRecord>
    public let experiences: any CollectionStore<ExperienceRecord>
    public let domains: any CatalogueStore<DomainRecord>
    /// The other stores of ``TenantArchive/collections``. The endpoints of their items follow from ``CollectionResource`` alone.
    public let plainCollections: [any CollectionStore]

    public init(
        clips: any CatalogueStore<Clip>, images: any CatalogueStore<CardImage>,
        locations: any CollectionStore<LocationRecord>, experiences: any CollectionStore<ExperienceRecord>,
        domains: any CatalogueStore<DomainRecord>, plainCollections: [any CollectionStore]
    ) {
        self.clips = clips
        self.images = images
        self.locations = locations
        self.experiences = experiences
        self.domains = domains
        self.plainCollections = plainCollections
    }
}

/// The stores of everything that keys manage.
public struct ManagedCatalogue: Sendable {
    public let items: CatalogueStores
    public let imageFiles: any ImageFiles
    public let tenant: any TenantStore
    public let keys: any KeyStore
    public let attestKeys: any AttestKeyStore
    public let auditLog: any AuditLog

    public init(
        items: CatalogueStores, imageFiles: any ImageFiles,
        tenant: any TenantStore, keys: any KeyStore, attestKeys: any AttestKeyStore, auditLog: any AuditLog
    ) {
        self.items = items
        self.imageFiles = imageFiles
        self.tenant = tenant
        self.keys = keys
        self.attestKeys = attestKeys
        self.auditLog = auditLog
    }
}

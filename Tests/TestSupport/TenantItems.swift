public import Administration
public import Invocation
public import Tenancy

/// One tenant's items of one kind, for one actor.
///
/// Throws an `AdministrationError`, or the server's refusal with its text.
public struct TenantItems<Item: Resource>: Sendable {
    private let store: any CatalogueStore<Item>
    private let tenant: TenantID
    private let actor: String

    /// - Parameter actor: The actor in the audit log.
    public init(_ store: any CatalogueStore<Item>, of tenant: TenantID, by actor: String) {
        self.store = store
        self.tenant = tenant
        self.actor = actor
    }

    /// At most `limit` items, sorted by key, after a given one.
    public func list(after: Item.Key? = nil, limit: Int = .max) async throws -> [Item] {
        var items: [Item] = []
        while items.count < limit {
            let length = min(limit - items.count, Self.pageLength)
            let page = try await store.items(
                of: tenant, after: items.last?.key ?? after, limit: length, where: [:])
            items += page
            if page.count < length { break }
        }
        return items
    }

    /// The number of items in one request.
    private static var pageLength: Int { 1_000 }

    public func show(_ key: Item.Key) async throws -> Item {
        guard let item = try await store.item(key, of: tenant) else { throw Item.unknown(key) }
        return item
    }

    /// Replaces an item by the closure's result. The key does not change.
    /// - Parameter force: Whether to make the change even if a check advises against it.
    public func update(
        _ key: Item.Key, force: Bool = false, _ change: @escaping @Sendable (Item) throws -> Item
    ) async throws -> Item {
        try await store.change(key, of: tenant, by: actor, force: force) { current in
            guard let current else { throw Item.unknown(key) }
            return try change(current)
        }.after
    }

    /// Deletes an item. With `cascade`, also deletes the items that refer to it.
    /// - Returns: The number of deleted rows by relation. The item's own relation is last.
    public func delete(_ key: Item.Key, cascade: Bool = false) async throws -> [RowCount] {
        try await store.delete(key, of: tenant, by: actor, cascade: cascade) { _ in }.rows
    }
}

extension TenantItems where Item: CollectionResource {
    public init(_ store: any CollectionStore<Item>, of tenant: TenantID, by actor: String) {
        self.store = store
        self.tenant = tenant
        self.actor = actor
    }
}

extension CatalogueStores {
    /// The store of short codes, which is one of ``plainCollections``.
    public var shortCodes: any CollectionStore<ShortCode> {
        plainCollections.lazy.compactMap { $0 as? any CollectionStore<ShortCode> }.first!
    }
}

extension TenantItems where Item: WritableResource {
    public func create(_ item: Item) async throws {
        _ = try await store.change(item.key, of: tenant, by: actor) { current in
            guard current == nil else { throw Item.existing(item.key) }
            return item
        }
    }
}

extension TenantItems<CardImage> {
    /// Stores an image. Does nothing if the image exists.
    public func add(_ image: CardImage) async throws -> CardImage {
        try await store.change(image.key, of: tenant, by: actor) { $0 ?? image }.after
    }
}

extension TenantItems<DomainRecord> {
    /// Claims a domain. An existing claim does not change, and keeps its challenge.
    /// - Returns: The stored claim. It may have another challenge, because a server makes its own.
    public func claim(_ claim: DomainRecord) async throws -> DomainRecord {
        _ = try await store.change(claim.key, of: tenant, by: actor) { $0 ?? claim }
        return try await show(claim.key)
    }

    /// Replaces the additional content of the domain's association file; nil removes it.
    public func keep(_ content: AssociationContent?, with name: DomainName) async throws -> DomainRecord {
        try await update(name) { $0.with(content) }
    }
}

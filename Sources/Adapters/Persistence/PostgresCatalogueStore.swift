public import Administration
public import PostgreSQL
import Tenancy

/// A tenant's items of one kind. The caller is an API key or an operator.
struct PostgresCatalogueStore<Item: StoredResource>: CatalogueStore {
    let store: PostgresAdministrationStore

    func items(
        of tenant: TenantID, after: Item.Key?, limit: Int, where filter: [String: String]
    ) async throws -> [Item] {
        try await store.read(tenant) { try await $0.items(after: after, limit: limit, where: filter) }
    }

    func item(_ key: Item.Key, of tenant: TenantID) async throws -> Item? {
        try await store.read(tenant) { try await $0.item(key) }
    }

    func change(
        _ key: Item.Key, of tenant: TenantID, by actor: String, force: Bool,
        _ make: @Sendable (Item?) throws -> Item
    ) async throws -> CatalogueChange<Item> {
        let ((before, after), isVisible) = try await store.writeUntilVisible(tenant, by: actor) {
            try await $0.change(key, force: force, make)
        }
        return CatalogueChange(before: before, after: after, isVisible: isVisible)
    }

    func delete(
        _ key: Item.Key, of tenant: TenantID, by actor: String, cascade: Bool,
        _ check: @Sendable (Item) throws -> Void
    ) async throws -> CatalogueDeletion {
        let (rows, isVisible) = try await store.writeUntilVisible(tenant, by: actor) {
            try await $0.delete(key, cascade: cascade, check)
        }
        return CatalogueDeletion(rows: rows, isVisible: isVisible)
    }
}

extension PostgresCatalogueStore: CollectionStore where Item: ImportedResource {
    func importRows(
        _ rows: some AsyncSequence<ImportedRow<Item>, any Error>, of tenant: TenantID, by actor: Actor,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool) {
        guard let server = store.server else {
            return (try await store.importRows(of: tenant, by: actor.name, rows, options), true)
        }
        // The import's turn ends with the transaction, so that other tenants' imports do not wait until this server's lookups use
        // the rows.
        let (outcome, transaction) = try await server.imports.with(tenant, isSmall: options.isSmall) {
            var transaction: UInt64?
            let outcome = try await ImportRefused.outcome {
                let written = try await store.commit(
                    tenant, by: actor.name,
                    within: options.isSmall ? ManagingServer.statementTimeout : ManagingServer.importTimeout
                ) { transaction in
                    do {
                        let outcome = try await transaction.importRows(rows, options)
                        // Reading the rows can take long, so the right to change is checked again at the end.
                        if case .key(let key) = actor { _ = try await transaction.caller(key) }
                        return outcome
                    } catch let error as PostgreSQLError where error.isLockTimeout {
                        throw AdministrationError.conflict
                    }
                }
                transaction = written.transaction
                return written.result
            }
            return (outcome, transaction)
        }
        return (outcome, await server.isVisible(transaction))
    }
}

extension TenantTransaction {
    /// - Returns: The item before and after.
    fileprivate func change<Item: StoredResource>(
        _ key: Item.Key, force: Bool, _ make: (Item?) throws -> Item
    ) async throws -> (before: Item?, after: Item) {
        while true {
            let before: Item? = try await item(key, lock: "FOR NO KEY UPDATE")
            let after = try make(before)
            // `json` compares bytes. Texts that are equal in Swift may have different bytes.
            if let before, before.json == after.json { return (before, before) }
            try await after.check(replacing: before, force: force, self)
            if before != nil {
                try await replace(by: after)
            } else if try await !add(after) {
                // Another transaction has added the item, which is visible now.
                continue
            }
            return (before, after)
        }
    }
}

extension ManagedCatalogue {
    /// Stores in PostgreSQL, with the role `doorstep_manager`.
    /// - Parameter feed: Maintains the lookup index of this server.
    public init(_ pool: ConnectionPool, followedBy feed: IndexFeed) {
        self.init(PostgresAdministrationStore(pool, followedBy: feed))
    }

    public init(_ store: PostgresAdministrationStore) {
        self.init(
            items: store.items, imageFiles: store.imageFiles, tenant: PostgresTenantStore(store: store),
            keys: store.keys, attestKeys: store.attestKeys, auditLog: store.auditLog)
    }
}

extension PostgresAdministrationStore {
    /// The items of any tenant. Servers' lookups follow an operator's change within a second.
    public var items: CatalogueStores {
        CatalogueStores(
            clips: PostgresCatalogueStore<Clip>(store: self),
            images: PostgresCatalogueStore<CardImage>(store: self),
            locations: PostgresCatalogueStore<LocationRecord>(store: self),
            experiences: PostgresCatalogueStore<ExperienceRecord>(store: self),
            domains: PostgresCatalogueStore<DomainRecord>(store: self),
            plainCollections: Self.plainCollections.map { collection($0) })
    }

    private func collection<Item: ImportedResource>(_: Item.Type) -> any CollectionStore {
        PostgresCatalogueStore<Item>(store: self)
    }

    /// The files of images of any tenant.
    public var imageFiles: any ImageFiles { PostgresImageFiles(store: self) }

    /// The keys of any tenant.
    public var keys: any KeyStore { PostgresKeyStore(store: self) }

    /// The audit log of any tenant.
    public var auditLog: any AuditLog { PostgresAuditLog(store: self) }

    /// The keys of App Attest of any tenant.
    public var attestKeys: any AttestKeyStore { PostgresAttestKeyStore(store: self) }
}

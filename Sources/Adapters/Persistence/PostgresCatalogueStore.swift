public import Administration
public import PostgreSQL
import Tenancy

/// A tenant's items of one kind, for keys and for operators.
struct PostgresCatalogueStore<Item: StoredResource>: CatalogueStore {
    let access: any CatalogueAccess

    func items(
        of tenant: TenantID, after: Item.Key?, limit: Int, where filter: [String: String]
    ) async throws -> [Item] {
        try await access.read(tenant) { try await $0.items(after: after, limit: limit, where: filter) }
    }

    func item(_ key: Item.Key, of tenant: TenantID) async throws -> Item? {
        try await access.read(tenant) { try await $0.item(key) }
    }

    func change(
        _ key: Item.Key, of tenant: TenantID, by actor: String, force: Bool,
        _ make: @Sendable (Item?) throws -> Item
    ) async throws -> CatalogueChange<Item> {
        let ((before, after), isVisible) = try await access.write(tenant, by: actor) {
            try await $0.change(key, force: force, make)
        }
        return CatalogueChange(before: before, after: after, isVisible: isVisible)
    }

    func delete(
        _ key: Item.Key, of tenant: TenantID, by actor: String, cascade: Bool,
        _ check: @Sendable (Item) throws -> Void
    ) async throws -> CatalogueDeletion {
        let (rows, isVisible) = try await access.write(tenant, by: actor) {
            try await $0.delete(key, cascade: cascade, check)
        }
        return CatalogueDeletion(rows: rows, isVisible: isVisible)
    }
}

/// All of a tenant's items of one kind, for keys.
struct PostgresCollectionStore<Item: ImportedResource>: CollectionStore {
    let access: ManagerAccess

    func importRows(
        _ rows: some AsyncSequence<ImportedRow<Item>, any Error>, of tenant: TenantID, by actor: Actor,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool) {
        // The import's turn ends with the transaction, so that other tenants' imports do not wait until this server's lookups use
        // the rows.
        let (outcome, transaction) = try await access.importing(tenant) {
            var transaction: UInt64?
            let outcome = try await ImportRefused.outcome {
                let written = try await access.commit(
                    tenant, by: actor.name, statementTimeout: ManagerAccess.importTimeout
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
        return (outcome, await access.isVisible(transaction))
    }
}

/// All of a tenant's items of one kind, for operators. If another import of the tenant is running, an import waits for its end
/// without a time limit.
struct PostgresOperatorCollectionStore<Item: ImportedResource>: CollectionStore {
    let store: PostgresAdministrationStore

    func importRows(
        _ rows: some AsyncSequence<ImportedRow<Item>, any Error>, of tenant: TenantID, by actor: Actor,
        _ options: ImportOptions
    ) async throws -> (outcome: ImportOutcome, isVisible: Bool) {
        (try await store.acting(as: actor.name).importRows(of: tenant, rows, options), true)
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
    /// In PostgreSQL, as `doorstep_manager`.
    /// - Parameter feed: Maintains the lookup index of this server.
    public init(_ pool: ConnectionPool, followedBy feed: IndexFeed) {
        let access = ManagerAccess(pool: pool, feed: feed)
        self.init(
            items: CatalogueStores(access),
            collections: CollectionStores(
                locations: PostgresCollectionStore<LocationRecord>(access: access),
                experiences: PostgresCollectionStore<ExperienceRecord>(access: access),
                shortCodes: PostgresCollectionStore<ShortCode>(access: access)),
            imageFiles: PostgresImageFiles(access: access), tenant: PostgresTenantStore(access: access),
            keys: PostgresKeyStore(access: access), attestKeys: PostgresAttestKeyStore(access: access),
            auditLog: PostgresAuditLog(access: access))
    }

    /// In PostgreSQL, as `doorstep_admin`.
    public init(administering store: PostgresAdministrationStore) {
        self.init(
            items: store.items,
            collections: CollectionStores(
                locations: PostgresOperatorCollectionStore<LocationRecord>(store: store),
                experiences: PostgresOperatorCollectionStore<ExperienceRecord>(store: store),
                shortCodes: PostgresOperatorCollectionStore<ShortCode>(store: store)),
            imageFiles: store.imageFiles, tenant: PostgresTenantStore(access: store),
            keys: PostgresKeyStore(access: store), attestKeys: store.attestKeys, auditLog: store.auditLog)
    }
}

extension CatalogueStores {
    fileprivate init(_ access: any CatalogueAccess) {
        self.init(
            clips: PostgresCatalogueStore<Clip>(access: access),
            images: PostgresCatalogueStore<CardImage>(access: access),
            locations: PostgresCatalogueStore<LocationRecord>(access: access),
            experiences: PostgresCatalogueStore<ExperienceRecord>(access: access),
            shortCodes: PostgresCatalogueStore<ShortCode>(access: access),
            domains: PostgresCatalogueStore<DomainRecord>(access: access))
    }
}

extension PostgresAdministrationStore {
    /// Any tenant's items. Servers' lookups follow a change within a second.
    public var items: CatalogueStores { CatalogueStores(self) }

    /// The files of any tenant's images.
    public var imageFiles: any ImageDirectory { PostgresImageFiles(access: self) }

    /// Any tenant's audit log.
    public var auditLog: any AuditLog { PostgresAuditLog(access: self) }

    /// Any tenant's keys of App Attest.
    public var attestKeys: any AttestKeyStore { PostgresAttestKeyStore(access: self) }
}

import Administration
import PostgreSQL
import Tenancy

/// An item of the catalogue as it is kept in its table: the statements that are its own.
protocol StoredItem: CatalogueItem {
    static func page(of tenant: TenantID, after: Key?, limit: Int, where filter: [String: String]) -> Query
    /// - Parameter lock: the clause that locks the row, or nothing.
    static func selection(_ key: Key, of tenant: TenantID, lock: String) -> Query
    /// Adds nothing where there is one of this key.
    func insertion(into tenant: TenantID) -> Query
    /// Changes all but the key.
    func update(of tenant: TenantID) -> Query
    /// Refuses what only the tenant's other rows tell against.
    /// - Parameters:
    ///   - before: the item that this takes the place of.
    ///   - insisting: whether what is advised against is done all the same.
    func check(replacing before: Self?, force: Bool, _ transaction: TenantTransaction) async throws
    /// Gives what the database refuses of the item its name.
    func refusal(_ error: PostgreSQLError) -> any Error
    /// Whether rows of imports that are under way may come to refer to it.
    static var canBeReferredTo: Bool { get }
    /// Deletes the item, whose row is locked, and with `cascade` what refers to it.
    /// - Returns: How many rows went, by relation.
    static func delete(_ key: Key, cascade: Bool, _ transaction: TenantTransaction) async throws -> [RowCount]

    init(row: Row) throws
}

extension StoredItem {
    func check(replacing before: Self?, force: Bool, _ transaction: TenantTransaction) async throws {}
    func refusal(_ error: PostgreSQLError) -> any Error { error }
    static var canBeReferredTo: Bool { false }
}

extension TenantTransaction {
    func items<Item: StoredItem>(
        after: Item.Key?, limit: Int, where filter: [String: String] = [:]
    ) async throws -> [Item] {
        try await execute(Item.page(of: tenant, after: after, limit: limit, where: filter))
            .map { try Item(row: $0) }
    }

    func item<Item: StoredItem>(_ key: Item.Key, lock: String = "") async throws -> Item? {
        try await execute(Item.selection(key, of: tenant, lock: lock)).first.map { try Item(row: $0) }
    }

    /// Adds an item, unless there is one of its key.
    func add(_ item: some StoredItem) async throws -> Bool {
        try await refusing(item) { try await execute(item.insertion(into: tenant)).affectedRows == 1 }
    }

    /// Puts an item in the place of the one of its key, whose row is locked.
    func replace(by item: some StoredItem) async throws {
        try await refusing(item) { _ = try await execute(item.update(of: tenant)) }
    }

    private func refusing<Result>(
        _ item: some StoredItem, _ write: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await write()
        } catch let error as PostgreSQLError {
            throw item.refusal(error)
        }
    }

    /// Deletes an item, and with `cascade` what refers to it.
    ///
    /// Waits for imports that are under way, whose rows may refer to it.
    /// - Parameter check: throws for an item that is to stay as it is.
    /// - Returns: How many rows went, by relation.
    func delete<Item: StoredItem>(
        _ key: Item.Key, cascade: Bool, _ check: (Item) throws -> Void
    ) async throws -> [RowCount] {
        if Item.canBeReferredTo { try await waitForImports() }
        // Whoever is adding a row that refers to it holds it: then that row is seen below, or it comes too late.
        guard let item: Item = try await item(key, lock: "FOR UPDATE") else { throw Item.unknown(key) }
        try check(item)
        return try await Item.delete(key, cascade: cascade, self)
    }
}

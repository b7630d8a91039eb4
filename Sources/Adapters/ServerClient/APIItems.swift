public import Administration
import Formats
import NIOHTTP1

/// The tenant's items of one kind, as the API lists and changes them.
///
/// Throws the item's own error for a key that no item has, or that an item has already; any other refusal is a ``ServerError``.
public struct APIItems<Item: APIItem>: Sendable {
    let api: APIConnection

    public init(_ api: APIConnection) {
        self.api = api
    }

    /// How often a change is repeated if others change the item meanwhile.
    private static var attempts: Int { 20 }

    /// Lists items by key, after one, up to `limit`.
    /// - Parameter filter: values by their names, as ``Resource/filters`` writes them.
    public func list(
        after: Item.Key? = nil, limit: Int = .max, where filter: [String: String] = [:]
    ) async throws -> [Item] {
        try await api.list(
            Item.path, after: after.map(Item.name), limit: limit,
            where: filter.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
        ).map { try Self.served($0) }
    }

    public func show(_ key: Item.Key) async throws -> Item {
        guard let current = try await current(key) else { throw Item.unknown(key) }
        return current.item
    }

    /// Replaces an item by the closure's result. The key stays the same.
    /// - Parameter force: Whether to do it although a check advises against it.
    public func update(
        _ key: Item.Key, force: Bool = false, _ change: (Item) throws -> Item
    ) async throws -> Item {
        try await self.change(key, force: force) { current in
            guard let current else { throw Item.unknown(key) }
            return try change(current)
        }
    }

    /// Deletes an item, with `cascade` also its dependents.
    /// - Returns: The number of deleted rows by relation; the last is the item's own. Empty if a proxy withheld the details.
    public func delete(_ key: Item.Key, cascade: Bool = false) async throws -> [RowCount] {
        for _ in 0..<Self.attempts {
            guard let current = try await current(key) else { throw Item.unknown(key) }
            let reply = try await api.ask(
                .DELETE, try Self.path(of: key), cascade ? [("cascade", "true")] : [],
                fields: [("If-Match", current.tag), ("Prefer", "return=representation")],
                problems: ["precondition_failed"])
            guard reply.problem == nil else { continue }
            return (try? reply.reading { try CatalogueDeletion(&$0) })?.rows ?? []
        }
        throw ServerError.contended
    }

    /// Replaces an item by the closure's result, or creates it. The closure is called again if others change the item meanwhile.
    private func change(
        _ key: Item.Key, force: Bool = false, _ make: (Item?) throws -> Item
    ) async throws -> Item {
        let path = try Self.path(of: key)
        let query = force ? Item.forcing.map { [($0, "true")] } ?? [] : []
        for _ in 0..<Self.attempts {
            let current = try await current(key)
            let after = try make(current?.item)
            if let current, current.item.json == after.json { return current.item }
            let condition = current.map { ("If-Match", $0.tag) } ?? ("If-None-Match", "*")
            let (type, bytes) = after.content
            let reply = try await api.ask(
                .PUT, path, query, fields: [condition], content: (type, .bytes(bytes)),
                within: APIConnection.timeout, problems: ["precondition_failed"])
            if reply.problem == nil { return after }
        }
        throw ServerError.contended
    }

    /// The current item and its entity tag; nil if there is none.
    private func current(_ key: Item.Key) async throws -> (item: Item, tag: String)? {
        let unknown = Item.unknown(key).code
        let reply = try await api.ask(.GET, try Self.path(of: key), problems: [unknown])
        guard reply.problem == nil else { return nil }
        guard let tag = reply.entityTag else { throw ServerError.unexpected(status: reply.status) }
        return (try Self.served(reply.json, as: key), tag)
    }

    private static func served(_ json: JSONObject, as key: Item.Key? = nil) throws(ServerError) -> Item {
        do {
            return try Item.served(json, as: key)
        } catch {
            // The server responded so.
            throw .unexpected(status: 200)
        }
    }

    private static func path(of key: Item.Key) throws -> String {
        guard let path = Item.path(of: key) else { throw Item.unknown(key) }
        return path
    }
}

extension APIItems where Item: WritableResource {
    public func create(_ item: Item) async throws {
        _ = try await change(item.key) { current in
            guard current == nil else { throw Item.existing(item.key) }
            return item
        }
    }
}

extension APIItems<CardImage> {
    /// Stores an image. If it exists already, it stays as it is.
    public func add(_ image: CardImage) async throws -> CardImage {
        try await change(image.key) { $0 ?? image }
    }
}

extension APIItems<DomainRecord> {
    /// Claims a domain. If there is a claim already, it stays as it is, with its challenge.
    /// - Returns: The stored claim. Its challenge may be another, because a server makes its own.
    public func claim(_ claim: DomainRecord) async throws -> DomainRecord {
        _ = try await change(claim.key) { $0 ?? claim }
        return try await show(claim.key)
    }
}

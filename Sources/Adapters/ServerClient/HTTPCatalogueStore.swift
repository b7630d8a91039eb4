import Administration
import JSON
import NIOHTTP1
import Tenancy

/// A tenant's items of one kind at a server. The server's key decides the tenant and the actor.
struct HTTPCatalogueStore<Item: ServedItem>: CatalogueStore {
    let server: APIConnection

    /// How often a change is repeated if others change the item meanwhile.
    private static var attempts: Int { 20 }

    func items(
        of _: TenantID, after: Item.Key?, limit: Int, where filter: [String: String]
    ) async throws -> [Item] {
        try await server.list(
            Item.path, after: after.map(Item.name), limit: limit,
            where: filter.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
        ).map { try Self.served($0) }
    }

    func item(_ key: Item.Key, of _: TenantID) async throws -> Item? { try await current(key)?.item }

    func change(
        _ key: Item.Key, of _: TenantID, by _: String, force: Bool,
        _ make: @Sendable (Item?) throws -> Item
    ) async throws -> CatalogueChange<Item> {
        let path = try Self.path(of: key)
        let query = force ? Item.forcing.map { [($0, "true")] } ?? [] : []
        for _ in 0..<Self.attempts {
            let current = try await current(key)
            let after = try make(current?.item)
            if let current, current.item.json == after.json {
                return CatalogueChange(before: current.item, after: current.item, isVisible: true)
            }
            let condition = current.map { ("If-Match", $0.tag) } ?? ("If-None-Match", "*")
            let (type, bytes) = after.content
            let reply = try await server.ask(
                .PUT, path, query, fields: [condition], content: (type, .bytes(bytes)),
                within: APIConnection.timeout, problems: ["precondition_failed"])
            guard reply.problem == nil else { continue }
            return CatalogueChange(
                before: current?.item, after: after, isVisible: reply.json["visible"] != .bool(false))
        }
        throw ServerError.contended
    }

    func delete(
        _ key: Item.Key, of _: TenantID, by _: String, cascade: Bool,
        _ check: @Sendable (Item) throws -> Void
    ) async throws -> CatalogueDeletion {
        let path = try Self.path(of: key)
        for _ in 0..<Self.attempts {
            guard let current = try await current(key) else { throw Item.unknown(key) }
            try check(current.item)
            let reply = try await server.ask(
                .DELETE, path, cascade ? [("cascade", "true")] : [],
                fields: [("If-Match", current.tag), ("Prefer", "return=representation")],
                problems: ["precondition_failed"])
            guard reply.problem == nil else { continue }
            // The change was made, but the details are missing if a proxy removed the preference.
            return (try? reply.reading { try CatalogueDeletion(&$0) })
                ?? CatalogueDeletion(rows: [], isVisible: reply.status != 202)
        }
        throw ServerError.contended
    }

    /// The item as it is, and the tag by which it is known.
    private func current(_ key: Item.Key) async throws -> (item: Item, tag: String)? {
        let unknown = Item.unknown(key).code
        let reply = try await server.ask(.GET, try Self.path(of: key), problems: [unknown])
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

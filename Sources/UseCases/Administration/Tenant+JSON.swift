import Foundation
public import JSON
import RateLimiting
import Tenancy

extension Tenant {
    public var json: JSONObject {
        limits.adding(to: [
            "id": .string(id.description), "slug": .string(slug.text), "name": .string(name.text),
            "createdAt": JSONValue(createdAt), "suspendedAt": suspendedAt.map { JSONValue($0) } ?? .null,
        ])
    }
}

extension ArchivedTenant {
    var json: JSONObject {
        limits.adding(to: [
            "id": .string(id.description), "slug": .string(slug.text), "name": .string(name.text),
            "suspended": .bool(isSuspended),
        ])
    }

    init(_ fields: inout JSONObjectReader) throws {
        guard let id = UUID(text: try fields.requiredString("id")) else {
            throw RowRefusal("id", "not a UUID")
        }
        let (slug, name) = (try fields.requiredString("slug"), try fields.requiredString("name"))
        self.init(
            id: TenantID(id),
            slug: try RowRefusal.naming("slug") { () throws(TenancyError) in try TenantSlug(slug) },
            name: try RowRefusal.naming("name") { () throws(AdministrationError) in try DisplayName(name) },
            isSuspended: try fields.requiredBool("suspended"),
            limits: try RequestLimits(&fields))
    }
}

extension RequestLimits {
    /// A limit that is left to the server is null.
    fileprivate func adding(to tenant: JSONObject) -> JSONObject {
        var tenant = tenant
        for (name, limit) in [
            ("keyLimit", key), ("clientLimit", client), ("newInstanceLimit", newInstances),
            ("clientNewInstanceLimit", clientNewInstances),
        ] { tenant[name] = limit.map { .string($0.description) } ?? .null }
        return tenant
    }

    fileprivate init(_ fields: inout JSONObjectReader) throws {
        self.init(
            key: try Self.limit("keyLimit", &fields), client: try Self.limit("clientLimit", &fields),
            newInstances: try Self.limit("newInstanceLimit", &fields),
            clientNewInstances: try Self.limit("clientNewInstanceLimit", &fields))
    }

    private static func limit(_ key: String, _ fields: inout JSONObjectReader) throws -> RateLimit? {
        guard let text = try fields.optionalString(key) else { return nil }
        guard let limit = RateLimit(text) else {
            throw RowRefusal(key, "not a rate and a burst from 1 to 1000000, such as 100:200")
        }
        return limit
    }
}

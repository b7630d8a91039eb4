import Foundation
public import JSON
import RateLimiting
public import Tenancy

extension Tenant: CatalogueItem {
    public static func key(named text: String) -> TenantID? { UUID(text: text).map(TenantID.init) }
    public static func name(of key: TenantID) -> String { key.description }
    public static func unknown(_ key: TenantID) -> AdministrationError { .tenantDeleted }
    public static let collection = "tenant"
    public var key: TenantID { id }

    public var json: JSONObject {
        limits.adding(to: [
            "id": .string(id.description), "slug": .string(slug.text), "name": .string(name.text),
            "createdAt": JSONValue(createdAt), "suspendedAt": suspendedAt.map { JSONValue($0) } ?? .null,
            "collapsePolicy": .string(collapsePolicy.rawValue), "quotas": .object(usage.json),
        ])
    }

    /// Without the quotas, whose usage changes with each write and would fail every condition.
    public var validatedJSON: JSONObject {
        var json = json
        json["quotas"] = nil
        return json
    }

    /// Reads what ``json`` says.
    /// - Throws: `JSONFieldError` or ``RowRefusal``, which name the field.
    public init(_ fields: inout JSONObjectReader) throws {
        guard let id = Self.key(named: try fields.requiredString("id")) else {
            throw RowRefusal("id", "not a UUID")
        }
        let (slug, name) = (try fields.requiredString("slug"), try fields.requiredString("name"))
        guard let createdAt = try fields.optionalDate("createdAt") else {
            throw JSONFieldError.missing(path: fields.path(of: "createdAt"))
        }
        self.init(
            id: id, slug: try RowRefusal.naming("slug") { () throws(TenancyError) in try TenantSlug(slug) },
            name: try RowRefusal.naming("name") { () throws(AdministrationError) in try DisplayName(name) },
            createdAt: createdAt, suspendedAt: try fields.optionalDate("suspendedAt"),
            limits: try RequestLimits(&fields),
            collapsePolicy: try fields.requiredCase("collapsePolicy", of: CollapsePolicy.self),
            usage: try fields.optionalObject("quotas").map { fields in
                var fields = fields
                return try [QuotaKind: QuotaUsage](&fields)
            } ?? [:])
    }

    /// The tenant after a merge patch (RFC 7396), which can change its name and which notifications collapse.
    /// - Throws: `JSONFieldError` or ``RowRefusal``, which name the field.
    public func patched(by patch: JSONObject) throws -> Tenant {
        let current = json
        let members = JSONValue.object(current).merging(.object(patch)).objectValue ?? [:]
        // Usage may have changed since the quotas were read, so that only their limits are compared.
        guard try Self.quotas(in: members) == Self.quotas(in: current) else {
            throw JSONFieldError.invalid(path: "quotas", reason: "is the operator's to change")
        }
        for (name, _) in patch where !["name", "collapsePolicy", "quotas"].contains(name) {
            guard let own = current[name] else {
                throw JSONFieldError.unknown(path: JSONPath.member(name, of: ""))
            }
            guard members[name] ?? .null == own else {
                throw JSONFieldError.invalid(path: name, reason: "is the operator's to change")
            }
        }
        var fields = JSONObjectReader(members)
        var tenant = self
        let name = try fields.requiredString("name")
        tenant.name = try RowRefusal.naming("name") { () throws(AdministrationError) in try DisplayName(name)
        }
        tenant.collapsePolicy =
            try fields.optionalCase("collapsePolicy", of: CollapsePolicy.self) ?? CollapsePolicy.none
        return tenant
    }
}

extension Tenant {
    private static func quotas(in members: JSONObject) throws -> [QuotaKind: Quota] {
        var fields = JSONObjectReader(members)
        return try fields.optionalObject("quotas").map { fields in
            var fields = fields
            return try [QuotaKind: QuotaUsage](&fields).mapValues(\.limit)
        } ?? [:]
    }
}

extension ArchivedTenant {
    var json: JSONObject {
        var json = limits.adding(to: [
            "id": .string(id.description), "slug": .string(slug.text), "name": .string(name.text),
            "suspended": .bool(isSuspended),
        ])
        // Without quotas of its own, older versions can read the archive.
        if !quotas.isEmpty { json["quotas"] = .object(quotas.json) }
        return json
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
            limits: try RequestLimits(&fields),
            quotas: try fields.optionalObject("quotas").map { fields in
                var fields = fields
                return try [QuotaKind: Quota](&fields)
            } ?? [:])
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
            throw RowRefusal(key, "not a rate and a burst from 1 to 1000000, such as 100:200, nor off")
        }
        return limit
    }
}

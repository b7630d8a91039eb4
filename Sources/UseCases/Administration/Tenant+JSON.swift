public import Formats
import Foundation
import Invocation
public import Tenancy

extension Tenant: Resource {
    public static let fields: [Field<Tenant>] =
        [
            Field("id", .identifier(36...36), .key, "The tenant's UUID.", column: "tenant_id") {
                .text($0.id.description)
            },
            Field("slug", .identifier(1...63), .readOnly, "The tenant's name in paths.") {
                .text($0.slug.text)
            },
            Field("name", .text(1...128), .required, "The tenant's name for people.") { .text($0.name.text) },
            Field(
                "test", .flag, .readOnly,
                "Whether this is a test tenant, which notifies only in the environment `sandbox`.",
                column: "is_test"
            ) { .flag($0.isTest) },
            Field("createdAt", .date, .readOnly, "When the tenant was created.", column: "created_at") {
                .date($0.createdAt)
            },
            Field(
                "suspendedAt", .date, .readOnly, "Since when the tenant is suspended.", column: "suspended_at"
            ) { FieldValue($0.suspendedAt) },
            Field(
                "collapsePolicy", .choice(CollapsePolicy.allCases.map(\.rawValue)), .optional,
                "Which notifications of a location replace each other.", column: "collapse_policy",
                default: .string(CollapsePolicy.none.rawValue)
            ) { .text($0.collapsePolicy.rawValue) },
            Field(
                "corsOrigins", .object("CORSOrigins"), .optional,
                "The origins whose pages may use publishable keys.", column: "cors_origins"
            ) { .list($0.corsOrigins.map(\.text)) },
            Field("quotas", .object("Quotas"), .readOnly, "The quotas with their usage.") {
                .members($0.usage.json)
            },
        ]
        + RequestLimits.members.map { name, limit in
            Field(
                name, .text(1...32), .readOnly,
                "Requests per second and burst; null is the server's default.",
                isStored: false
            ) { FieldValue($0.limits[keyPath: limit]?.description) }
        }

    public init(_ values: inout some FieldValues) throws {
        guard let id = Self.key(named: try values.text("id")) else { throw RowRefusal("id", "not a UUID") }
        self.init(
            id: id, slug: try values.text("slug") { text throws(TenancyError) in try TenantSlug(text) },
            name: try values.displayName("name"), isTest: try values.optionalFlag("test") ?? false,
            createdAt: try values.date("createdAt"),
            suspendedAt: try values.optionalDate("suspendedAt"), limits: try RequestLimits(&values),
            collapsePolicy: try values.choice("collapsePolicy", of: CollapsePolicy.self),
            corsOrigins: try Self.corsOrigins(values.optionalList("corsOrigins")),
            usage: try values.optionalMembers("quotas").map { members in
                var quotas = JSONObjectReader(members, path: "quotas")
                return try [QuotaKind: QuotaUsage](&quotas)
            } ?? [:])
    }

    public static func key(named text: String) -> TenantID? { UUID(text: text).map(TenantID.init) }
    public static func name(of key: TenantID) -> String { key.description }
    public static func unknown(_ key: TenantID) -> AdministrationError { .tenantDeleted }
    public static let collection = "tenant"
    public var key: TenantID { id }

    /// Without the quotas, because their usage changes with each write, so that every condition would fail.
    public var validatedJSON: JSONObject {
        var json = json
        json["quotas"] = nil
        return json
    }

    /// The tenant after a merge patch (RFC 7396), which can change its name, its `collapsePolicy` and its origins.
    /// - Throws: `JSONFieldError` or ``RowRefusal``, which name the field.
    public func patched(by patch: JSONObject) throws -> Tenant {
        let current = json
        let members = JSONValue.object(current).merging(.object(patch)).objectValue ?? [:]
        // Usage may have changed since the quotas were read, so that only their limits are compared.
        guard try Self.quotas(in: members) == Self.quotas(in: current) else {
            throw JSONFieldError.invalid(path: "quotas", reason: "is the operator's to change")
        }
        for (name, _) in patch where !["name", "collapsePolicy", "corsOrigins", "quotas"].contains(name) {
            guard let own = current[name] else {
                throw JSONFieldError.unknown(path: JSONPath.member(name, of: ""))
            }
            guard members[name] ?? .null == own else {
                let isFixed = ["test", "createdAt", "id"].contains(name)
                throw JSONFieldError.invalid(
                    path: name, reason: isFixed ? "cannot be changed" : "is the operator's to change")
            }
        }
        var fields = JSONObjectReader(members)
        var tenant = self
        let name = try fields.requiredString("name")
        tenant.name = try RowRefusal.naming("name") { () throws(DisplayName.Refusal) in try DisplayName(name)
        }
        tenant.collapsePolicy =
            try fields.optionalCase("collapsePolicy", of: CollapsePolicy.self) ?? CollapsePolicy.none
        tenant.corsOrigins = try Self.corsOrigins(fields.optionalTexts("corsOrigins"))
        return tenant
    }

    fileprivate static func corsOrigins(_ texts: [String]?) throws -> [WebOrigin] {
        try RowRefusal.naming("corsOrigins") { () throws(WebOrigin.Refusal) in try WebOrigin.list(texts ?? [])
        }
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
        // Older versions can read the archive of a tenant without own quotas and origins that is no test tenant.
        if !quotas.isEmpty { json["quotas"] = .object(quotas.json) }
        if isTest { json["test"] = true }
        if !corsOrigins.isEmpty {
            json["corsOrigins"] = .array(corsOrigins.map { .string($0.text) })
        }
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
            name: try RowRefusal.naming("name") { () throws(DisplayName.Refusal) in try DisplayName(name) },
            isTest: try fields.optionalBool("test") ?? false,
            isSuspended: try fields.requiredBool("suspended"),
            limits: try Self.limits(&fields),
            quotas: try fields.optionalObject("quotas").map { fields in
                var fields = fields
                return try [QuotaKind: Quota](&fields)
            } ?? [:],
            corsOrigins: try Tenant.corsOrigins(fields.optionalTexts("corsOrigins")))
    }
}

extension JSONObjectReader {
    /// The texts of an array.
    mutating func optionalTexts(_ field: String) throws(JSONFieldError) -> [String]? {
        guard let values = try optionalArray(field) else { return nil }
        let texts = values.compactMap(\.stringValue)
        guard texts.count == values.count else {
            throw .invalid(path: path(of: field), reason: "must have strings only")
        }
        return texts
    }
}

extension ArchivedTenant {
    private static func limits(_ fields: inout JSONObjectReader) throws -> RequestLimits {
        var values = JSONFieldValues(reader: fields)
        defer { fields = values.reader }
        return try RequestLimits(&values)
    }
}

extension RequestLimits {
    fileprivate static let members:
        [(name: String, limit: any KeyPath<RequestLimits, RateLimit?> & Sendable)] = [
            ("keyLimit", \.key), ("clientLimit", \.client), ("newInstanceLimit", \.newInstances),
            ("clientNewInstanceLimit", \.clientNewInstances),
        ]

    /// Adds the limits; null is the server's default.
    fileprivate func adding(to tenant: JSONObject) -> JSONObject {
        var tenant = tenant
        for (name, limit) in Self.members {
            tenant[name] = self[keyPath: limit].map { .string($0.description) } ?? .null
        }
        return tenant
    }

    fileprivate init(_ values: inout some FieldValues) throws {
        self.init(
            key: try Self.limit("keyLimit", &values), client: try Self.limit("clientLimit", &values),
            newInstances: try Self.limit("newInstanceLimit", &values),
            clientNewInstances: try Self.limit("clientNewInstanceLimit", &values))
    }

    private static func limit(_ field: String, _ values: inout some FieldValues) throws -> RateLimit? {
        guard let text = try values.optionalText(field) else { return nil }
        guard let limit = RateLimit(text) else {
            throw RowRefusal(field, "not a rate and a burst from 1 to 1000000, such as 100:200, nor off")
        }
        return limit
    }
}

import AppSiteAssociation
import Foundation
import Geodesy
import Invocation
import JSON
import RateLimiting
import Tenancy

extension ArchiveRecord {
    var json: JSONObject {
        var json: JSONObject
        switch self {
        case .tenant(let tenant):
            json = [
                "id": .string(tenant.id.description), "slug": .string(tenant.slug.text),
                "name": .string(tenant.name.text), "suspended": .bool(tenant.isSuspended),
            ]
            json["keyLimit"] = tenant.limits.key.map { .string($0.description) }
            json["clientLimit"] = tenant.limits.client.map { .string($0.description) }
            json["newInstanceLimit"] = tenant.limits.newInstances.map { .string($0.description) }
            json["clientNewInstanceLimit"] = tenant.limits.clientNewInstances.map { .string($0.description) }
        case .clip(let clip):
            json = [
                "bundleID": .string(clip.bundleID.text), "teamID": .string(clip.teamID.text),
                "multiBusiness": .bool(clip.isMultiBusiness),
            ]
            json["appIDPrefix"] = clip.ownAppIDPrefix.map { .string($0.text) }
        case .domain(let domain):
            json = ["host": .string(domain.name.text)]
            json["content"] = (domain.content?.json).map(JSONValue.object)
        case .location(let location):
            json = [
                "identifier": .string(location.identifier.text), "name": .string(location.name.text),
                "latitude": JSONValue(finite: location.region.center.latitude),
                "longitude": JSONValue(finite: location.region.center.longitude),
                "radius": JSONValue(finite: location.region.radius.meters),
                "metadata": .object(location.metadata),
            ]
        case .experience(let record):
            json = [
                "url": .string(record.experience.url.canonical), "clip": .string(record.experience.clip.text),
                "experienceKind": .string(record.experience.kind.rawValue),
            ]
            switch record.experience.binding {
            case .unbound: break
            case .location(let identifier): json["location"] = .string(identifier.text)
            case .rule(let rule): json["identifierRule"] = .string(rule.description)
            }
            json["title"] = record.title.map(JSONValue.string)
            json["subtitle"] = record.subtitle.map(JSONValue.string)
        case .shortCode(let code):
            json = ["code": .string(code.code), "url": .string(code.url.canonical)]
        case .end(let count):
            json = ["records": JSONValue(count)]
        }
        json["kind"] = .string(kind.rawValue)
        return json
    }

    /// Reads a line, whose every field must be known.
    /// - Throws: `JSONFieldError` or `RowRefusal`, which name the field.
    init(_ json: JSONObject) throws {
        var fields = JSONObjectReader(json)
        switch try fields.requiredCase("kind", of: TenantArchive.Kind.self) {
        case .tenant: self = .tenant(try ArchivedTenant(&fields))
        case .clip: self = .clip(try Clip(&fields))
        case .domain: self = .domain(try Self.domain(&fields))
        case .location: self = .location(try LocationRecord(&fields))
        case .experience: self = .experience(try ExperienceRecord(&fields))
        case .shortCode: self = .shortCode(try ShortCode(&fields))
        case .end: self = .end(try fields.requiredInteger("records"))
        }
        try fields.finish()
    }

    private static func domain(_ fields: inout JSONObjectReader) throws -> ArchivedDomain {
        let host = try fields.requiredString("host")
        // As it was written: an archive is not edited by hand.
        guard let name = try? DomainName(host), name.text == host else {
            throw RowRefusal("host", "not a domain name in lower-case ASCII")
        }
        let content = try fields.optionalMembers("content")
        return ArchivedDomain(
            name: name,
            content: try content.map { content in
                try RowRefusal.naming("content") { () throws(AssociationContentError) in
                    try AssociationContent(content)
                }
            })
    }
}

extension ArchivedTenant {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        guard let id = UUID(text: try fields.requiredString("id")) else {
            throw RowRefusal("id", "not a UUID")
        }
        let (slug, name) = (try fields.requiredString("slug"), try fields.requiredString("name"))
        self.init(
            id: TenantID(id),
            slug: try RowRefusal.naming("slug") { () throws(TenancyError) in try TenantSlug(slug) },
            name: try RowRefusal.naming("name") { () throws(AdministrationError) in try DisplayName(name) },
            isSuspended: try fields.requiredBool("suspended"),
            limits: RequestLimits(
                key: try Self.limit("keyLimit", &fields), client: try Self.limit("clientLimit", &fields),
                newInstances: try Self.limit("newInstanceLimit", &fields),
                clientNewInstances: try Self.limit("clientNewInstanceLimit", &fields)))
    }

    private static func limit(_ key: String, _ fields: inout JSONObjectReader) throws -> RateLimit? {
        guard let text = try fields.optionalString(key) else { return nil }
        guard let limit = RateLimit(text) else {
            throw RowRefusal(key, "not a rate and a burst from 1 to 1000000, such as 100:200")
        }
        return limit
    }
}

extension Clip {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        let (bundle, team) = (try fields.requiredString("bundleID"), try fields.requiredString("teamID"))
        let bundleID = try RowRefusal.naming("bundleID") { () throws(TenancyError) in try BundleID(bundle) }
        let teamID = try RowRefusal.naming("teamID") { () throws(TenancyError) in try TeamID(team) }
        let prefix = try fields.optionalString("appIDPrefix")
        let appIDPrefix = try prefix.map { text in
            try RowRefusal.naming("appIDPrefix") { () throws(TenancyError) in try AppIDPrefix(text) }
        }
        let isMultiBusiness = try fields.requiredBool("multiBusiness")
        self = try RowRefusal.naming("bundleID") { () throws(AdministrationError) in
            try Clip(
                bundleID: bundleID, teamID: teamID, appIDPrefix: appIDPrefix, isMultiBusiness: isMultiBusiness
            )
        }
    }
}

extension LocationRecord {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        let (identifier, name) = (try fields.requiredString("identifier"), try fields.requiredString("name"))
        let (latitude, longitude) = (
            try fields.requiredDouble("latitude"), try fields.requiredDouble("longitude")
        )
        let radius = try fields.requiredDouble("radius")
        let metadata = try fields.requiredMembers("metadata")
        self.init(
            identifier: try RowRefusal.naming("identifier") { () throws(ExperienceError) in
                try LocationIdentifier(identifier)
            },
            name: try RowRefusal.naming("name") { () throws(AdministrationError) in try DisplayName(name) },
            region: try RowRefusal.naming(\.column) { () throws(GeodesyError) in
                try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius))
            }, metadata: try Self.checked(metadata))
    }

    /// Metadata as an import of CSV writes it, so that it can be exported as CSV again: columns with other names than
    /// the location's own, and texts.
    private static func checked(_ metadata: JSONObject) throws(RowRefusal) -> JSONObject {
        for (column, value) in metadata {
            guard !column.isEmpty, !requiredColumns.contains(column), !column.utf8.contains(0),
                let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0)
            else { throw RowRefusal("metadata", "holds something else than named texts") }
        }
        return metadata
    }
}

extension ExperienceRecord {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        let (clip, url) = (try fields.requiredString("clip"), try fields.requiredString("url"))
        let kind = try fields.requiredCase("experienceKind", of: ExperienceKind.self)
        let (location, rule) = (
            try fields.optionalString("location"), try fields.optionalString("identifierRule")
        )
        // With both, the first one is refused; the rule alone is named as it is here.
        let binding: LocationBinding =
            if let rule, location == nil {
                .rule(
                    try RowRefusal.naming("identifierRule") { () throws(ExperienceError) in
                        try IdentifierRule(rule)
                    })
            } else {
                try LocationBinding(location: location, rule: rule)
            }
        let bundleID = try RowRefusal.naming("clip") { () throws(TenancyError) in try BundleID(clip) }
        let prefix = try RowRefusal.naming("url") { () throws(URLPrefixError) in try URLPrefix(url) }
        let experience = try RowRefusal.naming("url") { () throws(ExperienceError) in
            try Experience(url: prefix, kind: kind, clip: bundleID, binding: binding)
        }
        let (title, subtitle) = (try fields.optionalString("title"), try fields.optionalString("subtitle"))
        self = try RowRefusal.naming({ $0 == .invalidTitle ? "title" : "subtitle" }) {
            () throws(AdministrationError) in
            try ExperienceRecord(experience, title: title, subtitle: subtitle)
        }
    }
}

extension ShortCode {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        let (code, text) = (try fields.requiredString("code"), try fields.requiredString("url"))
        let url = try RowRefusal.naming("url") { () throws(InvocationURLError) in try InvocationURL(text) }
        self = try RowRefusal.naming({ $0 == .invalidShortCode ? "code" : "url" }) {
            () throws(AdministrationError) in
            try ShortCode(code: code, url: url)
        }
    }
}

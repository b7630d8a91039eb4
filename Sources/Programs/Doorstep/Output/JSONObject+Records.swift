import Administration
import AppSiteAssociation
import Encodings
import Foundation
import Geodesy
import Invocation
import JSON
import RateLimiting
import Tenancy

extension JSONObject {
    init(_ tenant: Tenant) {
        self = [
            "id": .string(tenant.id.description), "slug": .string(tenant.slug.text),
            "name": .string(tenant.name.text), "created": JSONValue(tenant.createdAt),
            "suspended": tenant.suspendedAt.map { JSONValue($0) } ?? .null,
            "keyLimit": tenant.limits.key.map { .string($0.description) } ?? .null,
            "clientLimit": tenant.limits.client.map { .string($0.description) } ?? .null,
            "newInstanceLimit": tenant.limits.newInstances.map { .string($0.description) } ?? .null,
            "clientNewInstanceLimit": tenant.limits.clientNewInstances.map { .string($0.description) }
                ?? .null,
        ]
    }

    init(_ clip: Clip) {
        self = [
            "bundleID": .string(clip.bundleID.text), "parentBundleID": .string(clip.parentBundleID.text),
            "teamID": .string(clip.teamID.text), "appIDPrefix": .string(clip.appIDPrefix.text),
            "multiBusiness": .bool(clip.isMultiBusiness),
        ]
    }

    init(_ domain: DomainRecord) {
        self = [
            "host": .string(domain.name.text), "status": .string(domain.status.rawValue),
            "method": domain.proof.map { .string($0.method.rawValue) } ?? .null,
            "claimed": JSONValue(domain.claimedAt),
            "proved": domain.proof.map { JSONValue($0.provedAt) } ?? .null,
            "checked": domain.checkedAt.map { JSONValue($0) } ?? .null,
            "lapsed": domain.lapsedAt.map { JSONValue($0) } ?? .null,
            "withdrawnFrom": domain.withdrawnFrom.map { JSONValue($0) } ?? .null,
            "content": (domain.content?.json).map(JSONValue.object) ?? .null,
            "record": ["name": .string(domain.recordName), "value": .string(domain.recordValue)],
            "file": ["url": .string(domain.fileURL), "content": .string(domain.challenge)],
        ]
    }

    init(_ location: LocationRecord) {
        self = [
            "identifier": .string(location.identifier.text), "name": .string(location.name.text),
            "latitude": JSONValue(finite: location.region.center.latitude),
            "longitude": JSONValue(finite: location.region.center.longitude),
            "radius": JSONValue(finite: location.region.radius.meters),
            "metadata": .object(location.metadata),
        ]
    }

    init(_ record: ExperienceRecord) {
        let experience = record.experience
        self = [
            "url": .string(experience.url.canonical), "kind": .string(experience.kind.rawValue),
            "clip": .string(experience.clip.text), "location": .null, "identifierRule": .null,
            "title": record.title.map(JSONValue.string) ?? .null,
            "subtitle": record.subtitle.map(JSONValue.string) ?? .null,
        ]
        switch experience.binding {
        case .unbound: break
        case .location(let identifier): self["location"] = .string(identifier.text)
        case .rule(let rule): self["identifierRule"] = .string(rule.description)
        }
    }

    init(_ code: ShortCode) {
        self = ["code": .string(code.code), "url": .string(code.url.canonical)]
    }

    init(_ key: KeyRecord, at now: Date) {
        self = [
            "id": .string(key.id.description), "kind": .string(key.kind.rawValue),
            "scopes": .array(key.scopes.list.map { .string($0.rawValue) }), "hint": .string(key.hint),
            "status": .string(key.status(at: now).rawValue), "created": JSONValue(key.createdAt),
            "expires": key.expiresAt.map { JSONValue($0) } ?? .null,
            "revoked": key.revokedAt.map { JSONValue($0) } ?? .null,
            "lastUsed": key.lastUsedOn.map(JSONValue.string) ?? .null,
        ]
    }

    init(_ counts: ImportCounts) {
        self = [
            "added": JSONValue(counts.added), "changed": JSONValue(counts.changed),
            "unchanged": JSONValue(counts.unchanged),
        ]
    }
}

extension JSONObject {
    init(_ rows: RowCount) {
        self = ["relation": .string(rows.relation), "rows": JSONValue(rows.count)]
    }

    /// The changed columns as one text, beside the states.
    init(_ entry: AuditEntry) {
        self = [
            "at": JSONValue(entry.at), "actor": .string(entry.actor), "login": .string(entry.login),
            "action": .string(entry.action.rawValue), "before": entry.before.map(JSONValue.object) ?? .null,
            "after": entry.after.map(JSONValue.object) ?? .null,
        ]
    }
}

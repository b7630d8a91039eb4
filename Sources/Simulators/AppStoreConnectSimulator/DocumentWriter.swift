import Formats
import Foundation

/// Writes responses in the form of JSON:API, according to the specification and the query.
struct DocumentWriter {
    let account: SimulatedAccount
    let specification: Specification
    let query: RequestQuery
    /// The origin, such as `http://127.0.0.1:8080`.
    let host: String
    let now: Date

    /// A stored resource with its related resources.
    private struct Stored {
        let attributes: JSONObject
        let related: [String: [String]]
    }

    /// A page of a listing, before its rows are limited.
    struct Listing {
        let path: String
        let type: String
        let ids: [String]
        /// Whether only identifiers are requested.
        var isLinkage = false
        /// The fault of the page.
        var fault: Fault.Effect?
    }

    func one(_ type: String, _ id: String, path: String) -> JSONValue {
        .object([
            "data": resource(type, id), "included": included([(type, id)]),
            "links": ["self": .string(host + path)],
        ])
    }

    func page(_ listing: Listing) -> JSONValue {
        let ids = listing.ids
        var rows = Array(ids.dropFirst(query.offset).prefix(query.limit))
        let end = query.offset + query.limit
        var links: JSONObject = [
            "self": .string(host + listing.path + query.text(ofOffset: query.offset)),
            "first": .string(host + listing.path + query.text(ofOffset: 0)),
        ]
        var paging: JSONObject = ["total": JSONValue(ids.count), "limit": JSONValue(query.limit)]
        if end < ids.count {
            links["next"] = .string(host + listing.path + query.text(ofOffset: end))
            paging["nextCursor"] = .string(RequestQuery.cursor(ofOffset: end))
        }
        switch listing.fault {
        case .repeatRow: rows.insert(contentsOf: rows.prefix(1), at: 0)
        case .omitRow: rows = Array(rows.dropFirst())
        default: break
        }
        var document: JSONObject = [
            "data": .array(
                rows.map {
                    listing.isLinkage ? Self.identifier(listing.type, $0) : resource(listing.type, $0)
                }),
            "links": .object(links), "meta": ["paging": .object(paging)],
        ]
        if !listing.isLinkage { document["included"] = included(rows.map { (listing.type, $0) }) }
        return .object(document)
    }

    private static func identifier(_ type: String, _ id: String) -> JSONValue {
        ["type": .string(type), "id": .string(id)]
    }

    private func stored(_ type: String, _ id: String) -> Stored? {
        switch type {
        case "apps":
            guard let app = account.apps.first(where: { $0.id == id }) else { return nil }
            return Stored(
                attributes: [
                    "name": .string(app.name), "bundleId": .string(app.bundleID),
                    "sku": .string(app.bundleID), "primaryLocale": .string(app.primaryLocale),
                ], related: [:])
        case "builds":
            guard let app = account.apps.first(where: { SimulatedAccount.build(ofApp: $0.id) == id }) else {
                return nil
            }
            return Stored(
                attributes: ["version": "1", "uploadedDate": JSONValue(now)],
                related: [
                    "app": [app.id], "buildBundles": app.clips.map { SimulatedAccount.bundle(ofClip: $0.id) },
                    "appStoreVersion": account.knobs.versionState.map { _ in
                        [SimulatedAccount.version(ofApp: app.id)]
                    } ?? [],
                ])
        case "appStoreVersions":
            guard let state = account.knobs.versionState else { return nil }
            return Stored(
                attributes: ["versionString": "1.0", "appVersionState": .string(state.rawValue)], related: [:]
            )
        case "buildBundles":
            guard let (clip, _) = SimulatedAccount.clip(ofBundle: id).flatMap(account.clip) else {
                return nil
            }
            return Stored(
                attributes: ["bundleId": .string(clip.bundleID), "bundleType": "APP_CLIP"], related: [:])
        case "appClipDomainStatuses":
            guard let clip = SimulatedAccount.clip(ofBundle: id) else { return nil }
            return Stored(attributes: account.domainStatus(ofClip: clip, at: now), related: [:])
        case "appClips":
            guard let (clip, app) = account.clip(id) else { return nil }
            return Stored(attributes: ["bundleId": .string(clip.bundleID)], related: ["app": [app.id]])
        case "appClipAdvancedExperiences":
            guard let experience = account.experiences[id] else { return nil }
            return Stored(
                attributes: account.attributes(of: experience, at: now),
                related: [
                    "appClip": [experience.clipID], "headerImage": [experience.imageID],
                    "localizations": experience.localizationIDs,
                ])
        case "appClipAdvancedExperienceImages":
            let operations = account.knobs.hidesUploadOperations ? nil : host
            return account.images[id].map {
                Stored(attributes: $0.attributes(account.knobs, host: operations, at: now), related: [:])
            }
        default: return account.localizations[id].map { Stored(attributes: $0.attributes, related: [:]) }
        }
    }

    private func resource(_ type: String, _ id: String) -> JSONValue {
        guard let stored = stored(type, id) else { return .null }
        let fields = query.fields[type]
        let path = "\(host)/v1/\(type)/\(id)"
        var attributes: JSONObject = [:]
        for (key, value) in stored.attributes where fields?.contains(key) != false { attributes[key] = value }
        var relationships: JSONObject = [:]
        for (name, relationship) in specification.resources[type]?.relationships ?? [:]
        where fields?.contains(name) != false {
            var members: JSONObject = [:]
            if relationship.hasLinks {
                members["links"] = [
                    "self": .string("\(path)/relationships/\(name)"), "related": .string("\(path)/\(name)"),
                ]
            }
            if query.include.contains(name), let ids = stored.related[name] {
                let shown = self.shown(ids, name)
                let identifiers = shown.map { Self.identifier(relationship.type, $0) }
                members["data"] = relationship.isToMany ? .array(identifiers) : identifiers.first ?? .null
                if relationship.hasPaging {
                    members["meta"] = [
                        "paging": [
                            "total": JSONValue(ids.count),
                            "limit": JSONValue(query.relationshipLimits[name] ?? Self.defaultRelated),
                        ]
                    ]
                }
            }
            if !members.isEmpty { relationships[name] = .object(members) }
        }
        var resource: JSONObject = [
            "type": .string(type), "id": .string(id), "attributes": .object(attributes),
            "links": ["self": .string(path)],
        ]
        if !relationships.isEmpty { resource["relationships"] = .object(relationships) }
        return .object(resource)
    }

    /// The default number of related resources that are included. [ours]
    private static let defaultRelated = 10

    private func shown(_ ids: [String], _ name: String) -> ArraySlice<String> {
        ids.prefix(query.relationshipLimits[name] ?? Self.defaultRelated)
    }

    /// The related resources that the query requests, each once.
    private func included(_ resources: [(type: String, id: String)]) -> JSONValue {
        guard !query.include.isEmpty else { return [] }
        var seen: Set<String> = []
        var included: [JSONValue] = []
        for (type, id) in resources {
            guard let stored = stored(type, id) else { continue }
            for name in query.include.sorted() {
                guard let related = specification.resources[type]?.relationships[name]?.type else { continue }
                for other in shown(stored.related[name] ?? [], name)
                where seen.insert("\(related) \(other)").inserted {
                    included.append(resource(related, other))
                }
            }
        }
        return .array(included)
    }
}

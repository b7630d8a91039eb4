import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Lookups
import Tenancy

/// The endpoints with which keys manage keys. A key cannot create a key with more rights or a later expiry than its own.
struct KeyEndpoints: Sendable {
    let store: any KeyStore

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/keys", .stored(.manageKeys, list), problems: .parameters),
            Endpoint(
                .post, "/v1/keys", .stored(.manageKeys, create), idempotency: .storedResponse,
                problems: .parameters + [.quotaExceeded, .keyNotActive, .unknownLocation, .widerKey]),
            Endpoint(
                .get, "/v1/keys/{id}", .stored(.manageKeys, show), problems: .parameters + [.unknownKey]),
            Endpoint(
                .patch, "/v1/keys/{id}", .stored(.manageKeys, update),
                problems: .parameters + [.widerKey, .unknownKey, .keyNotActive, .keyRotated]),
            Endpoint(
                .delete, "/v1/keys/{id}", .stored(.manageKeys, revoke),
                problems: .parameters + [.unknownKey, .widerKey]),
            Endpoint(
                .post, "/v1/keys/{id}/rotate", .stored(.manageKeys, rotate), isBodyOptional: true,
                idempotency: .storedResponse,
                problems: .parameters + [.unknownKey, .quotaExceeded, .keyNotActive, .keyRotated, .widerKey]),
        ]
    }

    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit"])
        let limit = try parameters.pageLength()
        let after = try parameters.cursor { UUID(text: $0).map(KeyID.init(_:)) }
        return try await APIResponse.page(
            after: after, limit: limit, { $0.json(at: request.now) }, place: \.id, name: \.description
        ) { try await store.keys(of: request.tenant, after: $0, limit: $1) }
    }

    private func show(_ request: AdmittedRequest) async throws -> APIResponse {
        let id = try self.id(of: request)
        guard let key = try await store.key(id, of: request.tenant) else { throw Problem.unknownKey }
        return APIResponse(uncached: JSONValue.object(key.json(at: request.now)).serialized())
    }

    private func create(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        return try await Problem.managing {
            var body = JSONObjectReader(request.body)
            let kind = try body.requiredCase("kind", of: KeyKind.self)
            let name = try body.optionalDisplayName("name")
            let scopes = try body.optionalScopes("scopes", of: kind)
            let locations = try body.optionalLocations("locations")
            let expiresAt = try body.optionalExpiry("expiresAt", after: request.now)
            try body.finish()
            let asked = scopes ?? kind.usualScopes(isRestricted: locations != nil)
            guard locations == nil || !asked.isEmpty && kind.scopesAtLocations.isSuperset(of: asked) else {
                throw JSONFieldError.invalid(
                    path: "locations",
                    reason: "must be left out for a key that is publishable, registers or manages")
            }
            let (key, record) = try await store.create(
                kind, by: APIKey.generate, named: name, scopes: scopes, locations: locations,
                expiresAt: expiresAt,
                by: request.actor, of: request.tenant)
            return APIResponse(showing: key, record, at: request.now)
        }
    }

    /// A merge patch (RFC 7396): null removes the name, or means that the key never expires.
    private func update(_ request: AdmittedRequest) async throws -> APIResponse {
        let id = try self.id(of: request)
        return try await Problem.managing {
            var change = KeyChange()
            var body = JSONObjectReader(request.body)
            change.name = try body.optionalPatch("name") { body throws(JSONFieldError) in
                try body.optionalDisplayName("name")
            }
            change.expiresAt = try body.optionalPatch("expiresAt") { body throws(JSONFieldError) in
                try body.optionalExpiry("expiresAt", after: request.now)
            }
            try body.finish()
            guard change != KeyChange() else { throw JSONFieldError.missing(path: "name or expiresAt") }
            let (record, isVisible) = try await store.update(
                id, change, by: request.actor, of: request.tenant)
            return isVisible
                ? APIResponse(uncached: JSONValue.object(record.json(at: request.now)).serialized())
                : .notVisible
        }
    }

    private func rotate(_ request: AdmittedRequest) async throws -> APIResponse {
        let id = try self.id(of: request)
        return try await Problem.managing {
            var body = JSONObjectReader(request.body)
            let overlap = try body.optionalDouble("overlapHours") ?? APIKey.usualOverlap
            try body.finish()
            guard APIKey.overlaps.contains(overlap) else {
                throw JSONFieldError.invalid(path: "overlapHours", reason: "must be from 0 to 8760")
            }
            let (key, record) = try await store.rotate(
                id, by: APIKey.generate, oldExpiresAt: request.now + overlap * 3_600, by: request.actor,
                of: request.tenant)
            return APIResponse(showing: key, record, at: request.now)
        }
    }

    private func revoke(_ request: AdmittedRequest) async throws -> APIResponse {
        let id = try self.id(of: request)
        return try await Problem.managing {
            let isVisible = try await store.revoke(id, by: request.actor, of: request.tenant)
            return isVisible ? APIResponse(.noContent) : .notVisible
        }
    }

    private func id(of request: AdmittedRequest) throws(Problem) -> KeyID {
        try request.refuseParameters()
        guard let uuid = UUID(text: request.parameter("id")) else { throw .unknownKey }
        return KeyID(uuid)
    }
}

extension APIResponse {
    /// The response to the key's creation, the only one that contains the key.
    fileprivate init(showing key: APIKey, _ record: KeyRecord, at now: Date) {
        var json = record.json(at: now)
        json["key"] = .string(key.text)
        self.init(.created, uncached: JSONValue.object(json).serialized())
        headers[.location] = "/v1/keys/\(record.id)"
    }
}

extension Problem {
    fileprivate static let unknownKey = Problem(.notFound, AdministrationError.unknownKey)
}

extension JSONObjectReader {
    /// Reads a key's expiry.
    fileprivate mutating func optionalExpiry(_ key: String, after now: Date) throws(JSONFieldError) -> Date? {
        guard let date = try optionalDate(key) else { return nil }
        let longest = 36_500.0 * 86_400
        guard date > now, date <= now + longest else {
            throw .invalid(path: path(of: key), reason: "must be in the next hundred years")
        }
        return date
    }

    /// Reads at least one scope that keys of this kind can have.
    fileprivate mutating func optionalScopes(
        _ key: String, of kind: KeyKind
    ) throws(JSONFieldError) -> Scopes? {
        guard let values = try optionalArray(key) else { return nil }
        let names = values.prefix(Scope.allCases.count + 1).compactMap(\.stringValue)
        let scopes = names.compactMap(Scope.init)
        guard !scopes.isEmpty, scopes.count == values.count,
            kind.scopes.isSuperset(of: Scopes(scopes.map(Scopes.init)))
        else {
            let all = kind.scopes.list.map(\.rawValue).joined(separator: ", ")
            throw .invalid(path: path(of: key), reason: "must be some of \(all), each once")
        }
        return Scopes(scopes.map(Scopes.init))
    }

    fileprivate mutating func optionalLocations(
        _ key: String
    ) throws(JSONFieldError) -> Set<LocationIdentifier>? {
        guard let values = try optionalArray(key) else { return nil }
        let counts = KeyRecord.locationCounts
        let texts = values.prefix(counts.upperBound + 1).compactMap(\.stringValue)
        let locations = Set(texts.compactMap { text in try? LocationIdentifier(text) })
        guard counts.contains(values.count), locations.count == values.count else {
            throw .invalid(
                path: path(of: key),
                reason:
                    "must be \(counts.lowerBound) to \(counts.upperBound) identifiers of locations, each once"
            )
        }
        return locations
    }
}

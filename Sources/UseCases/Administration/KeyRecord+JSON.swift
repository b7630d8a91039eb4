public import Formats
public import Foundation
import Invocation
import Tenancy

extension KeyRecord {
    public func json(at now: Date) -> JSONObject {
        [
            "id": .string(id.description), "name": name.map { .string($0.text) } ?? .null,
            "kind": .string(kind.rawValue),
            "scopes": .array(scopes.list.map { .string($0.rawValue) }),
            "locations": locations.map { .array($0.map(\.text).sorted().map(JSONValue.string)) } ?? .null,
            "hint": .string(hint),
            "status": .string(status(at: now).rawValue), "createdAt": JSONValue(createdAt),
            "expiresAt": expiresAt.map { JSONValue($0) } ?? .null,
            "revokedAt": revokedAt.map { JSONValue($0) } ?? .null,
            "lastUsedOn": lastUsedOn.map(JSONValue.string) ?? .null,
        ]
    }
}

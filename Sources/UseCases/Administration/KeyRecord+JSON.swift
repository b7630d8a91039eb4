public import Foundation
public import JSON
import Tenancy

extension KeyRecord {
    public func json(at now: Date) -> JSONObject {
        [
            "id": .string(id.description), "kind": .string(kind.rawValue),
            "scopes": .array(scopes.list.map { .string($0.rawValue) }), "hint": .string(hint),
            "status": .string(status(at: now).rawValue), "createdAt": JSONValue(createdAt),
            "expiresAt": expiresAt.map { JSONValue($0) } ?? .null,
            "revokedAt": revokedAt.map { JSONValue($0) } ?? .null,
            "lastUsedOn": lastUsedOn.map(JSONValue.string) ?? .null,
        ]
    }
}

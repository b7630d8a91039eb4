public import Formats
public import Foundation

/// One change of one row: actor, time, and the row before and after.
public struct AuditEntry: Sendable, Hashable {
    public enum Action: String, Sendable {
        case insert
        case update
        case delete
    }

    /// Larger for later entries.
    public let id: Int
    public let at: Date
    /// The actor that the program named, such as `operator:alice`.
    public let actor: String
    /// The database login.
    public let login: String
    public let action: Action
    /// The relation of the row, such as `locations`.
    public let relation: String
    /// Nil if the row was created.
    public let before: JSONObject?
    /// Nil if the row was deleted.
    public let after: JSONObject?

    public init(
        id: Int, at: Date, actor: String, login: String, action: Action, relation: String,
        before: JSONObject?, after: JSONObject?
    ) {
        self.id = id
        self.at = at
        self.actor = actor
        self.login = login
        self.action = action
        self.relation = relation
        self.before = before
        self.after = after
    }

    /// The columns with different values, sorted by name. All columns if the row was created or deleted.
    public var changes: [(column: String, before: JSONValue?, after: JSONValue?)] {
        let (before, after) = (before ?? [:], after ?? [:])
        return Set(before.map(\.key) + after.map(\.key)).subtracting(["tenant_id"]).sorted()
            .filter { before[$0] != after[$0] }
            .map { ($0, before[$0], after[$0]) }
    }
}

extension AuditEntry {
    public var json: JSONObject {
        [
            "id": JSONValue(id), "at": JSONValue(at), "actor": .string(actor), "login": .string(login),
            "action": .string(action.rawValue), "relation": .string(relation),
            "before": before.map(JSONValue.object) ?? .null,
            "after": after.map(JSONValue.object) ?? .null,
        ]
    }

    /// Reads the form of ``json``, without null members.
    public init(_ fields: inout JSONObjectReader) throws {
        guard let at = try fields.optionalDate("at") else { throw JSONFieldError.missing(path: "at") }
        guard let action = Action(rawValue: try fields.requiredString("action")) else {
            throw JSONFieldError.invalid(path: "action", reason: "must be insert, update or delete")
        }
        self.init(
            id: try fields.requiredInteger("id"), at: at, actor: try fields.requiredString("actor"),
            login: try fields.requiredString("login"), action: action,
            relation: try fields.requiredString("relation"), before: try fields.optionalMembers("before"),
            after: try fields.optionalMembers("after"))
    }
}

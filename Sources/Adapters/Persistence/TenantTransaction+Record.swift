import Administration
import JSON
import PostgreSQL

extension TenantTransaction {
    /// Writes to the audit log what somebody has done to rows of which no single change stands there: servers write them too often.
    /// - Parameters:
    ///   - relation: `deliveries` or `webhook_messages`.
    ///   - before: which rows were meant; nil for those that are new.
    func record(
        _ action: AuditEntry.Action, _ relation: String, before: JSONObject? = nil, after: JSONObject
    ) async throws {
        let text = { (object: JSONObject) in
            JSONValue.object(object).text
        }
        try await execute(
            """
            SELECT doorstep.record_act(\(action.rawValue), \(relation), \(before.map(text))::jsonb, \(text(after))::jsonb)
            """)
    }
}

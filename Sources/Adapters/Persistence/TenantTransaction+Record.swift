import Administration
import Formats
import PostgreSQL

extension TenantTransaction {
    /// Adds one entry for many rows to the audit log. Single rows have no entries, because servers write them too often.
    /// - Parameters:
    ///   - relation: `deliveries` or `webhook_messages`.
    ///   - before: The selected rows; nil for new ones.
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

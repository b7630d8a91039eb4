import Administration
import Formats
import Foundation
import PostgreSQL
import Tenancy

/// The audit log of one tenant at a time, for keys and for operators.
struct PostgresAuditLog: AuditLog {
    let store: PostgresAdministrationStore

    /// The most entries that one page examines. No index contains actors and relations, because it would make every change slower. [ours]
    static let examined = 10_000

    func page(
        of tenant: TenantID, before: Int?, limit: Int, where filter: [String: String]
    ) async throws -> AuditLogPage {
        try await store.read(tenant, .snapshot) { transaction in
            let entries = try await transaction.execute(
                """
                SELECT \(unsafeSQL: AuditEntry.columns) FROM (
                    SELECT \(unsafeSQL: AuditEntry.columns) FROM doorstep.audit_log
                    WHERE tenant_id = \(tenant.uuid) AND entry_id < \(before ?? .max)
                    ORDER BY entry_id DESC LIMIT \(Self.examined)) AS examined
                WHERE (\(filter["relation"])::text IS NULL OR relation = \(filter["relation"]))
                    AND (\(filter["actor"])::text IS NULL OR actor = \(filter["actor"]))
                ORDER BY entry_id DESC LIMIT \(limit)
                """
            ).map { try AuditEntry(row: $0) }
            guard entries.count < limit, !filter.isEmpty else { return AuditLogPage(entries: entries) }
            let last = try await transaction.execute(
                """
                SELECT entry_id FROM doorstep.audit_log
                WHERE tenant_id = \(tenant.uuid) AND entry_id < \(before ?? .max)
                ORDER BY entry_id DESC OFFSET \(Self.examined - 1) LIMIT 1
                """)
            return AuditLogPage(entries: entries, stoppedAt: try last.first.map { try $0.decode(at: 0) })
        }
    }

    func refusedRequests(
        of tenant: TenantID, _ selection: RefusedRequestSelection, before: UUID?, limit: Int
    ) async throws -> [RefusedRequest] {
        try await store.read(tenant, .snapshot) { transaction in
            try await transaction.execute(
                """
                SELECT entry_id, at, request_id, endpoint, status::integer, code, key_id FROM doorstep.refused_requests
                WHERE tenant_id = \(tenant.uuid) AND entry_id < \(before ?? .highest)
                    AND (\(selection.requestID)::text IS NULL OR request_id = \(selection.requestID))
                    AND (\(selection.status)::integer IS NULL OR status = \(selection.status))
                    AND (\(selection.code)::text IS NULL OR code = \(selection.code))
                    AND (\(selection.key?.uuid)::uuid IS NULL OR key_id = \(selection.key?.uuid))
                ORDER BY entry_id DESC LIMIT \(limit)
                """
            ).map { row in
                let (id, at, requestID, endpoint, status, code, key) = try row.decode(
                    UUID.self, Date.self, String.self, String.self, Int.self, String.self, UUID.self)
                return RefusedRequest(
                    id: id, at: at, requestID: requestID, endpoint: endpoint, status: status, code: code,
                    key: KeyID(key))
            }
        }
    }
}

extension AuditEntry {
    static let columns = "entry_id, at, actor, login, action, relation, before, after"

    /// Reads the columns in ``columns``.
    init(row: Row) throws {
        let (id, at, actor, login, action, relation, before, after) = try row.decode(
            Int.self, Date.self, String.self, String.self, String.self, String.self, JSONText?.self,
            JSONText?.self)
        self = try PersistenceError.reading("audit_log") {
            guard let action = Action(rawValue: action) else {
                throw PersistenceError.unreadable("audit_log")
            }
            return AuditEntry(
                id: id, at: at, actor: actor, login: login, action: action, relation: relation,
                before: try before.flatMap { try JSONValue(parsing: $0.text.utf8).objectValue },
                after: try after.flatMap { try JSONValue(parsing: $0.text.utf8).objectValue })
        }
    }
}

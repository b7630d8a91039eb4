import Foundation
import PostgreSQL
import Routing
import Tenancy

/// Which rows changed between two snapshots.
struct RoutingChanges {
    private struct Whole: Hashable {
        let relation: RoutingRelation
        let tenant: TenantID
    }

    private struct RowKey {
        let tenant: TenantID
        let key: [String]
    }

    private var wholes: Set<Whole> = []
    private var rows: [RoutingRelation: [RowKey]] = [:]

    var isEmpty: Bool { wholes.isEmpty && rows.isEmpty }
    var relationCount: Int { wholes.count }
    var rowCount: Int { rows.values.reduce(0) { $0 + $1.count } }

    /// What the transaction's snapshot sees and an earlier one did not.
    ///
    /// A transaction that is still to come left no change: its number came with a dump of another server.
    init(_ transaction: Transaction, since snapshot: String) async throws {
        let changes = try await transaction.execute(
            """
            SELECT DISTINCT relation, tenant_id, key FROM doorstep.changes
            WHERE xid >= pg_snapshot_xmin(\(snapshot)::pg_snapshot)
                AND xid < pg_snapshot_xmax(pg_current_snapshot())
                AND NOT pg_visible_in_snapshot(xid, \(snapshot)::pg_snapshot)
            """)
        for change in changes {
            let (name, tenant, key) = try change.decode(String.self, UUID.self, [String]?.self)
            // A relation that a later version feeds is nothing to this one.
            guard let relation = RoutingRelation(rawValue: name) else { continue }
            if let key, key.count == relation.keyColumns.count {
                rows[relation, default: []].append(RowKey(tenant: TenantID(tenant), key: key))
            } else {
                wholes.insert(Whole(relation: relation, tenant: TenantID(tenant)))
            }
        }
    }

    /// Makes the changed rows of a table what they are in the transaction's snapshot.
    /// - Returns: How many of them could not be read, and were left out.
    func apply(to table: inout RoutingTable, _ transaction: Transaction) async throws -> Int {
        var unreadable = 0
        for whole in wholes {
            table.removeAll(whole.relation, of: whole.tenant)
            unreadable += try await transaction.copyRows(
                of: whole.relation, of: whole.tenant, into: &table)
        }
        for (relation, keys) in rows {
            let keys = keys.filter { !wholes.contains(Whole(relation: relation, tenant: $0.tenant)) }
            guard !keys.isEmpty else { continue }
            for key in keys { table.remove(relation, of: key.tenant, key: key.key) }
            let columns = relation.keyColumns.indices.map { column in keys.map { $0.key[column] } }
            for row in try await transaction.execute(relation.rows(keys.map(\.tenant), columns)) {
                let row = try RoutingRow(row)
                do { try table.set(relation, row) } catch { unreadable += 1 }
            }
        }
        return unreadable
    }
}

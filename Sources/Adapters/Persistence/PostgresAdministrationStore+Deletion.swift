import Administration
import PostgreSQL
import Tenancy

/// The rows of a relation that refer to a row of another relation by one column.
struct Reference: Sendable {
    let relation: String
    let column: String
    /// The SQL expression for the name of a dependent.
    let name: String
    /// Whether a dependent can exist without the reference. If so, a deletion clears the reference; otherwise it deletes the
    /// dependent.
    var isCleared = false
}

extension TenantTransaction {
    /// Deletes the locked row with a key, and with `cascade` the rows that refer to it.
    /// - Parameter subject: The name of the row in the error for an item in use.
    /// - Returns: The number of deleted rows, by relation.
    func delete(
        _ subject: String, from relation: String, where column: String, is key: String,
        dependents references: [Reference], cascade: Bool
    ) async throws -> [RowCount] {
        var counts: [RowCount] = []
        if cascade {
            // A full audit log refuses no deletion.
            _ = try await execute("SELECT set_config('doorstep.deleting', 'on', true)")
            for reference in references {
                let count =
                    try await reference.isCleared
                    ? clear(reference, of: key)
                    : delete(from: reference.relation, where: reference.column, is: key)
                if count > 0 { counts.append(RowCount(relation: reference.relation, count: count)) }
            }
        } else {
            var dependents: [Dependents] = []
            for reference in references {
                if let found = try await self.dependents(reference, to: key) { dependents.append(found) }
            }
            guard dependents.isEmpty else { throw AdministrationError.inUse(subject, by: dependents) }
        }
        let count = try await delete(from: relation, where: column, is: key)
        return counts + [RowCount(relation: relation, count: count)]
    }

    /// Deletes the tenant's rows with a value in a column. Returns their number.
    func delete(from relation: String, where column: String, is value: String) async throws -> Int {
        try await execute(
            """
            DELETE FROM doorstep.\(identifier: relation)
            WHERE tenant_id = \(tenant.uuid) AND \(identifier: column) = \(value)
            """
        ).affectedRows
    }

    /// Clears the references of rows to a key. Returns the number of these rows.
    private func clear(_ reference: Reference, of key: String) async throws -> Int {
        try await execute(
            """
            UPDATE doorstep.\(identifier: reference.relation) SET \(identifier: reference.column) = NULL
            WHERE tenant_id = \(tenant.uuid) AND \(identifier: reference.column) = \(key)
            """
        ).affectedRows
    }

    /// Nil if no rows refer to the key.
    func dependents(_ reference: Reference, to key: String) async throws -> Dependents? {
        let rows = try await execute(
            """
            SELECT \(unsafeSQL: reference.name) AS name, count(*) OVER ()
            FROM doorstep.\(identifier: reference.relation)
            WHERE tenant_id = \(tenant.uuid) AND \(identifier: reference.column) = \(key)
            ORDER BY name LIMIT \(Dependents.limit)
            """
        ).map { try $0.decode(String.self, Int.self) }
        return rows.first.map { _, count in
            Dependents(RowCount(relation: reference.relation, count: count), first: rows.map(\.0))
        }
    }
}

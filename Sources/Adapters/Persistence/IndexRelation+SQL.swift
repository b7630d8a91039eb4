import Formats
import Lookups
import PostgreSQL
import Tenancy

/// The statements that read a relation, made of its columns.
extension IndexRelation {
    private var fields: String {
        columns.map { $0.expression(of: "r.\($0.columnName)") }.joined(separator: ", ")
    }

    private var predicate: String {
        condition.map { "r.\($0.column) IS \($0.isNull ? "" : "NOT ")NULL" } ?? "true"
    }

    /// The relation's rows, or those of one tenant, as a binary COPY.
    ///
    /// COPY takes no bound values. The text of a UUID cannot contain SQL.
    func copy(of tenant: TenantID? = nil) -> Query {
        let tenant = tenant.map { "r.tenant_id = '\($0)'" } ?? "true"
        return """
            COPY (SELECT \(unsafeSQL: fields) FROM doorstep.\(identifier: rawValue) r \
            WHERE \(unsafeSQL: predicate) AND \(unsafeSQL: tenant)) TO STDOUT (FORMAT binary)
            """
    }

    /// Up to `length` of a tenant's rows in the order of their keys, after the given key, as a binary COPY.
    ///
    /// The primary key's index has this order, so that each page costs the same. A key's text is written in hexadecimal digits,
    /// which cannot contain SQL.
    func page(of tenant: TenantID, after key: [String]?, length: Int) -> Query {
        let columns = keyColumns.map { "r.\($0.columnName)" }.joined(separator: ", ")
        let values = (key ?? []).map {
            "convert_from(decode('\(Base16.text($0.utf8))', 'hex'), 'UTF8')"
        }
        let start = key == nil ? "true" : "(\(columns)) > (\(values.joined(separator: ", ")))"
        return """
            COPY (SELECT \(unsafeSQL: fields) FROM doorstep.\(identifier: rawValue) r \
            WHERE \(unsafeSQL: predicate) AND r.tenant_id = '\(unsafeSQL: "\(tenant)")' \
            AND \(unsafeSQL: start) ORDER BY \(unsafeSQL: columns) LIMIT \(unsafeSQL: "\(length)")) \
            TO STDOUT (FORMAT binary)
            """
    }

    /// The rows of some keys, given as columns of one length: the tenants, then each of ``keyColumns`` as text.
    func rows(_ tenants: [TenantID], _ key: [[String]]) -> Query {
        let tenants = tenants.map(\.uuid)
        switch key.count {
        case 0:
            return """
                SELECT \(unsafeSQL: fields) FROM doorstep.\(identifier: rawValue) r
                WHERE r.tenant_id = ANY (\(tenants))
                """
        case 1:
            let type =
                switch self {
                case .keys: "uuid[]"
                case .revokedAttestKeys: "bytea[]"
                default: "text[]"
                }
            return """
                SELECT \(unsafeSQL: fields)
                FROM unnest(\(tenants), \(key[0])::text[]::\(unsafeSQL: type)) AS k (tenant_id, key)
                JOIN doorstep.\(identifier: rawValue) r
                    ON r.tenant_id = k.tenant_id AND r.\(identifier: keyColumns[0].columnName) = k.key
                WHERE \(unsafeSQL: predicate)
                """
        default:
            return """
                SELECT \(unsafeSQL: fields)
                FROM unnest(\(tenants), \(key[0]), \(key[1])) AS k (tenant_id, first, second)
                JOIN doorstep.\(identifier: rawValue) r
                    ON r.tenant_id = k.tenant_id AND r.\(identifier: keyColumns[0].columnName) = k.first
                        AND r.\(identifier: keyColumns[1].columnName) = k.second
                """
        }
    }
}

extension Transaction {
    /// Reads rows of a relation into an index.
    /// - Returns: The number of rows that could not be read, and were left out.
    func copyRows(
        of relation: IndexRelation, of tenant: TenantID? = nil, into table: inout LookupIndex
    ) async throws -> Int {
        var reader = BinaryCopyReader(columnCount: relation.columns.count)
        var unreadable = 0
        try await copyOut(relation.copy(of: tenant)) { piece in
            try reader.read(piece) { fields in
                let row = IndexRow(bytes: piece, fields: fields)
                // The index has no rows of the relation yet, and each row arrives once.
                do { try table.set(relation, row, isNew: true) } catch { unreadable += 1 }
            }
        }
        table.settle()
        return unreadable
    }
}

extension IndexRow {
    init(_ row: Row) throws(PostgreSQLError) {
        var values: [[UInt8]?] = []
        for column in row.columns.indices {
            values.append(try row.decode(at: column, as: BinaryValue?.self)?.bytes)
        }
        self.init(values)
    }
}

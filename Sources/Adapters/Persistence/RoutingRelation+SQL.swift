import PostgreSQL
import Routing
import Tenancy

/// What is read of each relation, in the order that a routing table takes its fields.
extension RoutingRelation {
    private var fields: String {
        switch self {
        case .tenants:
            """
            r.tenant_id, r.suspended_at IS NOT NULL, r.key_rate::bigint, r.key_burst::bigint, r.client_rate::bigint,
                r.client_burst::bigint, r.new_instance_rate::bigint, r.new_instance_burst::bigint,
                r.client_new_instance_rate::bigint, r.client_new_instance_burst::bigint
            """
        case .clips:
            """
            r.tenant_id, r.bundle_id, r.multi_business, r.team_id, r.parent_bundle_id,
                coalesce(r.app_id_prefix, r.team_id)
            """
        case .keys:
            "r.tenant_id, r.key_id, r.kind, r.digest, r.expires_at, array_to_string(r.scopes, ',')"
        case .domains: "r.tenant_id, r.host, r.content::text"
        case .locations: "r.tenant_id, r.identifier, r.name, r.latitude, r.longitude, r.radius"
        case .experiences:
            "r.tenant_id, r.kind, r.url, r.bundle_id, r.location_identifier, r.identifier_rule"
        case .shortCodes: "r.tenant_id, r.code, r.url"
        }
    }

    private var condition: String {
        switch self {
        case .keys: "r.revoked_at IS NULL"
        case .domains: "r.proved_at IS NOT NULL"
        default: "true"
        }
    }

    /// The relation's rows, those of one tenant if it is given, as a COPY in binary.
    ///
    /// COPY takes no bound values; a UUID's text holds nothing that SQL could take for its own.
    func copy(of tenant: TenantID? = nil) -> Query {
        let tenant = tenant.map { "r.tenant_id = '\($0)'" } ?? "true"
        return """
            COPY (SELECT \(unsafeSQL: fields) FROM doorstep.\(identifier: rawValue) r \
            WHERE \(unsafeSQL: condition) AND \(unsafeSQL: tenant)) TO STDOUT (FORMAT binary)
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
            let type = self == .keys ? "uuid[]" : "text[]"
            return """
                SELECT \(unsafeSQL: fields)
                FROM unnest(\(tenants), \(key[0])::text[]::\(unsafeSQL: type)) AS k (tenant_id, key)
                JOIN doorstep.\(identifier: rawValue) r
                    ON r.tenant_id = k.tenant_id AND r.\(identifier: keyColumns[0]) = k.key
                WHERE \(unsafeSQL: condition)
                """
        default:
            return """
                SELECT \(unsafeSQL: fields)
                FROM unnest(\(tenants), \(key[0]), \(key[1])) AS k (tenant_id, first, second)
                JOIN doorstep.\(identifier: rawValue) r
                    ON r.tenant_id = k.tenant_id AND r.\(identifier: keyColumns[0]) = k.first
                        AND r.\(identifier: keyColumns[1]) = k.second
                """
        }
    }

    /// The columns of the primary key beside the tenant, in the order of a change's key.
    var keyColumns: [String] {
        switch self {
        case .tenants: []
        case .clips: ["bundle_id"]
        case .keys: ["key_id"]
        case .domains: ["host"]
        case .locations: ["identifier"]
        case .experiences: ["kind", "url"]
        case .shortCodes: ["code"]
        }
    }
}

extension Transaction {
    /// Reads rows of a relation into a table.
    /// - Returns: How many of them could not be read, and were left out.
    func copyRows(
        of relation: RoutingRelation, of tenant: TenantID? = nil, into table: inout RoutingTable
    ) async throws -> Int {
        var reader = RoutingRow.Reader()
        var unreadable = 0
        try await copyOut(relation.copy(of: tenant)) { piece in
            try reader.read(piece, fieldCount: relation.fieldCount) { row throws(RoutingError) in
                // Rows of a relation come once, into a table that has none of them.
                do { try table.set(relation, row, isNew: true) } catch { unreadable += 1 }
            }
        }
        return unreadable
    }
}

extension RoutingRow {
    init(_ row: Row) throws(PostgreSQLError) {
        var values: [[UInt8]?] = []
        for column in row.columns.indices {
            values.append(try row.decode(at: column, as: BinaryValue?.self)?.bytes)
        }
        self.init(values)
    }
}

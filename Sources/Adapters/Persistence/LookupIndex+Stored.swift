public import Lookups
public import PostgreSQL
public import Tenancy

extension Transaction {
    /// The whole lookup index, as of the transaction's snapshot.
    /// - Returns: The index, and the number of rows that could not be read.
    func routingTable() async throws -> (table: LookupIndex, unreadable: Int) {
        // An estimate, which saves growing the index repeatedly.
        let expected: Int = try await execute(
            "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'doorstep.experiences'::regclass"
        ).one().decode(at: 0)
        var table = LookupIndex(expected: expected)
        var unreadable = 0
        for relation in IndexRelation.allCases {
            unreadable += try await copyRows(of: relation, into: &table)
        }
        table.compact()
        return (table, unreadable)
    }
}

extension ConnectionPool {
    /// The rows of one tenant in the lookup index, without keys.
    /// - Parameter trust: The locations in URLs that are trusted.
    public func tenantTable(
        of tenant: TenantID, trusting trust: LocationTrust = .nothing
    ) async throws -> TenantTable {
        try await routingTable(of: tenant).of(tenant, trusting: trust)
    }

    /// Reads in a transaction that can access only the tenant's rows.
    func routingTable(of tenant: TenantID) async throws -> LookupIndex {
        try await withTenantTransaction(tenant, as: .app, .snapshot) { transaction in
            var table = LookupIndex()
            for relation in IndexRelation.allCases where relation != .keys {
                _ = try await transaction.copyRows(of: relation, into: &table)
            }
            return table
        }
    }
}

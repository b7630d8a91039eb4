public import Lookups
public import PostgreSQL
public import Tenancy

extension Transaction {
    /// Everything that a routing table holds, as it is in the transaction's snapshot.
    /// - Returns: the table, and how many rows could not be read.
    func routingTable() async throws -> (table: LookupIndex, unreadable: Int) {
        // An estimate, without which the table would be made larger again and again while it fills.
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
    /// - Parameter trust: Which places that URLs carry in themselves are believed.
    public func tenantTable(
        of tenant: TenantID, trusting trust: LocationTrust = .nothing
    ) async throws -> TenantTable {
        try await routingTable(of: tenant).of(tenant, trusting: trust)
    }

    /// Reads with no more than the tenant's own rows in reach.
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

import Geodesy
import Invocation
import Lookups
import PostgreSQL
import Tenancy

/// Changes to come, each of as many locations of one tenant in one transaction.
struct ChangingLocations {
    struct Change {
        let tenant: TenantID
        let locations: [LocationIdentifier]
        /// In metres.
        let radius: Double
    }

    private let tenants: [(tenant: TenantID, locations: [LocationIdentifier])]
    private let size: Int
    private var made = 0

    /// - Parameter size: The number of locations in each change; fewer if the tenant has fewer among `places`.
    init(_ places: [RegisteredLocation], at size: Int) {
        self.size = size
        tenants = Dictionary(grouping: places, by: \.tenant)
            .sorted { $0.key.description < $1.key.description }
            .map { tenant, places in (tenant, places.map(\.location)) }
    }

    /// A change of the next tenant's next locations.
    mutating func next() -> Change {
        let (tenant, locations) = tenants[made % tenants.count]
        let first = made * size
        made += 1
        return Change(
            tenant: tenant, locations: (first..<first + size).map { locations[$0 % locations.count] },
            // No whole number of metres, which nothing was registered with, and another one each time.
            radius: Double(made % 400) + 0.5 + (size == 1 ? 0 : 0.25))
    }
}

extension ChangingLocations.Change {
    /// Works as the administration does: the tenant is the transaction's, and the triggers see to the rest.
    func commit(to pool: ConnectionPool) async throws {
        try await pool.withTransaction(.readWrite) { transaction in
            _ = try await transaction.execute(
                "SELECT set_config('doorstep.tenant_id', \(tenant.description), true)")
            _ = try await transaction.execute(
                """
                UPDATE doorstep.locations SET radius = \(radius)
                WHERE tenant_id = \(tenant.uuid) AND identifier = ANY (\(locations.map(\.text)))
                """)
        }
    }

    func isVisible(in state: LiveLookupIndex.State) -> Bool {
        let table = state.table(of: tenant)
        return locations.allSatisfy { table.location($0)?.region.radius.meters == radius }
    }
}

import Foundation
import Invocation
import PostgreSQL
import Tenancy

/// An experience of the database, and the location it is bound to.
struct RegisteredLocation {
    let tenant: TenantID
    let location: LocationIdentifier
    /// Deeper than the registered URL and with a query, as people scan it.
    let invocation: InvocationURL

    /// A given number of random places of all tenants, the same each time.
    ///
    ///
    /// If fewer places exist, they repeat in the same order.
    static func sample(_ count: Int, from pool: ConnectionPool) async throws -> [RegisteredLocation] {
        let rows = try await pool.withTransaction(.readOnly) { transaction in
            try await transaction.execute(
                """
                SELECT tenant_id, location_identifier, url FROM doorstep.experiences
                WHERE location_identifier IS NOT NULL ORDER BY md5(url), tenant_id LIMIT \(count)
                """)
        }
        let places = try rows.map { row in
            let (tenant, location, url) = try row.decode(UUID.self, String.self, String.self)
            return RegisteredLocation(
                tenant: TenantID(tenant), location: try LocationIdentifier(location),
                invocation: try InvocationURL(url + "/order/1234?table=7"))
        }
        guard !places.isEmpty else { return [] }
        return (0..<count).map { places[$0 % places.count] }
    }

    /// Brings what a search reads of the URL into the processor's caches.
    func touch() {
        blackHole(invocation.bytes.reduce(0, &+))
    }
}

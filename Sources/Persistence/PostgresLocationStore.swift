import Foundation
import Geodesy
import Invocation
public import Locations
import Notifications
public import PostgreSQL
public import Tenancy

/// Tenants' experiences and locations in PostgreSQL, read as `doorstep_app`.
public struct PostgresLocationStore: LocationStore {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func withCatalogue<Result: Sendable>(
        of tenant: TenantID, _ body: (any LocationCatalogue) async throws -> Result
    ) async throws -> Result {
        try await pool.withTenantTransaction(tenant, as: .app, .snapshot) { transaction in
            try await body(PostgresLocationCatalogue(transaction: transaction))
        }
    }

    public func record(_ confirmation: ConfirmationRecord, of tenant: TenantID) async throws {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            _ = try await transaction.execute(
                """
                INSERT INTO doorstep.confirmations (tenant_id, location_identifier, outcome, source, minute)
                VALUES (\(tenant.uuid), \(confirmation.location?.text), \(confirmation.outcome.rawValue),
                    \(confirmation.source.rawValue), \(confirmation.minute))
                """)
        }
    }
}

private struct PostgresLocationCatalogue: LocationCatalogue {
    let transaction: TenantTransaction

    func experiences(near invocation: InvocationURL) async throws -> [Experience] {
        try await transaction.experiences(near: invocation).map(\.experience)
    }

    func location(_ identifier: LocationIdentifier) async throws -> Location? {
        let rows = try await transaction.execute(
            """
            SELECT name, latitude, longitude, radius FROM doorstep.locations
            WHERE tenant_id = \(transaction.tenant.uuid) AND identifier = \(identifier.text)
            """)
        return try rows.first.map { row in
            let (name, latitude, longitude, radius) = try row.decode(
                String.self, Double.self, Double.self, Double.self)
            let region = try PersistenceError.reading("locations") {
                try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius))
            }
            return Location(identifier: identifier, name: name, region: region)
        }
    }

    func url(ofShortCode code: String) async throws -> InvocationURL? {
        let rows = try await transaction.execute(
            """
            SELECT url FROM doorstep.short_codes
            WHERE tenant_id = \(transaction.tenant.uuid) AND code = \(code)
            """)
        return try rows.first.map { row in
            let url = try row.decode(String.self)
            return try PersistenceError.reading("short_codes") { try InvocationURL(url) }
        }
    }
}

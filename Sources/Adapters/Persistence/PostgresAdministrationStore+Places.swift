public import Administration
public import Foundation
import Geodesy
public import Invocation
import PostgreSQL
public import Tenancy

// The console finds locations among many.

extension PostgresAdministrationStore {
    /// Lists locations by identifier, after one, up to `limit`.
    /// - Parameters:
    ///   - identifiers: The only locations to list; nil for all.
    ///   - confirmationsSince: The earliest time of a last confirmation.
    public func places(
        _ identifiers: [LocationIdentifier]?, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        confirmationsSince: Date
    ) async throws -> [ListedLocation] {
        try await read(tenant) { transaction in
            let rows = try await transaction.execute(
                """
                SELECT \(unsafeSQL: ListedLocation.columns) FROM doorstep.locations l
                WHERE l.tenant_id = \(tenant.uuid) AND l.identifier > \(after?.text ?? "") AND \(identifiers)
                ORDER BY l.identifier LIMIT \(limit)
                """)
            let places = try rows.map { try ListedLocation(row: $0) }
            guard !places.isEmpty else { return [] }
            // One statement for all locations. Unfinished days have no index by location, so it reads them once.
            let days = try await transaction.execute(
                """
                SELECT location_identifier, to_char(max(minute) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
                FROM doorstep.confirmations
                WHERE tenant_id = \(tenant.uuid) AND minute >= \(confirmationsSince)
                    AND location_identifier = ANY (\(places.map(\.identifier.text)))
                GROUP BY location_identifier
                """
            ).map { try $0.decode(String.self, String.self) }
            let lastDays = Dictionary(days) { one, _ in one }
            return places.map { place in
                ListedLocation(
                    identifier: place.identifier, name: place.name, region: place.region,
                    lastConfirmationDay: lastDays[place.identifier.text])
            }
        }
    }

    /// Lists the locations without a confirmation since a minute, by identifier, after one, up to `limit`.
    /// - Parameters:
    ///   - identifiers: The only locations to list; nil for all.
    ///   - maximumCount: The number at which counting stops.
    public func places(
        _ identifiers: [LocationIdentifier]?, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        unusedSince start: Date, countingUpTo maximumCount: Int
    ) async throws -> UnusedLocations {
        try await read(tenant) { transaction in
            // Finds the locations with confirmations once, for both the list and the count, because this reads all confirmations of
            // the tenant.
            let rows = try await transaction.execute(
                """
                WITH used AS MATERIALIZED (
                    SELECT DISTINCT location_identifier FROM doorstep.confirmations
                    WHERE tenant_id = \(tenant.uuid) AND minute >= \(start)),
                unused AS NOT MATERIALIZED (
                    SELECT \(unsafeSQL: ListedLocation.columns) FROM doorstep.locations l
                    WHERE l.tenant_id = \(tenant.uuid) AND \(identifiers)
                        AND NOT EXISTS (SELECT FROM used WHERE location_identifier = l.identifier))
                SELECT *, (SELECT count(*) FROM (SELECT FROM unused LIMIT \(maximumCount)) AS counted) FROM unused
                WHERE identifier > \(after?.text ?? "") ORDER BY identifier LIMIT \(limit)
                """)
            return UnusedLocations(
                listed: try rows.map { try ListedLocation(row: $0) },
                count: try rows.first?.decode("count", as: Int.self) ?? 0)
        }
    }

    /// The experiences that can form a URL to the location: those with the location, then those that read an identifier from a
    /// path or a query; at most `limit` of each.
    public func experiences(
        leadingTo location: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [ExperienceRecord] {
        try await read(tenant) { transaction in
            let bound = try await transaction.execute(
                """
                SELECT \(unsafeSQL: ExperienceRecord.columnList) FROM doorstep.experiences
                WHERE tenant_id = \(tenant.uuid) AND location_identifier = \(location.text)
                ORDER BY kind, url LIMIT \(limit)
                """)
            let reading = try await transaction.execute(
                """
                SELECT \(unsafeSQL: ExperienceRecord.columnList) FROM doorstep.experiences
                WHERE tenant_id = \(tenant.uuid) AND location_identifier IS NULL
                    AND (identifier_rule LIKE 'path:%' OR identifier_rule LIKE 'query:%')
                ORDER BY kind, url LIMIT \(limit)
                """)
            return try ExperienceRecord.items(in: Array(bound) + Array(reading))
        }
    }

    /// The short codes of the URLs, up to `limit`.
    public func shortCodes(
        of urls: [String], of tenant: TenantID, limit: Int
    ) async throws -> [ShortCode] {
        try await read(tenant) { transaction in
            let rows = try await transaction.execute(
                """
                SELECT code, url FROM doorstep.short_codes
                WHERE tenant_id = \(tenant.uuid) AND url = ANY (\(urls)) ORDER BY code LIMIT \(limit)
                """)
            return try ShortCode.items(in: rows)
        }
    }
}

extension ListedLocation {
    /// The columns of locations with the alias `l`.
    fileprivate static let columns = "l.identifier, l.name, l.latitude, l.longitude, l.radius"

    /// Reads the columns in ``columns``.
    fileprivate init(row: Row) throws {
        let identifier = try row.decode("identifier", as: String.self)
        let name = try row.decode("name", as: String.self)
        let latitude = try row.decode("latitude", as: Double.self)
        let longitude = try row.decode("longitude", as: Double.self)
        let radius = try row.decode("radius", as: Double.self)
        self = try PersistenceError.reading("locations") {
            ListedLocation(
                identifier: try LocationIdentifier(identifier), name: try DisplayName(stored: name),
                region: try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius)), lastConfirmationDay: nil)
        }
    }
}

extension Query.StringInterpolation {
    /// The condition that a location `l` has one of the identifiers; true for nil.
    fileprivate mutating func appendInterpolation(_ identifiers: [LocationIdentifier]?) {
        guard let identifiers else { return appendLiteral("true") }
        appendLiteral("l.identifier = ANY (")
        appendInterpolation(identifiers.map(\.text))
        appendLiteral("::text[])")
    }
}

public import Administration
public import Foundation
import Geodesy
public import Invocation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore: TenantDirectory {}

extension PostgresAdministrationStore: PlaceDirectory {
    public func places(
        _ selection: PlaceSelection, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        confirmedSince: Date
    ) async throws -> [ListedPlace] {
        try await read(tenant) { transaction in
            let rows = try await transaction.execute(
                """
                SELECT l.identifier, l.name, l.latitude, l.longitude, l.radius FROM doorstep.locations l
                WHERE l.tenant_id = \(tenant.uuid) AND l.identifier > \(after?.text ?? "") AND \(selection)
                ORDER BY l.identifier LIMIT \(limit)
                """)
            let places = try rows.map { try ListedPlace(row: $0) }
            guard !places.isEmpty else { return [] }
            // For all of them at once: days that are not over have no index by location, and are read one time.
            let days = try await transaction.execute(
                """
                SELECT location_identifier, to_char(max(minute) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
                FROM doorstep.confirmations
                WHERE tenant_id = \(tenant.uuid) AND minute >= \(confirmedSince)
                    AND location_identifier = ANY (\(places.map(\.identifier.text)))
                GROUP BY location_identifier
                """
            ).map { try $0.decode(String.self, String.self) }
            let lastDays = Dictionary(days) { one, _ in one }
            return places.map { place in
                ListedPlace(
                    identifier: place.identifier, name: place.name, region: place.region,
                    lastConfirmedOn: lastDays[place.identifier.text])
            }
        }
    }

    public func count(
        _ selection: PlaceSelection, of tenant: TenantID, upTo limit: Int
    ) async throws -> Int {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT count(*) FROM (
                    SELECT FROM doorstep.locations l WHERE l.tenant_id = \(tenant.uuid) AND \(selection)
                    LIMIT \(limit)) AS counted
                """
            ).one().decode(at: 0)
        }
    }

    public func experiences(
        leadingTo location: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [ExperienceRecord] {
        try await read(tenant) { transaction in
            let bound = try await transaction.execute(
                """
                SELECT \(unsafeSQL: ExperienceRecord.columns) FROM doorstep.experiences
                WHERE tenant_id = \(tenant.uuid) AND location_identifier = \(location.text)
                ORDER BY kind, url LIMIT \(limit)
                """)
            let reading = try await transaction.execute(
                """
                SELECT \(unsafeSQL: ExperienceRecord.columns) FROM doorstep.experiences
                WHERE tenant_id = \(tenant.uuid) AND location_identifier IS NULL
                    AND (identifier_rule LIKE 'path:%' OR identifier_rule LIKE 'query:%')
                ORDER BY kind, url LIMIT \(limit)
                """)
            return try (Array(bound) + Array(reading)).map { try ExperienceRecord(row: $0) }
        }
    }

    public func shortCodes(
        of urls: [String], of tenant: TenantID, limit: Int
    ) async throws -> [ShortCode] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT code, url FROM doorstep.short_codes
                WHERE tenant_id = \(tenant.uuid) AND url = ANY (\(urls)) ORDER BY code LIMIT \(limit)
                """
            ).map { try ShortCode(row: $0) }
        }
    }
}

extension ListedPlace {
    fileprivate init(row: Row) throws {
        let (identifier, name, latitude, longitude, radius) = try row.decode(
            String.self, String.self, Double.self, Double.self, Double.self)
        self = try PersistenceError.reading("locations") {
            ListedPlace(
                identifier: try LocationIdentifier(identifier), name: try DisplayName(name),
                region: try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius)), lastConfirmedOn: nil)
        }
    }
}

extension Query.StringInterpolation {
    /// The condition of locations that are called `l`.
    fileprivate mutating func appendInterpolation(_ selection: PlaceSelection) {
        appendLiteral("true")
        if let identifiers = selection.identifiers {
            appendLiteral(" AND l.identifier = ANY (")
            appendInterpolation(identifiers.map(\.text))
            appendLiteral("::text[])")
        }
        if let start = selection.unusedSince {
            appendLiteral(
                """
                 AND NOT EXISTS (SELECT FROM doorstep.confirmations c
                 WHERE c.tenant_id = l.tenant_id AND c.location_identifier = l.identifier AND c.minute >=
                """ + " ")
            appendInterpolation(start)
            appendLiteral(")")
        }
    }
}

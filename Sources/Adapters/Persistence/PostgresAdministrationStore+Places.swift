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
            try await transaction.execute(
                """
                SELECT l.identifier, l.name, l.latitude, l.longitude, l.radius, (
                    SELECT to_char(max(c.minute) AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM doorstep.confirmations c
                    WHERE c.tenant_id = l.tenant_id AND c.location_identifier = l.identifier
                        AND c.minute >= \(confirmedSince))
                FROM doorstep.locations l
                WHERE l.tenant_id = \(tenant.uuid) AND l.identifier > \(after?.text ?? "") AND \(selection)
                ORDER BY l.identifier LIMIT \(limit)
                """
            ).map { try ListedPlace(row: $0) }
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

    public func cells(
        _ selection: PlaceSelection, of tenant: TenantID, in grid: MapGrid
    ) async throws -> [MapCell] {
        let cellsAround = 256 * pow(2, Double(grid.zoom)) / MapGrid.cellSize
        return try await read(tenant) { transaction in
            // What is near each other falls into one cell; at the last zoom levels every location has its own.
            try await transaction.execute(
                """
                SELECT count(*), avg(l.latitude), avg(l.longitude), min(l.identifier), min(l.name), min(l.radius)
                FROM doorstep.locations l
                WHERE l.tenant_id = \(tenant.uuid) AND l.latitude BETWEEN \(grid.south) AND \(grid.north)
                    AND (l.longitude BETWEEN \(grid.west) AND \(grid.east)
                        OR l.longitude - 360 BETWEEN \(grid.west) AND \(grid.east)
                        OR l.longitude + 360 BETWEEN \(grid.west) AND \(grid.east))
                    AND \(selection)
                GROUP BY floor((l.longitude + 180) / 360 * \(cellsAround)),
                    floor(ln(tan(pi() / 4 + radians(greatest(least(l.latitude, \(MapGrid.maximumLatitude)),
                        -\(MapGrid.maximumLatitude))) / 2)) / (2 * pi()) * \(cellsAround)),
                    CASE WHEN \(grid.isOfSinglePlaces) THEN l.identifier END
                ORDER BY 1 DESC, 4 LIMIT \(MapGrid.maximumCells)
                """
            ).map { row in
                let (count, latitude, longitude, identifier, name, radius) = try row.decode(
                    Int.self, Double.self, Double.self, String.self, String.self, Double.self)
                return try PersistenceError.reading("locations") {
                    let center = try Coordinate(latitude: latitude, longitude: longitude)
                    return MapCell(
                        count: count, center: center,
                        place: count > 1
                            ? nil
                            : ListedPlace(
                                identifier: try LocationIdentifier(identifier), name: try DisplayName(name),
                                region: try CircularRegion(center: center, radius: Distance(meters: radius)),
                                lastConfirmedOn: nil))
                }
            }
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

extension MapGrid {
    /// From here on a cell is a few metres wide, and whoever looks so close wants to tell two doors apart. [ours]
    fileprivate var isOfSinglePlaces: Bool { zoom >= 16 }
}

extension ListedPlace {
    fileprivate init(row: Row) throws {
        let (identifier, name, latitude, longitude, radius, day) = try row.decode(
            String.self, String.self, Double.self, Double.self, Double.self, String?.self)
        self = try PersistenceError.reading("locations") {
            ListedPlace(
                identifier: try LocationIdentifier(identifier), name: try DisplayName(name),
                region: try CircularRegion(
                    center: Coordinate(latitude: latitude, longitude: longitude),
                    radius: Distance(meters: radius)), lastConfirmedOn: day)
        }
    }
}

extension Query.StringInterpolation {
    /// The condition of locations that are called `l`.
    fileprivate mutating func appendInterpolation(_ selection: PlaceSelection) {
        appendLiteral("true")
        if let text = selection.text {
            appendLiteral(" AND (starts_with(l.identifier, ")
            appendInterpolation(text)
            appendLiteral(") OR position(lower(")
            appendInterpolation(text)
            appendLiteral("::text) IN lower(l.name)) > 0)")
        }
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

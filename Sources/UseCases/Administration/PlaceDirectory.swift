public import Foundation
public import Geodesy
public import Invocation
public import RateLimiting
public import Tenancy

/// Finds a tenant's locations among many, for people who look for them.
public protocol PlaceDirectory: Sendable {
    /// By identifier, after one, up to `limit`.
    /// - Parameter confirmedSince: from when on it is looked for confirmations.
    func places(
        _ selection: PlaceSelection, of tenant: TenantID, after: LocationIdentifier?, limit: Int,
        confirmedSince: Date
    ) async throws -> [ListedPlace]

    /// How many there are; no more than `limit` are counted.
    func count(_ selection: PlaceSelection, of tenant: TenantID, upTo limit: Int) async throws -> Int

    /// Those within a box, put together where they are near each other.
    func cells(_ selection: PlaceSelection, of tenant: TenantID, in grid: MapGrid) async throws -> [MapCell]

    /// The experiences from which a URL to the location can be made: those that are bound to it, then those that read an
    /// identifier from a path or a query; at most `limit` of each.
    func experiences(
        leadingTo location: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [ExperienceRecord]

    /// The short codes that stand for one of the URLs, up to `limit`.
    func shortCodes(of urls: [String], of tenant: TenantID, limit: Int) async throws -> [ShortCode]

    /// The location's changes, the newest first, up to `limit`; those of one that was deleted too.
    func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int
    ) async throws -> [AuditEntry]
}

/// Which locations are looked for.
public struct PlaceSelection: Sendable, Hashable {
    /// What an identifier begins with, or a name holds, in whatever case; nil for any.
    public var text: String?
    /// No others than these; nil for any.
    public var identifiers: [LocationIdentifier]?
    /// Nobody was confirmed there from this minute on; nil for any.
    public var unusedSince: Date?

    public init(
        text: String? = nil, identifiers: [LocationIdentifier]? = nil, unusedSince: Date? = nil
    ) {
        self.text = text
        self.identifiers = identifiers
        self.unusedSince = unusedSince
    }
}

/// A location as a list shows it.
public struct ListedPlace: Sendable, Hashable {
    public let identifier: LocationIdentifier
    public let name: DisplayName
    public let region: CircularRegion
    /// The day in UTC, `YYYY-MM-DD`, of the latest confirmation that was looked for; nil where there is none.
    public let lastConfirmedOn: String?

    public init(
        identifier: LocationIdentifier, name: DisplayName, region: CircularRegion, lastConfirmedOn: String?
    ) {
        self.identifier = identifier
        self.name = name
        self.region = region
        self.lastConfirmedOn = lastConfirmedOn
    }
}

/// A box of the world, divided as a map at a zoom level is: by the Web Mercator projection (EPSG:3857), in which the world
/// is 256 · 2^zoom pixels wide.
public struct MapGrid: Sendable, Hashable {
    public let south: Double
    /// Beyond −180 where the box reaches over the antimeridian from the east.
    public let west: Double
    public let north: Double
    public let east: Double
    public let zoom: Int

    /// The side of a cell, in pixels. [ours]
    public static let cellSize = 48.0
    /// The most cells that are answered. [ours]
    public static let maximumCells = 1_500
    /// Where the projection ends, in degrees.
    public static let maximumLatitude = 85.051128
    public static let zooms = 0...18

    /// Nil for what is no box of the map.
    public init?(south: Double, west: Double, north: Double, east: Double, zoom: Int) {
        guard Self.zooms.contains(zoom), (-90...90).contains(south), (-90...90).contains(north),
            south < north,
            (-540...540).contains(west), (-540...540).contains(east), west < east
        else { return nil }
        self.south = south
        self.west = west
        self.north = north
        self.east = east
        self.zoom = zoom
    }
}

/// What stands in one cell of a map: a location, or several with where they are on average.
public struct MapCell: Sendable, Hashable {
    public let count: Int
    public let center: Coordinate
    /// Of a single one.
    public let place: ListedPlace?

    public init(count: Int, center: Coordinate, place: ListedPlace?) {
        self.count = count
        self.center = center
        self.place = place
    }
}

/// The tenants of an installation.
public protocol TenantDirectory: Sendable {
    /// By slug.
    func tenants() async throws -> [Tenant]
    /// - Throws: `AdministrationError.unknownTenant`.
    func tenant(_ slug: TenantSlug) async throws -> Tenant
    /// Suspends or resumes; a tenant that is so already stays as it is.
    /// - Throws: `AdministrationError.unknownTenant`.
    func setSuspended(_ isSuspended: Bool, _ slug: TenantSlug) async throws -> Tenant
    /// Replaces the tenant's own limits.
    /// - Throws: `AdministrationError.unknownTenant`.
    func setLimits(_ limits: RequestLimits, _ slug: TenantSlug) async throws -> Tenant
}

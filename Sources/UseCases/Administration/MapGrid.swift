import Foundation
public import Geodesy
import Invocation
public import Lookups

/// A box of the world, divided into the cells of a map at a zoom level. The projection is Web Mercator (EPSG:3857), in which the
/// world is 256 · 2^zoom pixels wide.
public struct MapGrid: Sendable, Hashable {
    public let south: Double
    /// Less than −180 if the box crosses the antimeridian from the east.
    public let west: Double
    public let north: Double
    public let east: Double
    public let zoom: Int

    /// The side of a cell, in pixels. [ours]
    public static let cellSize = 48.0
    /// The maximum number of cells in a response. [ours]
    public static let maximumCells = 1_500
    /// The latitude at which the projection ends, in degrees.
    public static let maximumLatitude = 85.051128
    public static let zooms = 0...18

    /// Nil if the box is not valid.
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

    /// Groups the locations of a table within the box by cell, the fullest cells first.
    /// - Parameter text: selects locations; nil for all.
    public func cells(of table: TenantTable, matching text: LocationText? = nil) -> MapCells {
        var cells = Cells(self)
        table.forEachLocation { region, identifier, name in
            guard contains(region.center), text?.finds(identifier, name) ?? true,
                cells.takes(identifier)
            else { return }
            cells.add(region.center) { ListedLocation(region, identifier, name) }
        }
        return cells.result
    }

    /// Groups some locations in the same way.
    public func cells(of places: [ListedLocation]) -> MapCells {
        var cells = Cells(self)
        for place in places where contains(place.region.center) {
            cells.add(place.region.center) { place }
        }
        return cells.result
    }

    private func contains(_ point: Coordinate) -> Bool {
        guard point.latitude >= south, point.latitude <= north else { return false }
        // The map continues beyond the antimeridian.
        let range = west...east
        return range.contains(point.longitude) || range.contains(point.longitude - 360)
            || range.contains(point.longitude + 360)
    }

    // MARK: Cells

    /// From this zoom on, a cell is a few metres wide, so that two doors can be told apart. [ours]
    private var isOfSinglePlaces: Bool { zoom >= 16 }

    /// The locations by cell.
    private struct Cells {
        private struct Cell {
            var count = 0
            var latitudes = 0.0
            var longitudes = 0.0
            /// The first location in the cell.
            var place: ListedLocation?
        }

        private let around: Double
        private let isOfSinglePlaces: Bool
        /// All cells of the world, if there are few. This is faster than any search.
        private var every: [Cell] = []
        private var some: [Int: Cell] = [:]
        private var single = SmallestLocations(limit: MapGrid.maximumCells)
        private var bounds: MapBounds?

        private static let fewCells = 131_072

        init(_ grid: MapGrid) {
            around = 256 * pow(2, Double(grid.zoom)) / MapGrid.cellSize
            isOfSinglePlaces = grid.isOfSinglePlaces
            let side = Int(around) + 1
            if side * side <= Self.fewCells { every = Array(repeating: Cell(), count: side * side) }
        }

        /// Whether a location with this identifier may be shown.
        func takes(_ identifier: Span<UInt8>) -> Bool { !isOfSinglePlaces || single.takes(identifier) }

        mutating func add(_ point: Coordinate, _ place: () -> ListedLocation?) {
            if bounds?.extend(to: point) == nil { bounds = MapBounds(point) }
            guard !isOfSinglePlaces else {
                if let place = place() { single.insert(place) }
                return
            }
            let index = index(of: point)
            if every.isEmpty {
                Self.add(point, to: &some[index, default: Cell()], place)
            } else {
                Self.add(point, to: &every[index], place)
            }
        }

        private static func add(_ point: Coordinate, to cell: inout Cell, _ place: () -> ListedLocation?) {
            if cell.count == 0 { cell.place = place() }
            cell.count += 1
            cell.latitudes += point.latitude
            cell.longitudes += point.longitude
        }

        private func index(of point: Coordinate) -> Int {
            let latitude = max(-MapGrid.maximumLatitude, min(point.latitude, MapGrid.maximumLatitude))
            let column = (point.longitude + 180) / 360 * around
            let row = (0.5 - log(tan(.pi / 4 + latitude * .pi / 360)) / (2 * .pi)) * around
            let side = Int(around) + 1
            return max(0, min(Int(row), side - 1)) * side + max(0, min(Int(column), side - 1))
        }

        var result: MapCells { MapCells(cells: fullest, bounds: bounds) }

        private var fullest: [MapCell] {
            guard !isOfSinglePlaces else {
                return single.places.map { MapCell(count: 1, center: $0.region.center, place: $0) }
            }
            let cells = every.isEmpty ? Array(some.values) : every.filter { $0.count > 0 }
            let ordered = cells.sorted { one, other in
                one.count == other.count
                    ? (one.latitudes, one.longitudes) < (other.latitudes, other.longitudes)
                    : one.count > other.count
            }
            return ordered.prefix(MapGrid.maximumCells).compactMap { cell in
                let count = Double(cell.count)
                guard
                    let center = try? Coordinate(
                        latitude: cell.latitudes / count, longitude: cell.longitudes / count)
                else { return nil }
                return MapCell(
                    count: cell.count, center: cell.count == 1 ? cell.place?.region.center ?? center : center,
                    place: cell.count == 1 ? cell.place : nil)
            }
        }
    }
}

/// The cells of a map, and the smallest box that contains their locations.
public struct MapCells: Sendable, Hashable {
    /// The fullest cells first, at most ``MapGrid/maximumCells``.
    public let cells: [MapCell]
    /// Also contains the locations of cells beyond the maximum. Nil if there is no location.
    public let bounds: MapBounds?
}

/// A box in degrees that does not reach over the antimeridian.
public struct MapBounds: Sendable, Hashable {
    public private(set) var south: Double
    public private(set) var west: Double
    public private(set) var north: Double
    public private(set) var east: Double

    fileprivate init(_ point: Coordinate) {
        (south, west, north, east) = (point.latitude, point.longitude, point.latitude, point.longitude)
    }

    fileprivate mutating func extend(to point: Coordinate) {
        south = min(south, point.latitude)
        west = min(west, point.longitude)
        north = max(north, point.latitude)
        east = max(east, point.longitude)
    }
}

/// The content of one cell of a map: a location, or several with their average position.
public struct MapCell: Sendable, Hashable {
    public let count: Int
    public let center: Coordinate
    /// Only for a single location.
    public let place: ListedLocation?

    public init(count: Int, center: Coordinate, place: ListedLocation?) {
        self.count = count
        self.center = center
        self.place = place
    }
}

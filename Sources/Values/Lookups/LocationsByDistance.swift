import Geodesy
import Invocation

/// A tenant's locations in order of their distance from a coordinate; at equal distance, in order of their
/// identifiers' bytes.
///
/// The search opens cells in the order of their smallest possible distance, down to cells with few
/// locations. The time depends on the number of requested locations, not on the total. The search counts
/// its work in steps, which are limited.
struct LocationsByDistance {
    private let snapshot: IndexSnapshot
    private let tenant: LookupIndex.TenantIndex
    private let origin: Coordinate
    private let position: GeocentricPosition
    private let reach: Distance
    /// The code of each location's cell, and the location's hash.
    private let candidates: OrderedPairs
    private var queue = Heap<Item>()
    /// The locations of the opened cell; a property so that its memory is reused.
    private var pairs: [OrderedPairs.Pair] = []
    /// The work so far, measured in locations that were examined.
    private(set) var steps = 0
    private let mostSteps: Int

    /// The number of steps after which a search ends: the work of nine lookups. [ours]
    static let mostSteps = 630
    /// The number of steps that take as long as one lookup over HTTP, measured.
    static let stepsOfLookup = 70
    /// The cost in steps of finding out whether a URL leads to a location.
    static let stepsOfTry = 8
    /// The number of probes of a lookup for query items that take as long as a step.
    static let probesOfStep = 4
    /// The cost in steps of dividing a cell.
    private static let stepsOfDivision = 4
    /// The maximum number of locations of a cell that is not divided.
    private static let fewLocations = 12
    /// The length in metres by which computed chords are reduced: far more than the rounding error.
    private static let slack = 0.001

    /// A cell or location in the queue. The distance of a cell is a lower bound.
    private struct Item: Comparable {
        let distance: Double
        let content: Content

        enum Content {
            case cell(LocationCell)
            case location(RecordTable<LookupIndex.LocationHeader>.Place, Coordinate)
            /// The distance is the length of the geodesic.
            case measured(LocationIdentifier)
        }

        /// At equal distance, a cell precedes a measured location, because the cell may contain a location at the same distance.
        static func < (one: Item, other: Item) -> Bool {
            if one.distance != other.distance { return one.distance < other.distance }
            switch (one.content, other.content) {
            case (.measured(let one), .measured(let other)):
                return one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
            case (.measured, _): return false
            case (_, .measured): return true
            default: return false
            }
        }

        static func == (one: Item, other: Item) -> Bool { !(one < other) && !(other < one) }
    }

    /// - Parameters:
    /// - reach: The maximum distance.
    /// - candidates: The only locations to consider.
    /// - few: Restricts the candidates further, to at most 100; nil for no restriction.
    /// - mostSteps: The number of steps after which the search ends.
    init(
        from origin: Coordinate, within reach: Distance, of tenant: LookupIndex.TenantIndex,
        in snapshot: IndexSnapshot, _ candidates: OrderedPairs, among few: Set<LocationIdentifier>? = nil,
        mostSteps: Int = Self.mostSteps
    ) {
        self.candidates = candidates
        self.mostSteps = mostSteps
        self.snapshot = snapshot
        self.tenant = tenant
        self.origin = origin
        self.reach = reach
        position = origin.position
        guard let few else {
            queue.insert(Item(distance: 0, content: .cell(.whole)))
            return
        }
        steps += few.count
        for identifier in few {
            guard let location = snapshot.table.location(identifier, of: tenant) else { continue }
            let distance = origin.distance(to: location.region.center)
            guard distance <= reach else { continue }
            queue.insert(Item(distance: distance.meters, content: .measured(identifier)))
        }
    }

    /// Whether the search ended before it had examined everything.
    private(set) var isTruncated = false
    /// Whether one of the smallest cells has more locations than the search could examine. Some of them are missing.
    private(set) var isIncomplete = false
    var stepsLeft: Int { max(0, mostSteps - steps) }

    mutating func next() -> (identifier: LocationIdentifier, distance: Distance)? {
        while let item = queue.popLeast() {
            guard steps < mostSteps else {
                isTruncated = true
                return nil
            }
            switch item.content {
            case .cell(let cell): open(cell)
            case .location(let place, let center): measure(place, center)
            case .measured(let identifier): return (identifier, Distance(meters: item.distance))
            }
        }
        return nil
    }

    mutating func end() { isTruncated = true }

    /// Counts work outside the search.
    ///
    /// - Returns: False if too few steps are left. The search has then ended.
    mutating func spend(_ steps: Int) -> Bool {
        guard self.steps + steps <= mostSteps else {
            isTruncated = true
            return false
        }
        self.steps += steps
        return true
    }

    private mutating func open(_ cell: LocationCell) {
        let isLast = cell.level == LocationCell.lastLevel
        // At most half of the remaining steps, so that steps are left to try the examined locations.
        let most = isLast ? max(Self.fewLocations, stepsLeft / 2) : Self.fewLocations
        var pairs = pairs
        self.pairs = []
        defer { self.pairs = pairs }
        pairs.removeAll(keepingCapacity: true)
        candidates.forEach(in: cell.codes) { pair in
            pairs.append(pair)
            return pairs.count <= most
        }
        steps += 1
        if pairs.count > most, !isLast {
            steps += Self.stepsOfDivision
            return cell.forEachPart { part in
                add(.cell(part), at: part.chord(from: position))
            }
        }
        if pairs.count > most {
            isIncomplete = true
            pairs.removeLast()
        }
        steps += pairs.count
        for pair in pairs {
            _ = snapshot.table.locations.first(pair.second) { header, _, place in
                guard header.tenant == tenant, let center = header.center else { return nil as Never? }
                let there = center.position
                // Two locations with the same hash have different cells.
                guard LocationCell(of: there).codes.lowerBound == pair.first else { return nil }
                add(.location(place, center), at: position.chord(to: there).meters)
                return nil
            }
        }
    }

    private mutating func add(_ content: Item.Content, at chord: Double) {
        let distance = max(0, chord - Self.slack)
        if distance <= reach.meters { queue.insert(Item(distance: distance, content: content)) }
    }

    private mutating func measure(
        _ place: RecordTable<LookupIndex.LocationHeader>.Place, _ center: Coordinate
    ) {
        let distance = origin.distance(to: center)
        let identifier = snapshot.table.locations.read(place) { header, text in
            try? LocationIdentifier(String(copying: text.extracting(header.identifier)))
        }
        guard distance <= reach, let identifier else { return }
        queue.insert(Item(distance: distance.meters, content: .measured(identifier)))
    }
}

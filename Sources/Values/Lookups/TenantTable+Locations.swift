public import Geodesy
import Invocation

extension TenantTable {
    /// How many locations the tenant has, or there are of those that the table is restricted to.
    public var locationCount: Int {
        if let visibleLocations { return visibleLocations.count }
        return index.map { snapshot.table.nearby[Int($0)].locations.count } ?? 0
    }

    /// Lends every location, in no order: where it is, its identifier and its name, both in UTF-8.
    ///
    /// Takes time by how many locations the whole table has, whoever's they are: a few hundredths of a microsecond each.
    public func forEachLocation(
        _ body: (_ region: CircularRegion, _ identifier: Span<UInt8>, _ name: Span<UInt8>) -> Void
    ) {
        if let visibleLocations {
            for location in visibleLocations.compactMap({ self.location($0) }) {
                body(location.region, location.identifier.text.utf8.span, (location.name ?? "").utf8.span)
            }
            return
        }
        guard let index else { return }
        snapshot.table.locations.forEach { header, text in
            guard header.tenant == index, let center = header.center,
                let region = try? CircularRegion(center: center, radius: Distance(meters: header.radius))
            else { return }
            body(region, text.extracting(header.identifier), text.extracting(header.name))
        }
    }
}

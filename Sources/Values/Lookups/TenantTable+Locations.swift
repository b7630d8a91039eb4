public import Geodesy
import Invocation

extension TenantTable {
    /// The number of the tenant's locations; of a restricted table, the number of its locations.
    public var locationCount: Int {
        if let visibleLocations { return visibleLocations.count }
        return index.map { snapshot.table.nearby[Int($0)].locations.count } ?? 0
    }

    /// Passes each location to the closure, in no order: its coordinate, and its identifier and name in UTF-8.
    ///
    /// The time is linear in the number of locations of all tenants in the index: a few hundredths of a microsecond for each.
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

import Foundation
import Geodesy
import Invocation
import Notifications
import Routing
import Tenancy

/// The restaurant of "Enabling notifications in App Clips" [Apple] in a routing table.
///
/// How long a match takes depends on the URL, not on how many others the table holds.
struct Restaurant {
    static let url = "https://example.com/restaurants/restaurant_a"

    let table: TenantTable
    /// An invocation of the clip there.
    let order: InvocationURL
    /// What the order matches.
    let experience: RoutedExperience

    init() throws {
        let tenant = TenantID(UUID())
        let id = withUnsafeBytes(of: tenant.uuid.uuid) { Array($0) }
        let clip = Array("com.example.MyApp.Clip".utf8)
        let identifier = Array("restaurant_a".utf8)
        let place = [37.334722, -122.008889, 100].map { value in
            withUnsafeBytes(of: value.bitPattern.bigEndian) { Array($0) }
        }
        var table = RoutingTable()
        try table.set(.tenants, RoutingRow([id, [0]] + [[UInt8]?](repeating: nil, count: 8)))
        try table.set(
            .clips,
            RoutingRow([
                id, clip, [1], Array("ABCDE12345".utf8), Array("com.example.MyApp".utf8),
                Array("ABCDE12345".utf8),
            ]))
        try table.set(.locations, RoutingRow([id, identifier, Array("Restaurant A".utf8)] + place))
        try table.set(
            .experiences,
            RoutingRow([id, Array("advanced".utf8), Array(Self.url.utf8), clip, identifier, nil]))
        self.table = table.of(tenant)
        order = try InvocationURL(Self.url + "/order/1234")
        guard let match = self.table.match(order) else { throw CompositionRefusal.doesNotMatch }
        experience = match.experience
    }
}

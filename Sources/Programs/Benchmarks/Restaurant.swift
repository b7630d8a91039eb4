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
        let (clip, identifier) = (Array("com.example.MyApp.Clip".utf8), Array("restaurant_a".utf8))
        func field(_ number: Double) -> [UInt8] {
            withUnsafeBytes(of: number.bitPattern.bigEndian) { Array($0) }
        }
        var table = RoutingTable()
        try table.set(
            .tenants,
            RoutingRow(of: TenantColumn.self) { column in
                switch column {
                case .tenantId: id
                case .suspendedAt: [0]
                default: nil
                }
            })
        try table.set(
            .clips,
            RoutingRow(of: ClipColumn.self) { column in
                switch column {
                case .tenantId: id
                case .bundleId: clip
                case .multiBusiness: [1]
                case .teamId: Array("ABCDE12345".utf8)
                case .parentBundleId: Array("com.example.MyApp".utf8)
                case .appIdPrefix: nil
                }
            })
        try table.set(
            .locations,
            RoutingRow(of: LocationColumn.self) { column in
                switch column {
                case .tenantId: id
                case .identifier: identifier
                case .name: Array("Restaurant A".utf8)
                case .latitude: field(37.334722)
                case .longitude: field(-122.008889)
                case .radius: field(100)
                case .details: nil
                }
            })
        try table.set(
            .experiences,
            RoutingRow(of: ExperienceColumn.self) { column in
                switch column {
                case .tenantId: id
                case .kind: Array("advanced".utf8)
                case .url: Array(Self.url.utf8)
                case .bundleId: clip
                case .locationIdentifier: identifier
                case .identifierRule: nil
                }
            })
        self.table = table.of(tenant)
        order = try InvocationURL(Self.url + "/order/1234")
        guard let match = self.table.match(order) else { throw CompositionRefusal.doesNotMatch }
        experience = match.experience
    }
}

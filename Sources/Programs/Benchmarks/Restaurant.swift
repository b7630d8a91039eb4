import Invocation
import Lookups
import Notifications

/// The restaurant of "Enabling notifications in App Clips" [Apple] in a lookup index.
///
/// The time of a match depends on the URL, not on the number of URLs in the index.
struct Restaurant {
    static let url = "https://example.com/restaurants/restaurant_a"

    let table: TenantTable
    /// An invocation of the clip there.
    let order: InvocationURL
    /// The experience that matches the order's URL.
    let experience: IndexedExperience

    init() throws {
        var table = try LookupIndex.ofOneClip()
        try table.setLocation(
            "restaurant_a", name: "Restaurant A", latitude: 37.334722, longitude: -122.008889)
        try table.addExperience(Self.url, location: "restaurant_a")
        self.table = table.of(LookupIndex.tenant)
        order = try InvocationURL(Self.url + "/order/1234")
        guard let match = self.table.match(order) else { throw CompositionRefusal.doesNotMatch }
        experience = match.experience
    }
}

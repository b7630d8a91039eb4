import Administration
import Formats
import Geodesy
import Invocation
import Lookups
import Tenancy

extension LocationRecord: EditableItem {
    static var section: Page.Section { .locations }
    static var argument: String? { "identifier" }
    static var relation: String { "locations" }
    static var hints: [String: String?] {
        [
            "identifier": "The text that URLs contain, such as store-42. It cannot be changed later.",
            "latitude":
                "Centre, in degrees. Click the map, or paste a pair such as \u{201C}51.5142, -0.1312\u{201D}.",
            // Their documentation repeats the label, or the hint of the latitude.
            "name": nil, "longitude": nil,
            "details": "Texts that lookups return, one on each line: NAME: TEXT.",
            "metadata": "Further texts, one on each line: NAME: TEXT. Doorstep gives them no meaning.",
        ]
    }
    static var errors: [String: String] {
        [
            "latitude": "Enter degrees from −90 to 90 with a decimal point, for example 51.5142.",
            "longitude": "Enter degrees from −180 to 180 with a decimal point, for example -0.1312.",
            "radius": "Enter metres above 0 and at most 500.",
        ]
    }

    static func store(in stores: CatalogueStores) -> (any CatalogueStore<Self>)? { stores.locations }

    static func correct(_ texts: inout [String: String]) {
        guard let pair = CoordinateText.pair(in: texts["latitude"] ?? "") else { return }
        (texts["latitude"], texts["longitude"]) = pair
    }

    var heading: String { name.text }
    static var hasMap: Bool { true }

    func map(for use: LocationPage.MapUse, changed: LocationRecord?, _ html: inout HTMLWriter) {
        // The review of a change that keeps the circle needs no map.
        if use == .review, changed?.region == region { return }
        LocationPage.map(self, for: use, changed: changed, &html)
    }

    func meaning(
        of changed: LocationRecord, _ request: ConsoleRequest, _ tenant: Tenant, in table: TenantTable?
    ) async throws -> (inout HTMLWriter) -> Void {
        let urls = try await LocationURLs(of: identifier, request, tenant.id, in: table)
        return { html in
            let moved = region.center.distance(to: changed.region.center)
            let codes = urls.isCut ? "\(urls.count) or more" : "\(urls.count)"
            html.element(.ul, .class("meaning")) { list in
                if moved.meters > 0 {
                    list.element(.li) { item in
                        item.element(.strong, text: "The location moves \(LocationsPage.meters(moved)).")
                        if moved.meters > region.radius.meters + changed.region.radius.meters {
                            item.text(" The old and new circles do not overlap.")
                        }
                    }
                }
                list.element(.li) { item in
                    item.text(
                        urls.count == 0
                            ? "No URL or short code leads here."
                            : "Printed codes keep working (\(codes) \(urls.count == 1 && !urls.isCut ? "URL or short code" : "URLs and short codes")). Customers must be inside the new circle to be confirmed."
                    )
                }
            }
        }
    }
}

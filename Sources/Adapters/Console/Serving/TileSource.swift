import Foundation

/// Raster tiles of somebody else's that maps are drawn on: each browser asks for them itself, and tells that origin the console's.
public struct TileSource: Sendable, Hashable {
    /// `https://…/{z}/{x}/{y}.png`, as Leaflet takes it.
    let template: String
    /// Whom the tiles are of, as the map says.
    let attribution: String
    /// Where they come from, as a policy names it (CSP Level 3 §2.3.1).
    let origin: String

    /// Nil where the template is no `https` URL with `{z}`, `{x}` and `{y}` in its path or query once each, and no other braces.
    public init?(template: String, attribution: String) {
        let start = "https://"
        guard template.hasPrefix(start), template.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let origin = ConsoleOrigin(
                start + template.dropFirst(start.count).prefix { !"/?#".contains($0) })
        else { return nil }
        var rest = template.dropFirst("\(origin)".count)
        guard rest.hasPrefix("/") else { return nil }
        for name in ["{z}", "{x}", "{y}"] {
            let parts = rest.components(separatedBy: name)
            guard parts.count == 2 else { return nil }
            rest = parts.joined(separator: "0")[...]
        }
        // A quotation mark or a semicolon would be another thing in a policy; braces would be names that nothing fills in.
        guard !rest.contains(where: { "{}#\"'<>\\;,".contains($0) }) else { return nil }
        self.template = template
        self.attribution = attribution
        self.origin = "\(origin)"
    }
}

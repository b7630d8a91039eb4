import Foundation

/// Raster map tiles of another provider. Browsers load them directly, and send the console's origin to the provider.
public struct TileSource: Sendable, Hashable {
    /// A template for Leaflet: `https://…/{z}/{x}/{y}.png`.
    let template: String
    /// The attribution on the map.
    let attribution: String
    /// The tiles' origin for the policy (CSP Level 3 §2.3.1).
    let origin: String

    /// Nil unless the template is an `https` URL with `{z}`, `{x}` and `{y}` once each in its path or query, and no other braces.
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
        // Quotation marks and semicolons have a meaning in a policy. Leaflet replaces no other braces.
        guard !rest.contains(where: { "{}#\"'<>\\;,".contains($0) }) else { return nil }
        self.template = template
        self.attribution = attribution
        self.origin = "\(origin)"
    }
}

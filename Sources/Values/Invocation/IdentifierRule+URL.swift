extension IdentifierRule {
    /// Returns a URL in which the rule reads an identifier.
    ///
    /// - Parameter registered: The canonical URL of the rule's experience.
    /// - Returns: The registered URL itself if it has an item of the rule's name with the identifier. Nil
    ///   if it has one with another identifier, and for a rule that reads no identifier.
    public func url(naming identifier: LocationIdentifier, at registered: String) -> String? {
        let parts = registered.split(separator: "?", maxSplits: 1)
        guard let path = parts.first else { return nil }
        let query = parts.count == 2 ? parts[1] : nil
        switch self {
        case .path(let number):
            // The components between are unknown.
            let components = String(repeating: "/-", count: number - 1) + "/" + identifier.percentEncoded
            return path + components + (query.map { "?" + $0 } ?? "")
        case .query(let name):
            let item = query?.split(separator: "&").first { item in
                item.utf8.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(name.utf8)
            }
            if let item {
                let value = PercentEncoding.decoded(item.utf8.dropFirst(name.utf8.count + 1))
                return value?.utf8.elementsEqual(identifier.text.utf8) == true ? registered : nil
            }
            return registered + (query == nil ? "?" : "&") + name + "=" + identifier.percentEncoded
        case .hash, .coordinates: return nil
        }
    }
}

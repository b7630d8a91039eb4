/// The parts of a URL as the format of App Clip Codes takes them.
struct CodeURLParts {
    /// In lower case, without a leading `appclip.`, which costs nothing.
    let host: ArraySlice<UInt8>
    let path: ArraySlice<UInt8>
    /// Without `?`; empty if there is none.
    let query: ArraySlice<UInt8>
    /// Without `#`; empty if there is none.
    let fragment: ArraySlice<UInt8>

    /// The path's components that are not empty.
    let components: [ArraySlice<UInt8>]

    /// The query's items; some may be empty.
    let items: [ArraySlice<UInt8>]

    /// Returns nil for a text that is no https URL in ASCII, or has a label of Punycode.
    init?(_ url: String) {
        let scheme = Array("https://".utf8)
        let bytes = Array(url.utf8)
        guard bytes.count > scheme.count, bytes.allSatisfy({ $0 < 0x80 }),
            zip(bytes, scheme).allSatisfy({ $0.lowercased == $1 })
        else { return nil }
        var rest = Self.writable(bytes)[scheme.count...]
        let fragmentStart = rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        fragment = rest[fragmentStart...].dropFirst()
        rest = rest[..<fragmentStart]
        let queryStart = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        query = rest[queryStart...].dropFirst()
        rest = rest[..<queryStart]
        let pathStart = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        path = rest[pathStart...]
        var host = rest[..<pathStart].map(\.lowercased)[...]
        let subdomain = "appclip.".utf8
        if host.starts(with: subdomain) { host = host.dropFirst(subdomain.count) }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count > 1, !labels.contains(where: { $0.isEmpty || $0.starts(with: "xn--".utf8) }) else {
            return nil
        }
        self.host = host
        components = path.split(separator: UInt8(ascii: "/"))
        items =
            query.isEmpty ? [] : query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    }

    /// Square brackets as escapes, which is how the format writes them.
    private static func writable(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) else {
            return bytes
        }
        return bytes.flatMap { byte in
            switch byte {
            case UInt8(ascii: "["): Array("%5B".utf8)
            case UInt8(ascii: "]"): Array("%5D".utf8)
            default: [byte]
            }
        }
    }
}

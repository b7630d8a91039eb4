/// A URL split at its delimiters, each part as written (RFC 3986 §3).
struct URLParts {
    let scheme: ArraySlice<UInt8>
    let host: ArraySlice<UInt8>

    /// What stands after the host's colon; empty when nothing does.
    let port: ArraySlice<UInt8>

    /// Empty, or from its first slash on.
    let path: ArraySlice<UInt8>
    let query: ArraySlice<UInt8>
    let fragment: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) throws(InvocationURLError) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) else {
            throw .notAbsolute
        }
        scheme = bytes[..<colon]
        let afterScheme = bytes[(colon + 1)...]
        guard afterScheme.starts(with: "//".utf8) else { throw .noHost }

        let afterSlashes = afterScheme.dropFirst(2)
        let authority = afterSlashes.prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInfo }
        if authority.first == UInt8(ascii: "["), let bracket = authority.firstIndex(of: UInt8(ascii: "]")) {
            host = authority[...bracket]
        } else {
            host = authority.prefix { $0 != UInt8(ascii: ":") }
        }
        let afterHost = authority[host.endIndex...]
        guard afterHost.isEmpty || afterHost.first == UInt8(ascii: ":") else { throw .invalidHost }
        port = afterHost.dropFirst()

        let afterAuthority = afterSlashes[authority.endIndex...]
        path = afterAuthority.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let afterPath = afterAuthority[path.endIndex...]
        query =
            afterPath.first == UInt8(ascii: "?")
            ? afterPath.dropFirst().prefix { $0 != UInt8(ascii: "#") } : []
        fragment = afterPath.drop { $0 != UInt8(ascii: "#") }.dropFirst()
    }

    /// `ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )`.
    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first.isASCIILetter else { return false }
        return bytes.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
    }
}

/// A URL split at its delimiters: the range of each part (RFC 3986 §3).
struct URLParts {
    let scheme: Range<Int>
    let host: Range<Int>

    /// The range after the host's colon; empty if nothing follows it.
    let port: Range<Int>

    /// Empty, or from its first slash on.
    let path: Range<Int>
    let query: Range<Int>
    let fragment: Range<Int>

    init(_ text: Span<UInt8>) throws(InvocationURLError) {
        let end = text.count
        let colon = text.firstIndex(of: UInt8(ascii: ":"), in: 0..<end)
        guard colon < end, Self.isScheme(text.extracting(..<colon)) else { throw .notAbsolute }
        scheme = 0..<colon
        guard text.hasBytes(of: "://", at: colon) else { throw .noHost }

        let start = colon + 3
        let authorityEnd = text.firstIndex(in: start..<end) {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        let authority = start..<authorityEnd
        guard text.firstIndex(of: UInt8(ascii: "@"), in: authority) == authorityEnd else { throw .userInfo }
        host = start..<Self.endOfHost(in: text, authority)
        guard host.upperBound == authorityEnd || text[host.upperBound] == UInt8(ascii: ":") else {
            throw .invalidHost
        }
        port = min(host.upperBound + 1, authorityEnd)..<authorityEnd

        let pathEnd = text.firstIndex(in: authorityEnd..<end) {
            $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        path = authorityEnd..<pathEnd
        let queryEnd = text.firstIndex(of: UInt8(ascii: "#"), in: pathEnd..<end)
        query = min(pathEnd + 1, queryEnd)..<queryEnd
        fragment = min(queryEnd + 1, end)..<end
    }

    /// `ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )`.
    private static func isScheme(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty, text[0].isASCIILetter else { return false }
        return text.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
    }

    /// After the closing bracket of an IP literal, or at the first colon.
    private static func endOfHost(in text: Span<UInt8>, _ authority: Range<Int>) -> Int {
        if !authority.isEmpty, text[authority.lowerBound] == UInt8(ascii: "[") {
            let bracket = text.firstIndex(of: UInt8(ascii: "]"), in: authority)
            if bracket < authority.upperBound { return bracket + 1 }
        }
        return text.firstIndex(of: UInt8(ascii: ":"), in: authority)
    }
}

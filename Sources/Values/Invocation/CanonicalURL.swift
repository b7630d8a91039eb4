/// The canonical text of a URL that is written otherwise, with its marks.
struct CanonicalURL {
    let bytes: [UInt8]
    let marks: URLMarks

    /// - Throws: the first reason found why the text is refused.
    init(_ text: Span<UInt8>) throws(InvocationURLError) {
        try Self.check(text)
        let parts = try URLParts(text)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)

        for index in parts.scheme { bytes.append(text[index].lowercasedASCII) }
        let schemeEnd = bytes.count
        bytes += "://".utf8
        let isHTTPS = bytes.span.hasBytes(of: "https://", at: 0)
        let isIPAddress = try InvocationHost.append(text.extracting(parts.host), to: &bytes)
        let hostEnd = bytes.count
        if let port = try Self.port(text.extracting(parts.port)), !isHTTPS || port != 443 {
            bytes += ":\(port)".utf8
        }
        let authorityEnd = bytes.count
        Self.appendPath(text.extracting(parts.path), to: &bytes)
        let pathEnd = bytes.count
        Self.appendQuery(text.extracting(parts.query), to: &bytes)
        let queryEnd = bytes.count
        if !parts.fragment.isEmpty {
            bytes.append(UInt8(ascii: "#"))
            PercentEncoding.appendCanonical(text.extracting(parts.fragment), allowing: .query, to: &bytes)
        }
        guard bytes.count <= InvocationURL.maximumLength else { throw .tooLong }
        self.bytes = bytes
        marks = URLMarks(
            schemeEnd: UInt16(schemeEnd), hostEnd: UInt16(hostEnd), authorityEnd: UInt16(authorityEnd),
            pathEnd: UInt16(pathEnd), queryEnd: UInt16(queryEnd),
            isMatchable: isHTTPS && authorityEnd == hostEnd && !isIPAddress)
    }

    /// Refuses characters that are not allowed anywhere in a URL.
    private static func check(_ text: Span<UInt8>) throws(InvocationURLError) {
        guard !text.isEmpty else { throw .empty }
        guard text.count <= InvocationURL.maximumLength else { throw .tooLong }
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: " "): throw .space
            case UInt8(ascii: "\\"): throw .backslash
            default: if text.isControlCharacter(at: index) { throw .controlCharacter }
            }
        }
        guard PercentEncoding.isWellFormed(text) else { throw .malformedPercentEncoding }
    }

    private static func port(_ digits: Span<UInt8>) throws(InvocationURLError) -> UInt16? {
        guard !digits.isEmpty else { return nil }
        var port: UInt16 = 0
        for index in digits.indices {
            guard digits[index].isASCIIDigit else { throw .invalidPort }
            let (tens, overflow) = port.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt16(digits[index] - UInt8(ascii: "0")))
            guard !overflow, !carry else { throw .invalidPort }
            port = sum
        }
        return port
    }

    /// - Parameter path: empty, or from its first slash on.
    private static func appendPath(_ path: Span<UInt8>, to bytes: inout [UInt8]) {
        let pathStart = bytes.count
        var start = 1
        while start <= path.count {
            let end = path.firstIndex(of: UInt8(ascii: "/"), in: start..<path.count)
            let componentStart = bytes.count
            bytes.append(UInt8(ascii: "/"))
            PercentEncoding.appendCanonical(path.extracting(start..<end), allowing: .path, to: &bytes)
            removeDotSegment(at: componentStart, from: &bytes, pathStart: pathStart)
            start = end + 1
        }
        while bytes.count > pathStart, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    }

    /// Removes the last component when it is `.`, and the one before it, too, when it is `..`.
    private static func removeDotSegment(at start: Int, from bytes: inout [UInt8], pathStart: Int) {
        switch bytes.count - start {
        case 2 where bytes.span.hasBytes(of: "/.", at: start):
            bytes.removeLast(2)
        case 3 where bytes.span.hasBytes(of: "/..", at: start):
            bytes.removeLast(3)
            let slash = bytes[pathStart...].lastIndex(of: UInt8(ascii: "/"))
            if let slash { bytes.removeSubrange(slash...) }
        default:
            break
        }
    }

    /// - Parameter query: without its `?`.
    private static func appendQuery(_ query: Span<UInt8>, to bytes: inout [UInt8]) {
        var separator = UInt8(ascii: "?")
        var start = 0
        while start < query.count {
            let end = query.firstIndex(of: UInt8(ascii: "&"), in: start..<query.count)
            let equals = query.firstIndex(of: UInt8(ascii: "="), in: start..<end)
            let valueStart = min(equals + 1, end)
            if start < equals || valueStart < end {
                bytes.append(separator)
                separator = UInt8(ascii: "&")
                let name = query.extracting(start..<equals)
                PercentEncoding.appendCanonical(name, allowing: .query, to: &bytes)
                if valueStart < end {
                    bytes.append(UInt8(ascii: "="))
                    let value = query.extracting(valueStart..<end)
                    PercentEncoding.appendCanonical(value, allowing: .query, to: &bytes)
                }
            }
            start = end + 1
        }
    }
}

/// The header fields that responses depend on.
extension Span<UInt8> {
    /// The range of a bearer token in `Authorization` (RFC 6750 §2.1), without surrounding blanks; nil for
    /// another scheme, and for an empty token. The scheme's case does not matter (RFC 9110 §11.1).
    package var bearerToken: Range<Int>? {
        let scheme: StaticString = "bearer "
        let length = scheme.utf8CodeUnitCount
        guard count > length, extracting(0..<length).isEqualIgnoringCase(to: scheme) else { return nil }
        return trimmingBlanks(length..<count)
    }

    /// Whether `Content-Type` names a type whose text is UTF-8.
    ///
    /// The only charsets are UTF-8 and its subset US-ASCII (RFC 8259 §8.1). `text/csv` may have
    /// `header=present` (RFC 4180 §3), because each body begins with the names of its columns. Other
    /// parameters are refused.
    ///
    /// - Parameter name: Lower-case ASCII.
    package func isMediaType(_ name: StaticString) -> Bool {
        var isFirst = true
        var isOfType = false
        forEachPart(separatedBy: UInt8(ascii: ";")) { part in
            let part = extracting(part)
            isOfType =
                isFirst
                ? part.isEqualIgnoringCase(to: name)
                : part.isParameter("charset", among: ["utf-8", "us-ascii"])
                    || part.isParameter("header", among: ["present"]) && "\(name)" == "text/csv"
            isFirst = false
            return isOfType
        }
        return isOfType
    }

    /// Whether the part is `NAME=VALUE` or `NAME="VALUE"` (RFC 9110 §5.6.6).
    /// - Parameters:
    ///   - name: lower-case ASCII, as the values are.
    private func isParameter(_ name: StaticString, among values: [StaticString]) -> Bool {
        let start = name.utf8CodeUnitCount + 1
        guard count > start, extracting(0..<start - 1).isEqualIgnoringCase(to: name),
            self[start - 1] == UInt8(ascii: "=")
        else { return false }
        let quote = UInt8(ascii: "\"")
        let isQuoted = count > start + 1 && self[start] == quote && self[count - 1] == quote
        let value = extracting(isQuoted ? start + 1..<count - 1 : start..<count)
        return values.contains { value.isEqualIgnoringCase(to: $0) }
    }

    /// Whether `If-None-Match` or `If-Match` names the tag.
    ///
    /// - Parameter weakly: Whether to compare weakly: true for `If-None-Match` (RFC 9110 §13.1.2), false
    ///   for `If-Match` (§13.1.1).
    package func hasEntityTag(_ tag: String, weakly: Bool = true) -> Bool {
        let weakTag = "W/" + tag
        var isFound = false
        forEachPart(separatedBy: UInt8(ascii: ",")) { candidate in
            let candidate = extracting(candidate)
            isFound =
                candidate.isEqual(to: "*") || candidate.isEqual(to: tag)
                || weakly && candidate.isEqual(to: weakTag)
            return !isFound
        }
        return isFound
    }

    /// Whether `Accept-Encoding` accepts `gzip` and does not prefer a body without coding (RFC 9110 §12.5.3).
    ///
    /// The weight of `gzip` precedes that of `*`. An invalid weight counts as 0, which means "not acceptable".
    package var prefersGzip: Bool {
        var gzip: Int?
        var any = 0
        var identity = 0
        forEachPart(separatedBy: UInt8(ascii: ",")) { item in
            let item = extracting(item)
            var coding: Range<Int>?
            var weight = 1_000
            item.forEachPart(separatedBy: UInt8(ascii: ";")) { part in
                let parameter = item.extracting(part)
                if coding == nil {
                    coding = part
                } else if parameter.count > 1, parameter[0] | 0x20 == UInt8(ascii: "q"),
                    parameter[1] == UInt8(ascii: "=")
                {
                    weight = parameter.extracting(2..<parameter.count).weight
                }
                return true
            }
            guard let coding else { return true }
            let name = item.extracting(coding)
            if name.isEqualIgnoringCase(to: "gzip") || name.isEqualIgnoringCase(to: "x-gzip") {
                gzip = max(gzip ?? 0, weight)
            } else if name.isEqualIgnoringCase(to: "identity") {
                identity = weight
            } else if name.isEqual(to: "*") {
                any = weight
            }
            return true
        }
        let weight = gzip ?? any
        return weight > 0 && weight >= identity
    }

    /// A weight in thousandths (RFC 9110 §12.4.2); 0 if it is invalid.
    private var weight: Int {
        guard (1...5).contains(count), count == 1 || self[1] == UInt8(ascii: ".") else { return 0 }
        var (value, unit) = (0, 1_000)
        for index in 0..<count where index != 1 {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit <= (index == 0 ? 1 : 9) else { return 0 }
            value += Int(digit) * unit
            unit /= 10
        }
        return value <= 1_000 ? value : 0
    }

    /// Whether the client requests the changed representation in the response, by `Prefer` (RFC 7240 §4.2).
    package var prefersRepresentation: Bool {
        var isFound = false
        forEachPart(separatedBy: UInt8(ascii: ",")) { preference in
            let preference = extracting(preference).withUnsafeBufferPointer { bytes in
                bytes.filter { !$0.isBlank && $0 != UInt8(ascii: "\"") }
            }
            isFound = preference.span.isEqualIgnoringCase(to: "return=representation")
            return !isFound
        }
        return isFound
    }

    /// Whether a caller's own `X-Request-ID` is safe to repeat in a header and a log: 1 to 128 letters, digits and `-_.` of ASCII.
    package var isRequestID: Bool {
        guard (1...128).contains(count) else { return false }
        for index in indices {
            switch self[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                continue
            default: return false
            }
        }
        return true
    }
}

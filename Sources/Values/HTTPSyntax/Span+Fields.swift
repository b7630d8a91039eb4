/// What header fields say that answers depend on.
extension Span<UInt8> {
    /// Where `Authorization` holds a bearer token (RFC 6750 §2.1), without the blanks around it; nil for another scheme, and
    /// for nothing behind it. The scheme's case does not matter (RFC 9110 §11.1).
    package var bearerToken: Range<Int>? {
        let scheme: StaticString = "bearer "
        let length = scheme.utf8CodeUnitCount
        guard count > length, extracting(0..<length).isEqualIgnoringCase(to: scheme) else { return nil }
        return trimmingBlanks(length..<count)
    }

    /// Whether `Content-Type` names a type, with no charset or with UTF-8: RFC 8259 §8.1 knows no other encoding.
    /// - Parameter name: lower-case ASCII.
    package func isMediaType(_ name: StaticString) -> Bool {
        var isFirst = true
        var isOfType = false
        forEachPart(separatedBy: UInt8(ascii: ";")) { part in
            let part = extracting(part)
            isOfType =
                isFirst
                ? part.isEqualIgnoringCase(to: name)
                : part.isEqualIgnoringCase(to: "charset=utf-8")
                    || part.isEqualIgnoringCase(to: "charset=\"utf-8\"")
            isFirst = false
            return isOfType
        }
        return isOfType
    }

    /// Whether `If-None-Match` or `If-Match` names what has a tag.
    /// - Parameter weakly: which is for `If-None-Match` (RFC 9110 §13.1.2), and not for `If-Match` (§13.1.1).
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

    /// Whether by `Prefer` the client wants to be told what became of what it changes (RFC 7240 §4.2).
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

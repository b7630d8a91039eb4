/// The ends of the parts of a canonical URL, and whether anything can match it.
///
/// 16 bits suffice: canonical text has at most `InvocationURL.maximumLength` bytes.
struct URLMarks: Sendable {
    let schemeEnd: UInt16
    let hostEnd: UInt16

    /// The end of the host and its port.
    let authorityEnd: UInt16
    let pathEnd: UInt16

    /// The end of the query; equal to the end of the path if there is no query.
    let queryEnd: UInt16
    let isMatchable: Bool
}

extension URLMarks {
    /// Marks a text that is already canonical; nil for any other, and for some that need a closer check:
    /// those with another scheme than `https`, a port, an A-label, or a last host label that begins with a
    /// digit.
    ///
    /// The usual URL of a tag or a code passes, so that it need only be copied.
    init?(ofCanonical text: Span<UInt8>) {
        guard text.count <= InvocationURL.maximumLength, text.hasBytes(of: "https://", at: 0),
            let hostEnd = Self.endOfHost(in: text, from: 8),
            let pathEnd = Self.endOfPath(in: text, from: hostEnd),
            let queryEnd = Self.endOfQuery(in: text, from: pathEnd),
            Self.isFragment(text, from: queryEnd)
        else { return nil }
        schemeEnd = 5
        self.hostEnd = UInt16(hostEnd)
        authorityEnd = UInt16(hostEnd)
        self.pathEnd = UInt16(pathEnd)
        self.queryEnd = UInt16(queryEnd)
        isMatchable = true
    }

    private static func endOfHost(in text: Span<UInt8>, from start: Int) -> Int? {
        var labelStart = start
        var index = start
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: ".") {
                guard isPlainLabel(text.extracting(labelStart..<index)) else { return nil }
                labelStart = index + 1
            } else if !ByteClass.label.contains(byte) {
                break
            }
            index += 1
        }
        guard isPlainLabel(text.extracting(labelStart..<index)),
            !text[labelStart].isASCIIDigit, index - start <= InvocationHost.maximumLength
        else { return nil }
        return index
    }

    private static func isPlainLabel(_ label: Span<UInt8>) -> Bool {
        InvocationHost.hasLabelShape(label) && !InvocationHost.isEncoded(label)
    }

    private static func endOfPath(in text: Span<UInt8>, from start: Int) -> Int? {
        guard start < text.count, text[start] == UInt8(ascii: "/") else { return start }
        var index = start
        while index < text.count {
            let byte = text[index]
            if ByteClass.path.contains(byte) {
                index += 1
            } else if byte == UInt8(ascii: "/") {
                index += 1
                // Most components that begin with a dot are dot segments.
                guard index < text.count, text[index] != UInt8(ascii: ".") else { return nil }
            } else if byte == UInt8(ascii: "%") {
                guard PercentEncoding.isCanonical(text, at: index) else { return nil }
                index += 3
            } else {
                break
            }
        }
        return text[index - 1] == UInt8(ascii: "/") ? nil : index
    }

    private static func endOfQuery(in text: Span<UInt8>, from start: Int) -> Int? {
        guard start < text.count, text[start] == UInt8(ascii: "?") else { return start }
        var index = start + 1
        while let end = endOfQueryItem(in: text, from: index) {
            guard end < text.count, text[end] == UInt8(ascii: "&") else { return end }
            index = end + 1
        }
        return nil
    }

    /// Nil if the item is empty, or ends with the `=` after its name.
    private static func endOfQueryItem(in text: Span<UInt8>, from start: Int) -> Int? {
        var equals: Int?
        var index = start
        while index < text.count {
            let byte = text[index]
            if ByteClass.queryItem.contains(byte) {
                index += 1
            } else if byte == UInt8(ascii: "=") {
                equals = equals ?? index
                index += 1
            } else if byte == UInt8(ascii: "%") {
                guard PercentEncoding.isCanonical(text, at: index) else { return nil }
                index += 3
            } else {
                break
            }
        }
        return index == start || equals == index - 1 ? nil : index
    }

    /// Whether the text ends here, or with a canonical fragment.
    private static func isFragment(_ text: Span<UInt8>, from start: Int) -> Bool {
        guard start < text.count else { return true }
        var index = start + 1
        guard text[start] == UInt8(ascii: "#"), index < text.count else { return false }
        while index < text.count {
            if ByteClass.query.contains(text[index]) {
                index += 1
            } else {
                guard PercentEncoding.isCanonical(text, at: index) else { return false }
                index += 3
            }
        }
        return true
    }
}

extension JSONValue {
    /// Parses one JSON text, strictly by RFC 8259.
    ///
    /// The parser accepts nothing beyond the grammar: no comments, no trailing commas, no `NaN`. It refuses
    /// inputs for which RFC 8259 leaves the behaviour open: a byte order mark, duplicate keys, lone
    /// surrogates, numbers beyond a double. Time and memory grow linearly with the input, except for
    /// sorting the members of an object.
    ///
    /// - Parameters:
    ///   - bytes: The whole text in UTF-8. White space may surround the value.
    ///   - maximumDepth: Arrays and objects that may be open at the same time; more than 512 counts as 512,
    ///     so that no input can exhaust a thread's stack.
    public init(parsing bytes: some Collection<UInt8>, maximumDepth: Int = 64) throws(JSONError) {
        let parsed =
            bytes.withContiguousStorageIfAvailable { JSONParser.parse($0, maximumDepth: maximumDepth) }
            ?? Array(bytes).withUnsafeBufferPointer { JSONParser.parse($0, maximumDepth: maximumDepth) }
        self = try parsed.get()
    }
}

/// A recursive-descent parser over bytes that were checked to be UTF-8.
///
/// It must not outlive the bytes, and compares its position with their end before each read.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    private var position = 0
    /// Nil for a reader that refuses what RFC 8259 leaves open.
    private var oddities: [JSONValue.Oddity]?

    init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int
    ) -> Result<JSONValue, JSONError> {
        var parser = JSONParser(bytes, maximumDepth: min(maximumDepth, 512))
        do {
            return .success(try parser.parseDocument())
        } catch {
            return .failure(error)
        }
    }

    static func parseLeniently(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) -> Result<JSONValue.LenientReading, JSONError> {
        var parser = JSONParser(bytes, maximumDepth: 512)
        parser.oddities = []
        do {
            let value = try parser.parseDocument()
            return .success(.init(value: value, oddities: parser.oddities ?? []))
        } catch {
            return .failure(error)
        }
    }

    /// Notes what RFC 8259 leaves open, each kind once.
    /// - Throws: the error, for a reader that refuses it.
    private mutating func tolerate(
        _ oddity: JSONValue.Oddity, else error: @autoclosure () -> JSONError
    ) throws(JSONError) {
        guard let known = oddities else { throw error() }
        let isKnown = known.contains { other in
            switch (other, oddity) {
            case (.duplicateKey, .duplicateKey): true
            default: other == oddity
            }
        }
        if !isKnown { oddities?.append(oddity) }
    }

    var isAtEnd: Bool {
        position == bytes.count
    }

    mutating func parseDocument() throws(JSONError) -> JSONValue {
        // Once the whole text is UTF-8, so is every part between two ASCII characters.
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .invalidUTF8(offset: error.byteOffsets.lowerBound)
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw .byteOrderMark
        }
        let value = try parseValue(depth: 0)
        skipWhitespace()
        if !isAtEnd {
            throw .trailingBytes(offset: position)
        }
        return value
    }

    // MARK: Values

    private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue {
        skipWhitespace()
        switch try peek() {
        case UInt8(ascii: "{"):
            return .object(try parseObject(depth: depth + 1))
        case UInt8(ascii: "["):
            return .array(try parseArray(depth: depth + 1))
        case UInt8(ascii: "\""):
            return .string(try parseString())
        case UInt8(ascii: "t"):
            try expect("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try expect("null")
            return .null
        default:
            return try parseNumberValue()
        }
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> JSONObject {
        try enter(depth)
        if try isClosed(by: UInt8(ascii: "}")) {
            return JSONObject()
        }
        var members: [JSONObject.Member] = []
        members.reserveCapacity(4)
        repeat {
            skipWhitespace()
            let key = try parseString()
            skipWhitespace()
            try expect(":")
            members.append(JSONObject.Member(key: key, value: try parseValue(depth: depth)))
        } while try continues(closing: UInt8(ascii: "}"))
        guard oddities != nil else { return try JSONObject(unique: members) }
        let (object, repeatedKey) = JSONObject.lastOfEach(members)
        if let repeatedKey { try tolerate(.duplicateKey(repeatedKey), else: .duplicateKey(repeatedKey)) }
        return object
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> [JSONValue] {
        try enter(depth)
        if try isClosed(by: UInt8(ascii: "]")) {
            return []
        }
        var elements: [JSONValue] = []
        repeat {
            elements.append(try parseValue(depth: depth))
        } while try continues(closing: UInt8(ascii: "]"))
        return elements
    }

    /// Steps over the opening bracket of an array or object.
    private mutating func enter(_ depth: Int) throws(JSONError) {
        if depth > maximumDepth {
            throw .tooDeep(limit: maximumDepth, offset: position)
        }
        position += 1
    }

    /// Steps over the closing bracket if it comes next.
    private mutating func isClosed(by bracket: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        guard try peek() == bracket else { return false }
        position += 1
        return true
    }

    /// Skips a comma and returns true, or the closing bracket and returns false.
    private mutating func continues(closing bracket: UInt8) throws(JSONError) -> Bool {
        if try isClosed(by: bracket) {
            return false
        }
        try expect(",")
        return true
    }

    // MARK: Numbers

    /// Parses `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    mutating func parseNumber() throws(JSONError) -> JSONNumber {
        let start = position
        skip { $0 == UInt8(ascii: "-") }
        if !skip({ $0 == UInt8(ascii: "0") }) {
            try skipDigits()
        }
        if skip({ $0 == UInt8(ascii: ".") }) {
            try skipDigits()
        }
        if skip({ $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) {
            skip { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
            try skipDigits()
        }
        guard let number = JSONNumber(checked: part(from: start)) else {
            throw .numberOutOfRange(offset: start)
        }
        return number
    }

    /// A number, or null for one that is out of range and tolerated.
    private mutating func parseNumberValue() throws(JSONError) -> JSONValue {
        do {
            return .number(try parseNumber())
        } catch .numberOutOfRange(let offset) {
            try tolerate(.numberOutOfRange, else: .numberOutOfRange(offset: offset))
            return .null
        }
    }

    /// Steps over one digit or more.
    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while !isAtEnd, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            position += 1
        }
        if position == start {
            _ = try peek()
            throw .unexpectedByte(offset: position)
        }
    }

    // MARK: Strings

    private mutating func parseString() throws(JSONError) -> String {
        try expect("\"")
        let start = position
        try skipPlainCharacters()
        if bytes[position] == UInt8(ascii: "\"") {
            defer { position += 1 }
            return String(decoding: part(from: start), as: UTF8.self)
        }
        var text = Array(part(from: start))
        while bytes[position] == UInt8(ascii: "\\") {
            text.append(contentsOf: try parseEscape().utf8)
            let start = position
            try skipPlainCharacters()
            text.append(contentsOf: part(from: start))
        }
        position += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// Steps to the next quotation mark or backslash.
    private mutating func skipPlainCharacters() throws(JSONError) {
        while true {
            switch try peek() {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return
            case ..<0x20: throw .controlCharacter(offset: position)
            default: position += 1
            }
        }
    }

    /// Parses an escape, or two `\u` escapes if the first is the high half of a surrogate pair.
    private mutating func parseEscape() throws(JSONError) -> Unicode.Scalar {
        let start = position
        position += 1
        let kind = try peek()
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw .invalidEscape(offset: start)
        }
        let unit = try parseHexDigits(escape: start)
        if let scalar = Unicode.Scalar(unit) {
            return scalar
        }
        guard UTF16.isLeadSurrogate(unit),
            bytes[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
        else {
            try tolerate(.loneSurrogate, else: .loneSurrogate(offset: start))
            return "\u{FFFD}"
        }
        let second = position
        position += 2
        let low = try parseHexDigits(escape: second)
        guard UTF16.isTrailSurrogate(low) else {
            try tolerate(.loneSurrogate, else: .loneSurrogate(offset: start))
            // The second escape stands for itself.
            position = second
            return "\u{FFFD}"
        }
        return UTF16.decode(UTF16.EncodedScalar([unit, low]))
    }

    private mutating func parseHexDigits(escape start: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(try peek())).hexDigitValue else {
                throw .invalidEscape(offset: start)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // MARK: Bytes

    /// Returns the bytes from the start to the current position.
    private func part(from start: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[start..<position])
    }

    private func peek() throws(JSONError) -> UInt8 {
        if isAtEnd {
            throw .unexpectedEnd
        }
        return bytes[position]
    }

    private mutating func expect(_ text: StaticString) throws(JSONError) {
        for offset in 0..<text.utf8CodeUnitCount {
            guard try peek() == text.utf8Start[offset] else {
                throw .unexpectedByte(offset: position)
            }
            position += 1
        }
    }

    /// Steps over one byte if it is of the given kind.
    @discardableResult
    private mutating func skip(_ isWanted: (UInt8) -> Bool) -> Bool {
        guard !isAtEnd, isWanted(bytes[position]) else { return false }
        position += 1
        return true
    }

    private mutating func skipWhitespace() {
        while !isAtEnd {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }
}

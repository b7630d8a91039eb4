import Formats
import PropertyTesting
import Testing

private func parse(_ text: String) throws(JSONError) -> JSONValue {
    try JSONValue(parsing: text.utf8)
}

/// Texts that the grammar of RFC 8259 allows or forbids, section by section.
@Suite struct JSONParserTests {
    private static let taken: [(String, JSONValue)] = [
        // §2 and §3: white space and literals
        ("null", .null),
        (" \t\r\n true \t\r\n ", true),
        ("false", false),
        ("[ ]", []),
        ("{ }", [:]),
        // §4 and §5
        (#"{"a":1,"b":[true,null]}"#, ["a": 1, "b": [true, .null]]),
        (#" { "b" : 2 , "a" : 1 } "#, ["a": 1, "b": 2]),
        (#"{"":{"":""}}"#, ["": ["": ""]]),
        ("[[],[[]],{}]", [[], [[]], [:]]),
        // §7: escapes
        (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")),
        (#""\u0000\u001f\u00e9\u20AC\uFFFF""#, .string("\u{0}\u{1F}é€\u{FFFF}")),
        (#""\ud83d\ude00\uDBFF\uDFFF""#, .string("\u{1F600}\u{10FFFF}")),
        (#""a\u0022b\\u0022""#, .string("a\"b\\u0022")),
        ("\"\u{7F} é € \u{1F600} \u{2028}\"", .string("\u{7F} é € \u{1F600} \u{2028}")),
    ]

    @Test func grammarConformingTextIsParsed() throws {
        for (text, value) in Self.taken {
            #expect(try parse(text) == value, "\(text.debugDescription)")
        }
    }

    /// §6: each number keeps its text.
    @Test(arguments: [
        "0", "-0", "1", "-1", "10", "0.5", "-0.0", "1.10", "1e2", "1E2", "1e+2", "1e-2", "0e0", "1.5E-10",
        "12345678901234567890", "1.7976931348623157e308", "5e-324", "1e-400",
        "3.14159265358979323846264338327950288",
    ])
    func numberKeepsItsLiteral(literal: String) throws {
        let number = try #require(try parse(literal).numberValue)
        #expect(number.literal == literal)
        #expect(number.double == Double(literal))
        #expect(JSONNumber(literal: literal) == number)
        #expect(try parse("[\(literal) ]") == [.number(number)])
    }

    private static let refused: [(String, JSONError)] = [
        ("", .unexpectedEnd),
        ("  ", .unexpectedEnd),
        ("nul", .unexpectedEnd),
        ("nulL", .unexpectedByte(offset: 3)),
        ("True", .unexpectedByte(offset: 0)),
        ("NaN", .unexpectedByte(offset: 0)),
        ("Infinity", .unexpectedByte(offset: 0)),
        ("-Infinity", .unexpectedByte(offset: 1)),
        ("undefined", .unexpectedByte(offset: 0)),
        ("truefalse", .trailingBytes(offset: 4)),
        ("1 2", .trailingBytes(offset: 2)),
        ("{}}", .trailingBytes(offset: 2)),
        ("null\0", .trailingBytes(offset: 4)),
        ("\u{A0}null", .unexpectedByte(offset: 0)),
        ("\u{0B}null", .unexpectedByte(offset: 0)),
        ("// comment\n1", .unexpectedByte(offset: 0)),
        ("1/* comment */", .trailingBytes(offset: 1)),
        ("\u{FEFF}{}", .byteOrderMark),
        // Arrays
        ("[", .unexpectedEnd),
        ("[1", .unexpectedEnd),
        ("[1,", .unexpectedEnd),
        ("[1,]", .unexpectedByte(offset: 3)),
        ("[,1]", .unexpectedByte(offset: 1)),
        ("[1,,2]", .unexpectedByte(offset: 3)),
        ("[1 2]", .unexpectedByte(offset: 3)),
        ("[1}", .unexpectedByte(offset: 2)),
        ("]", .unexpectedByte(offset: 0)),
        // Objects
        ("{", .unexpectedEnd),
        (#"{"a""#, .unexpectedEnd),
        (#"{"a":"#, .unexpectedEnd),
        (#"{"a":1"#, .unexpectedEnd),
        (#"{"a":1,}"#, .unexpectedByte(offset: 7)),
        (#"{,"a":1}"#, .unexpectedByte(offset: 1)),
        (#"{"a" 1}"#, .unexpectedByte(offset: 5)),
        (#"{"a":}"#, .unexpectedByte(offset: 5)),
        ("{a:1}", .unexpectedByte(offset: 1)),
        ("{'a':1}", .unexpectedByte(offset: 1)),
        ("{1:1}", .unexpectedByte(offset: 1)),
        (#"{"a":1]"#, .unexpectedByte(offset: 6)),
        (#"{"a":1,"b":2,"a":1}"#, .duplicateKey("a")),
        (#"[{"a":1,"\u0061":2}]"#, .duplicateKey("a")),
        // Numbers
        ("-", .unexpectedEnd),
        ("-a", .unexpectedByte(offset: 1)),
        ("+1", .unexpectedByte(offset: 0)),
        (".5", .unexpectedByte(offset: 0)),
        ("--1", .unexpectedByte(offset: 1)),
        ("1.", .unexpectedEnd),
        ("[1.]", .unexpectedByte(offset: 3)),
        ("1.e2", .unexpectedByte(offset: 2)),
        ("1e", .unexpectedEnd),
        ("1e+", .unexpectedEnd),
        ("[1e]", .unexpectedByte(offset: 3)),
        ("01", .trailingBytes(offset: 1)),
        ("[-01]", .unexpectedByte(offset: 3)),
        ("0x1F", .trailingBytes(offset: 1)),
        ("1_000", .trailingBytes(offset: 1)),
        ("1.2.3", .trailingBytes(offset: 3)),
        ("\u{661}", .unexpectedByte(offset: 0)),
        ("1e400", .numberOutOfRange(offset: 0)),
        ("[0,-1e400]", .numberOutOfRange(offset: 3)),
        // Strings
        (#"""#, .unexpectedEnd),
        (#""a"#, .unexpectedEnd),
        (#""\"#, .unexpectedEnd),
        (#""\""#, .unexpectedEnd),
        (#""\u12"#, .unexpectedEnd),
        ("'a'", .unexpectedByte(offset: 0)),
        ("\"a\nb\"", .controlCharacter(offset: 2)),
        ("\"\0\"", .controlCharacter(offset: 1)),
        ("\"\u{1F}\"", .controlCharacter(offset: 1)),
        ("\"\\n\t\"", .controlCharacter(offset: 3)),
        (#""ab\x41""#, .invalidEscape(offset: 3)),
        (#""\'""#, .invalidEscape(offset: 1)),
        (#""\U0041""#, .invalidEscape(offset: 1)),
        (#""\u00g0""#, .invalidEscape(offset: 1)),
        (#""\u+041""#, .invalidEscape(offset: 1)),
        ("\"\\u00\u{FF11}\u{FF11}\"", .invalidEscape(offset: 1)),
        (#""a\ud83d""#, .loneSurrogate(offset: 2)),
        (#""\ud83dx""#, .loneSurrogate(offset: 1)),
        (#""\ud83d\n""#, .loneSurrogate(offset: 1)),
        (#""\ud83d\u0041""#, .loneSurrogate(offset: 1)),
        (#""\ud83d\ud83d\ude00""#, .loneSurrogate(offset: 1)),
        (#""\ude00\ud83d""#, .loneSurrogate(offset: 1)),
        (#"{"\ud800":1}"#, .loneSurrogate(offset: 2)),
        (#""\ud83d\u00"#, .unexpectedEnd),
    ]

    @Test func nonconformingTextIsRejected() {
        for (text, error) in Self.refused {
            #expect(throws: error, "\(text.debugDescription)") { try parse(text) }
        }
    }

    /// RFC 3629 §3 and §10: the shortest form only, no surrogates, nothing beyond U+10FFFF.
    @Test(
        arguments: [
            [0x22, 0x80, 0x22],
            [0x22, 0xC3, 0x22],
            [0x22, 0xC0, 0x80, 0x22],
            [0x22, 0xC1, 0xBF, 0x22],
            [0x22, 0xE0, 0x80, 0xAF, 0x22],
            [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF0, 0x80, 0x80, 0xAF, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
            [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22],
            [0x22, 0xFF, 0x22],
            [0x22, 0xE2, 0x82],
        ] as [[UInt8]])
    func invalidUTF8IsRejected(bytes: [UInt8]) {
        #expect(throws: JSONError.invalidUTF8(offset: 1)) { try JSONValue(parsing: bytes) }
    }

    @Test func keysDifferingInNormalizationAreDistinct() throws {
        let value = try parse("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value.objectValue?.count == 2)
        #expect(value.objectValue?["\u{E9}"] == 1)
        #expect(value.objectValue?["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
    }

    @Test func parserAcceptsAnyByteCollection() throws {
        let bytes = Array("__[1]__".utf8)
        #expect(try JSONValue(parsing: bytes[2..<5]) == [1])
        #expect(try JSONValue(parsing: bytes.lazy.filter { $0 != UInt8(ascii: "_") }) == [1])
        #expect(throws: JSONError.unexpectedByte(offset: 1)) {
            try JSONValue(parsing: bytes[2..<3] + bytes[0..<1])
        }
    }

    // MARK: Hostile input

    @Test func nestingBeyondMaximumDepthIsRejected() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(64)) }
        #expect(throws: JSONError.tooDeep(limit: 64, offset: 64)) { try JSONValue(parsing: nested(65)) }
        #expect(throws: JSONError.tooDeep(limit: 1, offset: 5)) {
            try JSONValue(parsing: #"{"a":{}}"#.utf8, maximumDepth: 1)
        }
        #expect(throws: JSONError.tooDeep(limit: 0, offset: 0)) {
            try JSONValue(parsing: nested(1), maximumDepth: 0)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: "1".utf8, maximumDepth: 0) }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(512), maximumDepth: .max) }
        #expect(throws: JSONError.tooDeep(limit: 512, offset: 512)) {
            try JSONValue(parsing: nested(1_000_000), maximumDepth: .max)
        }
        let objects = Array(repeating: Array(#"{"a":"#.utf8), count: 200_000).flatMap(\.self)
        #expect(throws: JSONError.tooDeep(limit: 64, offset: 320)) { try JSONValue(parsing: objects) }
    }

    /// Each of these is about a megabyte. `LinearWorkTests` counts the work; this asserts the results.
    @Test func parsingMegabytesTakesLinearTime() throws {
        let size = 1_000_000
        func repeated(_ text: String) -> [UInt8] {
            Array(String(repeating: text, count: size / text.utf8.count).utf8)
        }
        let quote = UInt8(ascii: "\"")
        let plain = try JSONValue(parsing: [quote] + repeated("a") + [quote])
        #expect(plain.stringValue?.utf8.count == size)
        let escaped = try JSONValue(parsing: [quote] + repeated(#"\n"#) + [quote])
        #expect(escaped.stringValue?.utf8.count == size / 2)
        #expect(throws: JSONError.numberOutOfRange(offset: 0)) { try JSONValue(parsing: repeated("1")) }
        let fraction = try JSONValue(parsing: Array("0.".utf8) + repeated("1"))
        #expect(fraction.numberValue?.double == 1.0 / 9)
        #expect(throws: JSONError.unexpectedEnd) { try JSONValue(parsing: [quote] + repeated("a")) }
        #expect(throws: JSONError.unexpectedEnd) { try JSONValue(parsing: repeated(" ")) }
        #expect(throws: JSONError.unexpectedEnd) { try JSONValue(parsing: Array("[".utf8) + repeated("0,")) }
    }

    @Test func keysWithLongCommonPrefixAreFound() throws {
        let prefix = String(repeating: "k", count: 500)
        let members = (0..<1_000).map { "\"\(prefix)\($0)\":\($0)" }
        let object = try #require(try parse("{\(members.joined(separator: ","))}").objectValue)
        #expect(object.count == 1_000)
        #expect(object["\(prefix)999"] == 999)
        let doubled = members + ["\"\(prefix)500\":0"]
        #expect(throws: JSONError.duplicateKey("\(prefix)500")) {
            try parse("{\(doubled.joined(separator: ","))}")
        }
    }

    @Test func randomBytesDoNotCrashParser() {
        var generator = SplitMix64(seed: 8259)
        let alphabet = Array("[]{},:\"\\u0123eE+-.truefalsn \n\u{0}é".utf8) + [0xFF, 0xED, 0xA0]
        var taken = 0
        for _ in 0..<20_000 {
            let bytes = (0..<generator.below(12)).map { _ in alphabet[generator.below(alphabet.count)] }
            if let value = try? JSONValue(parsing: bytes) {
                taken += 1
                #expect((try? JSONValue(parsing: value.serialized())) == value)
            }
        }
        #expect(taken > 100)
    }
}

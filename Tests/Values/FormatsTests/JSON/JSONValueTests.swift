import Formats
import PropertyTesting
import Testing

@Suite struct JSONValueTests {
    @Test func writtenKeysAreSortedAndEscapingIsMinimal() {
        let value: JSONValue = [
            "b": [1, 2.5, -0.0, true, false, .null], "a": ["z": [:], "é": []],
            "/": "/é€\u{1F600}\u{7F}\u{2028}",
            "\"\\": "\"\\\u{8}\u{C}\n\r\t\u{0}\u{1F}",
        ]
        #expect(
            value.text
                == "{\"\\\"\\\\\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\",\"/\":\"/é€\u{1F600}\u{7F}\u{2028}\","
                + "\"a\":{\"z\":{},\"é\":[]},\"b\":[1,2.5,-0,true,false,null]}")
    }

    @Test func prettyPrintedTextIsIndented() {
        let value: JSONValue = ["b": [1, ["c": "d"]], "a": [:], "e": []]
        #expect(
            value.prettyPrinted() == """
                {
                  "a": {},
                  "b": [
                    1,
                    {
                      "c": "d"
                    }
                  ],
                  "e": []
                }
                """)
        #expect(JSONValue.null.prettyPrinted() == "null")
    }

    @Test func writingAppendsToBytes() {
        var bytes: [UInt8] = [0x20]
        JSONValue.bool(true).write(into: &bytes)
        #expect(bytes == Array(" true".utf8))
    }

    @Test(arguments: [0, 1, 509, 510, 511, 512, 513, 100_000])
    func stringsOfAnyLengthAreWritten(length: Int) {
        let text = String(repeating: "a", count: length)
        #expect(JSONValue.string(text).serialized() == Array("\"\(text)\"".utf8))
        #expect(JSONValue.string(text + "\n").serialized() == Array("\"\(text)\\n\"".utf8))
    }

    @Test func stringSearchIgnoresKeys() {
        let value: JSONValue = ["a": [1, ["b": "c"]], "d": .null]
        #expect(value.containsString { $0 == "c" })
        #expect(JSONValue.string("c").containsString { $0 == "c" })
        #expect(!value.containsString { $0 == "a" || $0 == "b" || $0 == "d" })
    }

    @Test func accessorsReturnValueOnlyForTheirCase() {
        let values: [JSONValue] = [.null, true, 1, "a", [], [:]]
        #expect(values.map { $0.boolValue != nil } == [false, true, false, false, false, false])
        #expect(values.map { $0.numberValue != nil } == [false, false, true, false, false, false])
        #expect(values.map { $0.stringValue != nil } == [false, false, false, true, false, false])
        #expect(values.map { $0.arrayValue != nil } == [false, false, false, false, true, false])
        #expect(values.map { $0.objectValue != nil } == [false, false, false, false, false, true])
    }

    // MARK: Numbers

    @Test(
        arguments: [
            (0, "0"), (100, "100"), (-2.5, "-2.5"), (37.334722, "37.334722"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1e+21"), (1e-7, "1e-07"), (.leastNonzeroMagnitude, "5e-324"), (-0.0, "-0"),
        ] as [(Double, String)])
    func doublesAreWrittenAsLiterals(value: Double, literal: String) throws {
        let number = try #require(JSONNumber(value))
        #expect(number.literal == literal)
        #expect(JSONNumber(literal: literal)?.double == value)
    }

    @Test func nonFiniteOrMalformedNumberIsRejected() {
        for value in [Double.infinity, -.infinity, .nan, .signalingNaN] {
            #expect(JSONNumber(value) == nil)
        }
        for literal in ["", " 1", "1 ", "01", "+1", "1.", ".1", "1e400", "NaN", "0x1", "1,2", "٣"] {
            #expect(JSONNumber(literal: literal) == nil, "\(literal)")
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("42", 42), ("9223372036854775807", Int.max),
            ("-9223372036854775808", Int.min),
            ("9223372036854775808", nil), ("1.0", 1), ("1e2", 100), ("1.5", nil),
            ("1e-1", nil), ("9007199254740992.0", 9_007_199_254_740_992), ("1e300", nil),
        ] as [(String, Int?)])
    func wholeNumbersConvertToInt(literal: String, integer: Int?) {
        #expect(JSONNumber(literal: literal)?.int == integer)
    }

    /// Short decimals are computed exactly, the others by the standard library: never a bit apart, also where
    /// the digits as an integer are beyond 2⁵³ or 64 bits.
    @Test func numbersRoundToNearestDouble() throws {
        var generator = SplitMix64(seed: 1990)
        var literals = [
            "9007199254740992", "9007199254740993", "900719925474099.3", "1234567890123456789",
            "99999999999999999999", "18446744073709551616", "-0", "-0.0", "0.000000000000000001",
            "0.10000000000000000", "1e5", "1E-5",
        ]
        for _ in 0..<3_000 {
            let integer = generator.next() >> generator.below(64)
            let fraction = generator.next() >> generator.below(64)
            let zeros = String(repeating: "0", count: generator.below(4))
            literals.append((generator.oneIn(2) ? "-" : "") + "\(integer).\(zeros)\(fraction)")
        }
        for literal in literals {
            let number = try #require(JSONNumber(literal: literal))
            try #require(number.double.bitPattern == Double(literal)?.bitPattern, "\(literal)")
            try #require(number.literal == literal)
        }
    }

    @Test func numbersAreComparedByLiteral() {
        #expect(JSONNumber(1) == JSONNumber(1.0))
        #expect(JSONNumber(literal: "1") != JSONNumber(literal: "1.0"))
        #expect(JSONNumber(literal: "1")?.double == JSONNumber(literal: "1.0")?.double)
    }

    // MARK: Round trip

    /// A written value reads back the same, byte for byte, both on one line and indented.
    @Test func writtenValueRoundTrips() throws {
        var generator = RandomJSON(seed: 7159)
        for _ in 0..<20_000 {
            let value = generator.value(depth: 0)
            let bytes = value.serialized()
            let read = try JSONValue(parsing: bytes)
            try #require(read == value)
            try #require(read.serialized() == bytes)
            try #require(read.hashValue == value.hashValue)
        }
        for _ in 0..<1_000 {
            let value = generator.value(depth: 0)
            try #require(try JSONValue(parsing: value.prettyPrinted().utf8) == value)
        }
    }
}

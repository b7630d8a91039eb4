import PropertyTesting
import Testing

@testable import Administration

/// Files that RFC 4180 allows and forbids, and other files that spreadsheets write.
@Suite struct CSVParserTests {
    private typealias Record = CSVParser.Record

    /// The records of a file that arrives in chunks of a given size.
    private static func parse(_ bytes: [UInt8], chunk: Int = .max) -> [Record] {
        var parser = CSVParser()
        var records: [Record] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            parser.consume(rest.prefix(chunk)) { records.append($0) }
            rest = rest.dropFirst(chunk)
        }
        parser.finish { records.append($0) }
        return records
    }

    private static let unterminated = "a quoted field has no closing quote"
    private static let afterQuote = "a closing quote is followed by text"
    private static let insideField = "an unquoted field contains a quote"
    private static let tooLong = "the row is longer than 1048576 bytes, so the rest of the file was not read"
    private static let perhapsUnterminated = "\(tooLong); check whether a closing quote is missing"

    /// For each record its line, and its fields or the reason why it is refused.
    private static let cases: [(String, [(Int, CSVParser.Content)])] = [
        // RFC 4180 §2, rules 1 and 2: a line break after the last record is optional.
        ("a,b\r\nc,d\r\n", [(1, .fields(["a", "b"])), (2, .fields(["c", "d"]))]),
        ("a,b\r\nc,d", [(1, .fields(["a", "b"])), (2, .fields(["c", "d"]))]),
        // Rule 4: spaces are part of a field; the last field may be empty.
        (" a , b ", [(1, .fields([" a ", " b "]))]),
        ("a,\r\n,\r\n", [(1, .fields(["a", ""])), (2, .fields(["", ""]))]),
        (",", [(1, .fields(["", ""]))]),
        // Rules 5 to 7: quotes.
        ("\"a\",\"\"\r\n", [(1, .fields(["a", ""]))]), ("\"a,b\",c", [(1, .fields(["a,b", "c"]))]),
        ("\"a\"\"b\",\"\"\"\"", [(1, .fields(["a\"b", "\""]))]),
        ("\"\"", [(1, .fields([""]))]), ("\"\"\n\"\"\n", [(1, .fields([""])), (2, .fields([""]))]),
        ("\"a\r\nb\rc\nd\",e\r\nf", [(1, .fields(["a\r\nb\rc\nd", "e"])), (5, .fields(["f"]))]),
        ("a,\"\r\n\"\r\nb", [(1, .fields(["a", "\r\n"])), (3, .fields(["b"]))]),
        ("\"a\r\"\n\"\nb\"", [(1, .fields(["a\r"])), (3, .fields(["\nb"]))]),
        // Line breaks of other systems, and mixed.
        ("a\nb\n", [(1, .fields(["a"])), (2, .fields(["b"]))]),
        ("a\rb\r", [(1, .fields(["a"])), (2, .fields(["b"]))]),
        (
            "a\rb\r\nc\nd",
            [(1, .fields(["a"])), (2, .fields(["b"])), (3, .fields(["c"])), (4, .fields(["d"]))]
        ),
        // Blank lines are not records. They are counted.
        ("", []), ("\n", []), ("\r\n\r\n", []),
        ("\r\n\na\r\r\n\nb", [(3, .fields(["a"])), (6, .fields(["b"]))]),
        // A byte order mark is removed at the start only.
        ("\u{FEFF}a,b\n", [(1, .fields(["a", "b"]))]), ("\u{FEFF}", []),
        ("\u{FEFF}\"a\"", [(1, .fields(["a"]))]), ("a\u{FEFF}", [(1, .fields(["a\u{FEFF}"]))]),
        ("\u{FEFF}\u{FEFF}a", [(1, .fields(["\u{FEFF}a"]))]),
        // The bytes begin like a byte order mark and are another character.
        ("\u{FEFE}a", [(1, .fields(["\u{FEFE}a"]))]), ("\u{F000}", [(1, .fields(["\u{F000}"]))]),
        // The parser accepts NUL.
        ("a\u{0}b,\u{0}", [(1, .fields(["a\u{0}b", "\u{0}"]))]),
        ("é,日本,\u{1F600}", [(1, .fields(["é", "日本", "\u{1F600}"]))]),
        // After a refused record, reading continues.
        ("a\"b,c\nd", [(1, .refused(insideField)), (2, .fields(["d"]))]),
        ("a, \"b\"\r\nd", [(1, .refused(insideField)), (2, .fields(["d"]))]),
        ("\"a\"b,c\r\nd", [(1, .refused(afterQuote)), (2, .fields(["d"]))]),
        ("\"a\" ,c\rd", [(1, .refused(afterQuote)), (2, .fields(["d"]))]),
        ("x\n\"a\nb\"c\nd", [(1, .fields(["x"])), (2, .refused(afterQuote)), (4, .fields(["d"]))]),
        ("a\n\"b,c\nd\n", [(1, .fields(["a"])), (2, .refused(unterminated))]),
        ("a,\"", [(1, .refused(unterminated))]), ("\"\"\"", [(1, .refused(unterminated))]),
    ]

    @Test(arguments: cases.indices)
    func recordsAreIndependentOfChunkSize(index: Int) {
        let (text, expected) = Self.cases[index]
        let records = expected.map { Record(line: $0.0, content: $0.1) }
        for chunk in 1...max(1, text.utf8.count) {
            #expect(Self.parse(Array(text.utf8), chunk: chunk) == records)
        }
    }

    @Test(
        arguments: [
            ([0xFF], 1), ([0x61, 0x2C, 0xC3], 2), ([0x61, 0x2C, 0x22, 0xC3, 0x28, 0x22, 0x2C, 0x61], 2),
            ([0xED, 0xA0, 0x80], 1), ([0xC0, 0x80], 1),
            // An incomplete byte order mark.
            ([0xEF], 1), ([0xEF, 0xBB], 1), ([0xEF, 0xBB, 0x2C], 1), ([0xEF, 0x2C], 1),
        ] as [([UInt8], Int)])
    func invalidUTF8FieldIsRejectedByNumber(bytes: [UInt8], field: Int) {
        for chunk in 1...bytes.count {
            #expect(
                Self.parse(bytes + [0x0A, 0x61], chunk: chunk) == [
                    Record(line: 1, content: .refused("field \(field) is not UTF-8")),
                    Record(line: 2, content: .fields(["a"])),
                ])
        }
        #expect(Self.parse(bytes) == [Record(line: 1, content: .refused("field \(field) is not UTF-8"))])
    }

    @Test(arguments: ["", "\n", "\r\n", "\r"])
    func recordOverOneMegabyteEndsReading(lineBreak: String) {
        let limit = CSVParser.maximumRecordLength
        #expect(limit == 1_048_576)
        let field = String(repeating: "x", count: limit)
        let following = lineBreak.isEmpty ? [] : [Record(line: 2, content: .fields(["a"]))]
        let tail = lineBreak.isEmpty ? "" : lineBreak + "a"
        #expect(
            Self.parse(Array((field + tail).utf8)) == [Record(line: 1, content: .fields([field]))] + following
        )
        #expect(
            Self.parse(Array((field + "x" + tail).utf8))
                == [Record(line: 1, content: .refused(Self.tooLong))])
    }

    @Test func overlongQuotedRecordEndsReading() {
        let field = "\"" + String(repeating: "\n", count: CSVParser.maximumRecordLength)
        for end in ["\",\"b\nc\"\na", "\"", ""] {
            #expect(
                Self.parse(Array(("a\n" + field + end).utf8)) == [
                    Record(line: 1, content: .fields(["a"])),
                    Record(line: 2, content: .refused(Self.perhapsUnterminated)),
                ])
        }
    }

    @Test func overlongRecordIsReportedWithItsFirstError() {
        let text = "\"a\"b" + String(repeating: "x", count: CSVParser.maximumRecordLength) + "\na"
        #expect(
            Self.parse(Array(text.utf8))
                == [Record(line: 1, content: .refused("\(Self.afterQuote); \(Self.tooLong)"))])
    }

    /// A table is written with all needed quotes and some others, and read again.
    @Test func randomTablesRoundTripInAnyChunks() {
        var random = SplitMix64(seed: 4180)
        let pieces = [
            "a", "b", "\"", ",", "\n", "\r", "\r\n", " ", "é", "\u{1F600}", "\u{0}", "\u{FEFF}", "'",
        ]
        let lineBreaks = ["\n", "\r\n", "\r"]
        var cases = 0
        for _ in 0..<10_000 {
            var text = random.oneIn(3) ? "\u{FEFF}" : ""
            var line = 1
            var expected: [Record] = []
            let lineBreak = random.pick(lineBreaks)
            let count = random.below(4)
            for number in 0..<count {
                let fields = (0...random.below(3)).map { _ in
                    (0..<random.below(4)).map { _ in random.pick(pieces) }.joined()
                }
                let record = fields.map { Self.written($0, fields.count, &random) }.joined(separator: ",")
                expected.append(Record(line: line, content: .fields(fields)))
                text += record
                let isLast = number == count - 1
                if !isLast || random.oneIn(2) {
                    // A CR followed by an LF would be one line break.
                    let breaks = (0...random.below(2)).map { _ in lineBreak }
                    text += breaks.joined()
                    line += Self.lineBreaks(in: record) + breaks.count
                }
            }
            let bytes = Array(text.utf8)
            let chunk = 1 + random.below(max(1, bytes.count))
            guard Self.parse(bytes, chunk: chunk) == expected, Self.parse(bytes, chunk: 1) == expected else {
                Issue.record("\(text.debugDescription) in chunks of \(chunk)")
                return
            }
            cases += 1
        }
        #expect(cases == 10_000)
    }

    private static func written(_ field: String, _ count: Int, _ random: inout SplitMix64) -> String {
        // A byte order mark at the start would be removed, and a single empty field would be a blank line.
        let needsQuotes =
            (field.isEmpty && count == 1)
            || field.unicodeScalars.contains { "\",\n\r\u{FEFF}".unicodeScalars.contains($0) }
        guard needsQuotes || random.oneIn(3) else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }

    /// Counts line breaks like a text editor: CR LF is one.
    private static func lineBreaks(in text: String) -> Int {
        var count = 0
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if scalar == "\r" || (scalar == "\n" && last != "\r") { count += 1 }
            last = scalar
        }
        return count
    }
}

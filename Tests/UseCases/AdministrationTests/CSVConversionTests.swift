import Administration
import Testing

@Suite struct CSVConversionTests {
    private func rows(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        )
        .map(String.init)
    }

    @Test(arguments: [
        "Shop;Nr;Breite;L\u{E4}nge\r\nA;1;51,5;-0,1\r\n\r\n\"B; \"\"b\"\"\";2;52;13\r\n",
        "sep=;\r\nShop;Nr;Breite;L\u{E4}nge\r\nA;1;51,5;-0,1\r\n\r\n\"B; \"\"b\"\"\";2;52;13;;\r\n",
        "\u{FEFF}Shop\tNr\tBreite\tL\u{E4}nge\nA\t1\t51,5\t-0,1\n\t\t\t\n\"B; \"\"b\"\"\"\t2\t52\t13",
    ])
    func columnsAreRenamedAndRowsKeepTheirLines(_ text: String) async throws {
        let file = Array(text.utf8)
        let conversion = try #require(CSVConversion(file))
        #expect(conversion.columns == ["Shop", "Nr", "Breite", "L\u{E4}nge"])
        #expect(conversion.rows.first == ["A", "1", "51,5", "-0,1"])
        let converted = try await conversion.converted(
            [
                ("identifier", .column(1)), ("latitude", .column(2)), ("longitude", .column(3)),
                ("radius", .constant("80,5")),
            ], numbers: ["latitude", "longitude", "radius"], maximumLength: 1_000)
        let start = text.hasPrefix("sep") ? [""] : []
        #expect(
            rows(converted) == start + [
                "identifier,latitude,longitude,radius,Shop", "1,51.5,-0.1,80.5,A", "",
                "2,52,13,80.5,\"B; \"\"b\"\"\"", "",
            ])
    }

    @Test func textsWithLineBreaksDoNotMoveLaterRows() async throws {
        let file = Array("a,b\n\"1\n2\",x\n\n3,y\n".utf8)
        let conversion = try #require(CSVConversion(file))
        let converted = try await conversion.converted([("c", .column(0))], numbers: [], maximumLength: 1_000)
        #expect(String(decoding: converted, as: UTF8.self) == "c,b\r\n\"1\n2\",x\r\n\n3,y\r\n")
    }

    /// A number with a comma in another column is a text.
    @Test func onlyNumbersGetADecimalPoint() async throws {
        let large = try #require(CSVConversion(Array("a;b\n1,000;1,00\n".utf8)))
        let kept = try await large.converted(
            [("n", .column(0)), ("m", .column(1))], numbers: ["n", "m"], large: ["n", "m"],
            maximumLength: 1_000)
        #expect(rows(kept) == ["n,m", "\"1,000\",1.00", ""])
        let conversion = try #require(CSVConversion(Array("a;b\n1,5;1,5\nx,5;,5\n".utf8)))
        let converted = try await conversion.converted(
            [("n", .column(0)), ("t", .column(1))], numbers: ["n"], maximumLength: 1_000)
        #expect(rows(converted) == ["n,t", "1.5,\"1,5\"", "\"x,5\",\",5\"", ""])
    }

    @Test(arguments: [
        ("a,b\n1\n", "line 2"), ("a,b\n1,2\n3,4,5\n", "line 3"), ("a,b\n\"1\"x,2\n", "line 2"),
        ("a,b\n\"1,2\n", "line 2"),
    ])
    func rowThatCannotBeReadIsNamed(_ text: String, line: String) async throws {
        let conversion = try #require(CSVConversion(Array(text.utf8)))
        let refusal = await #expect(throws: CSVConversion.Refusal.self) {
            try await conversion.converted([("c", .column(0))], numbers: [], maximumLength: 1_000)
        }
        #expect(refusal?.description.hasPrefix(line) == true)
    }

    /// Otherwise a long constant, or a column that is chosen twice, could use any amount of memory.
    @Test func resultIsNotLongerThanTheLimit() async throws {
        let rows = String(repeating: "1,2\n", count: 100_000)
        let conversion = try #require(CSVConversion(Array("a,b\n\(rows)".utf8)))
        let source = CSVConversion.Source.constant(String(repeating: "x", count: 100))
        let refusal = await #expect(throws: CSVConversion.Refusal.self) {
            try await conversion.converted([("c", source)], numbers: [], maximumLength: 10_000)
        }
        #expect(refusal?.description == "the converted file is longer than 10000 bytes")
    }

    @Test func furtherColumnsGetNamesOfTheirOwn() async throws {
        let conversion = try #require(
            CSVConversion(Array("Note;Nr; ;Note;name;;\n1;2;3;4;5\n1;2;3;4;5;;\n".utf8)))
        #expect(conversion.columns == ["Note", "Nr", " ", "Note", "name"])
        let converted = try await conversion.converted(
            [("name", .column(1))], numbers: [], maximumLength: 1_000)
        #expect(rows(converted) == ["name,Note,column 3,Note 2,name 2", "2,1,3,4,5", "2,1,3,4,5", ""])
        // A name that is made must not take the place of a column's own name.
        let taken = try #require(CSVConversion(Array("Note;Note;Note 2; ;column 4\n1;2;3;4;5\n".utf8)))
        let named = try await taken.converted([], numbers: [], maximumLength: 1_000)
        #expect(rows(named) == ["Note,Note 3,Note 2,column 4 2,column 4", "1,2,3,4,5", ""])
    }

    @Test func blankLinesCountTowardsTheLimit() async throws {
        let lines = String(repeating: "\n", count: 100_000)
        let conversion = try #require(CSVConversion(Array("a,b\n\(lines)1,2\n".utf8)))
        await #expect(throws: CSVConversion.Refusal.self) {
            try await conversion.converted([("c", .column(0))], numbers: [], maximumLength: 50_000)
        }
    }

    @Test(arguments: [
        "a" + String(repeating: ",b", count: 500), "\"" + String(repeating: "a,", count: 600_000),
    ])
    func fileWithVeryManyColumnsIsRefused(_ text: String) {
        #expect(CSVConversion(Array(text.utf8)) == nil)
    }

    @Test(arguments: ["", "\n\n", "one column\nx\n", "sep=;\n"])
    func fileWithoutATableIsRefused(_ text: String) {
        #expect(CSVConversion(Array(text.utf8)) == nil)
    }
}

import Testing

@testable import Administration

@Suite struct CSVTableTests {
    /// The rows of a table with the required columns `a` and `b`: the line of each row, and its values of `a`, `b` and `c`.
    private func rows(_ text: String) throws -> [String] {
        var table = CSVTable(CSVColumns(required: ["a", "b"], optional: ["c"]))
        return try (table.rows(in: Array(text.utf8)) + table.finish()).map { row in
            switch row {
            case .fields(let fields, let line): "\(line): \(fields["a"]) \(fields["b"]) \(fields["c"])"
            case .refused(let reason, let line): "\(line): \(reason)"
            }
        }
    }

    @Test(arguments: [
        ("a,b\n1,2\n3,4\n", ["2: 1 2 ", "3: 3 4 "]),
        // Other order, further columns, quoted names, a byte order mark, blank lines before.
        ("b,c,a\n1,2,3", ["2: 3 1 2"]), ("\u{FEFF}\n\"a\",\"b\"\n1,2", ["3: 1 2 "]),
        ("a,b\n", []), ("a,b", []),
        // Rows of another length
        (
            "a,b\n1\n1,2,3\n1,2,\n1,2",
            [
                "2: the row has 1 fields, the header 2", "3: the row has 3 fields, the header 2",
                "4: 1 2 ", "5: 1 2 ",
            ]
        ),
        // Invalid records
        ("a,b\n\"1\"x,2\n1,2", ["2: a closing quote is followed by text", "3: 1 2 "]),
    ])
    func valuesAreAssignedByColumn(text: String, expected: [String]) throws {
        #expect(try rows(text) == expected)
    }

    @Test(arguments: [
        ("", "the file is empty"), ("\n\r\n", "the file is empty"), ("\u{FEFF}", "the file is empty"),
        ("a\n1,2", "'b' is missing; the columns read are 'a'"),
        ("1,2\n", "'a' is missing; the columns read are '1', '2'"),
        ("a|b\n", "'a' is missing; the columns read are 'a|b'"),
        ("A,\u{1B}b, a\n", #"'a' is ambiguous: 'A' and ' a'. Rename one of them to 'a'"#),
        ("a,b,a\n", "'a' occurs twice"), ("a,b,c,c\n", "'c' occurs twice"),
        // Control characters of the file are escaped in errors.
        ("a,b,x\u{1B}[2J,x\u{1B}[2J\n", #"'x\u{1B}[2J' occurs twice"#),
        ("a,b,\"x\r\ny\",\"x\r\ny\"\n", #"'x\u{D}\u{A}y' occurs twice"#),
        ("a,b,é\u{9B}\u{7F},é\u{9B}\u{7F}\n", #"'é\u{9B}\u{7F}' occurs twice"#),
        ("a,\"\",b\n", "column 2 has no name; the columns read are 'a', '', 'b'"),
        ("\"a\"x,b\n1,2", "a closing quote is followed by text"),
        ("\"a,b\n1,2", "a quoted field has no closing quote"),
    ])
    func invalidHeaderIsRejected(text: String, reason: String) {
        #expect(throws: AdministrationError.invalidHeader(reason: reason)) { try rows(text) }
    }

    @Test(arguments: [
        // Empty columns and rows at the end
        ("a,b,,\n1,2,,\n,,,\n", ["2: 1 2 "]), ("a,b\n1,2,,\n,\n,,,,\n", ["2: 1 2 "]),
        // Other separators, detected by the columns
        ("a;b;c\n1;2,5;3\n", ["2: 1 2,5 3"]), ("b\ta\r\n1\t2\r\n", ["2: 2 1 "]),
        ("\"a\";\"b\"\n\"1;1\";2\n", ["2: 1;1 2 "]),
        // A line that names the separator, and a byte order mark
        ("sep=;\r\na;b\r\n1;2\r\n", ["3: 1 2 "]), ("SEP=,\na,b\n1,2\n", ["3: 1 2 "]),
        ("\u{FEFF}sep=|\na|b\n1|2", ["3: 1 2 "]),
        // Capitals and blanks
        (" A ,\u{FEFF}B\u{A0},C\n1,2,3\n", ["2: 1 2 3"]),
        // An exact name takes precedence. Similar names stay other columns.
        ("a,A,b, b\n1,x,2,y\n", ["2: 1 2 "]),
    ])
    func spreadsheetVariantsAreParsed(text: String, expected: [String]) throws {
        #expect(try rows(text) == expected)
        // The same, byte by byte.
        var table = CSVTable(CSVColumns(required: ["a", "b"], optional: ["c"]))
        var count = 0
        for byte in text.utf8 { count += try table.rows(in: [byte]).count }
        #expect(try count + table.finish().count == expected.count)
    }

    @Test func nonUTF8HeaderIsRejected() {
        var table = CSVTable(CSVColumns(required: ["a"]))
        #expect(throws: AdministrationError.invalidHeader(reason: "field 2 is not UTF-8")) {
            try table.rows(in: [0x61, 0x2C, 0xFF, 0x0A])
        }
    }
}

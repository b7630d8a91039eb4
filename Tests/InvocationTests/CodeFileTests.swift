import Invocation
import Testing

@Suite struct CodeFileTests {
    private func row(_ fileName: String, _ url: String = "https://example.com") throws -> PrintMappingFile.Row
    {
        PrintMappingFile.Row(fileName: fileName, url: try AppClipCodeURL(url))
    }

    @Test func mappingFile() throws {
        let file = try PrintMappingFile([
            row("AppClipCode1.svg"), row("a,\"b\".svg", "https://example.com?p=1,2"),
        ])
        #expect(
            file.csv
                == "SVG File Name,URL\r\nAppClipCode1.svg,https://example.com\r\n"
                + "\"a,\"\"b\"\".svg\",\"https://example.com?p=1,2\"\r\n")
    }

    /// The first and the last row of Apple's sample, "Creating App Clip Codes with the App Clip Code
    /// Generator".
    @Test func batchFile() throws {
        let url = try AppClipCodeURL("https://appclip.example.com")
        let white = try GeneratorBatchFile.Color("ffffff")
        let black = try GeneratorBatchFile.Color("000000")
        let file = try GeneratorBatchFile([
            .init(
                fileName: "camera_standalone.svg", url: url, background: white, foreground: black,
                type: .camera,
                logo: .none),
            .init(
                fileName: "nfc_badge.svg", url: url, background: white, foreground: black, type: .nfc,
                logo: .badge),
        ])
        #expect(
            file.csv == """
                SVG File Name,URL,Background Color,Foreground Color,Type,Logo\r
                camera_standalone.svg,https://appclip.example.com,FFFFFF,000000,cam,none\r
                nfc_badge.svg,https://appclip.example.com,FFFFFF,000000,nfc,badge\r\n
                """)
    }

    @Test(arguments: ["", "FFFFF", "FFFFFFF", "GGGGGG", "#FFFFF", "ＦＦ"])
    func refusedColors(text: String) {
        #expect(throws: CodeFileError.invalidColor) { try GeneratorBatchFile.Color(text) }
        #expect(CodeFileError.invalidColor.code == "invalid_color")
    }

    @Test func refusedRows() throws {
        let good = try row("good.svg")
        let longest = String(repeating: "ä", count: 188)
        #expect(throws: Never.self) { try PrintMappingFile([row(longest)]) }
        let cases: [(PrintMappingFile.Row, CodeFileError, String)] = try [
            (row(longest + "a"), .fileNameTooLong(row: 2), "file_name_too_long"),
            (row(""), .invalidFileName(row: 2), "invalid_file_name"),
            (row("../a.svg"), .invalidFileName(row: 2), "invalid_file_name"),
            (row("a\n.svg"), .invalidFileName(row: 2), "invalid_file_name"),
            (row("Good.svg"), .duplicateFileName(row: 2), "duplicate_file_name"),
            (row("a.svg", "http://example.com"), .unfitURL(row: 2), "unfit_url"),
        ]
        for (bad, error, code) in cases {
            #expect(throws: error) { try PrintMappingFile([good, bad]) }
            #expect(error.code == code)
            #expect(error.description.hasPrefix("row 2: "))
        }
    }

    @Test func atMostTenThousandRows() throws {
        let url = try AppClipCodeURL("https://example.com")
        let rows = (1...10_001).map { PrintMappingFile.Row(fileName: "\($0).svg", url: url) }
        #expect(try PrintMappingFile(Array(rows.dropLast())).rows.count == 10_000)
        #expect(throws: CodeFileError.tooManyRows(10_001)) { try PrintMappingFile(rows) }
        #expect(CodeFileError.tooManyRows(10_001).code == "too_many_rows")
    }

    /// All of them, and each row for one reason.
    @Test func problemsOfManyRows() throws {
        let rows = try [
            row("a.svg"), row("A.svg", "http://example.com"), row("b.svg", "http://example.com"),
            row("c/d.svg"),
            row("e.svg"),
        ]
        let problems = PrintMappingFile.problems(of: rows)
        #expect(problems == [.duplicateFileName(row: 2), .unfitURL(row: 3), .invalidFileName(row: 4)])
        #expect(problems.map(\.row) == [2, 3, 4])
        #expect(problems.allSatisfy { $0.description == "row \($0.row ?? 0): \($0.reason)" })
        #expect(CodeFileError.tooManyRows(10_001).row == nil)
    }

    @Test(arguments: [
        ("restaurant-1", "restaurant-1.svg"), ("example.com/a_b?p=1", "example.com_a%5Fb%3Fp%3D1.svg"),
        ("é", "%C3%A9.svg"), ("..", "...svg"), ("a/../b", "a_.._b.svg"), ("%41", "%2541.svg"),
    ])
    func namesOfFiles(text: String, name: String) throws {
        let url = try AppClipCodeURL("https://example.com")
        #expect(PrintMappingFile.Row(named: text, url: url).fileName == name)
    }
}

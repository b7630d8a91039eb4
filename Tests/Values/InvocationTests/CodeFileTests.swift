import Invocation
import Testing

@Suite struct CodeFileTests {
    private func row(_ fileName: String, _ url: String = "https://example.com") throws -> PrintMappingFile.Row
    {
        PrintMappingFile.Row(fileName: fileName, url: try AppClipCodeURL(url))
    }

    @Test func printMappingFileIsWrittenAsCSV() throws {
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
    @Test func batchFileMatchesApplesSample() throws {
        let url = try AppClipCodeURL("https://appclip.example.com")
        let colors = try GeneratorBatchFile.Colors("000000/ffffff")
        let file = try GeneratorBatchFile([
            .init(
                fileName: "camera_standalone.svg", url: url, colors: colors, type: .camera, logo: .none),
            .init(fileName: "nfc_badge.svg", url: url, colors: colors, type: .nfc, logo: .badge),
        ])
        #expect(
            file.csv == """
                SVG File Name,URL,Background Color,Foreground Color,Type,Logo\r
                camera_standalone.svg,https://appclip.example.com,FFFFFF,000000,cam,none\r
                nfc_badge.svg,https://appclip.example.com,FFFFFF,000000,nfc,badge\r\n
                """)
    }

    @Test(arguments: ["", "FFFFF", "FFFFFFF", "GGGGGG", "#FFFFF", "ＦＦ"])
    func malformedColorIsRejected(text: String) {
        #expect(throws: CodeFileError.invalidColor) { try GeneratorBatchFile.Color(text) }
        #expect(CodeFileError.invalidColor.code == "invalid_color")
    }

    /// The pairs that the generator offers: white on each color at the even numbers, and the other way round.
    @Test func colorPairsMatchGeneratorNumbers() throws {
        let pairs = try (0...17).map { try GeneratorBatchFile.Colors(index: $0) }
        #expect(Set(pairs).count == 18)
        for (index, pair) in pairs.enumerated() {
            #expect(pair.contrast == .sufficient)
            #expect((index % 2 == 0 ? pair.foreground : pair.background) == .white)
            #expect(try GeneratorBatchFile.Colors(String(index)) == pair)
            #expect(pairs[index ^ 1] == .init(foreground: pair.background, background: pair.foreground))
        }
        #expect(pairs[1] == .blackOnWhite)
        #expect(pairs[6].background.text == "EE7733" && pairs[11].foreground.text == "00A6A1")
    }

    /// Whether any other pair can be scanned is not guessed, however it looks.
    @Test func customColorPairsHaveUnknownContrast() throws {
        for text in ["777777/888888", "FFFFFF/FFFFFE", "ffff00/000000"] {
            let colors = try GeneratorBatchFile.Colors(text)
            #expect(colors.contrast == .unknown)
            #expect("\(colors.foreground.text)/\(colors.background.text)" == text.uppercased())
        }
        for text in ["", "18", "-1", "007", "1/2", "FFFFFF", "FFFFFF/", "/FFFFFF", "FFFFFF/000000/0", "１"] {
            let error = #expect(throws: CodeFileError.self, "\(text)") { try GeneratorBatchFile.Colors(text) }
            #expect(error == .invalidColors || error == .invalidColor)
        }
        #expect(throws: CodeFileError.invalidColors) { try GeneratorBatchFile.Colors(index: 18) }
        #expect(CodeFileError.invalidColors.code == "invalid_colors")
    }

    /// No header, and no names of files that could be alike.
    @Test func appStoreConnectListHasURLsWithoutHeader() throws {
        let urls = try ["https://example.com/A", "https://example.com/a?p=1,2"].map { try AppClipCodeURL($0) }
        #expect(
            try AppStoreConnectFile(urls).csv
                == "https://example.com/A\r\n\"https://example.com/a?p=1,2\"\r\n")
        let bad = try AppClipCodeURL("https://example.com/~a")
        #expect(throws: CodeFileError.unfitURL(row: 3)) { try AppStoreConnectFile(urls + [bad]) }
        #expect(try AppStoreConnectFile(Array(repeating: urls[0], count: 10_001)).urls.count == 10_001)
    }

    @Test func invalidRowIsRejectedWithItsNumber() throws {
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

    @Test func printMappingIsSplitAtTenThousandRows() throws {
        let url = try AppClipCodeURL("https://example.com")
        let rows = (1...10_001).map { PrintMappingFile.Row(fileName: "\($0).svg", url: url) }
        #expect(try PrintMappingFile(Array(rows.dropLast())).rows.count == 10_000)
        #expect(throws: CodeFileError.tooManyRows(10_001)) { try PrintMappingFile(rows) }
        #expect(CodeFileError.tooManyRows(10_001).code == "too_many_rows")
        #expect(PrintMappingFile.problems(of: rows) == [])
        let files = try PrintMappingFile.files(of: rows)
        #expect(files.map(\.rows.count) == [10_000, 1])
        #expect(files.flatMap(\.rows) == rows)
        #expect(try PrintMappingFile.files(of: Array(rows.dropLast())).count == 1)
        let twice = rows + [rows[0]]
        #expect(PrintMappingFile.problems(of: twice) == [.duplicateFileName(row: 10_002)])
    }

    /// All of them, and each row for one reason.
    @Test func everyRowWithProblemIsReportedOnce() throws {
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
    func fileNameIsEscaped(text: String, name: String) throws {
        let url = try AppClipCodeURL("https://example.com")
        #expect(PrintMappingFile.Row(named: text, url: url).fileName == name)
    }
}

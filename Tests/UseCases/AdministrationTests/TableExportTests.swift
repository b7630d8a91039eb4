import Cards
import Invocation
import PropertyTesting
import Synchronization
import Testing

@testable import Administration

/// An import reads an export, and a second export has the same bytes.
@Suite struct TableExportTests {
    private func read<Row: WritableResource>(_ bytes: [UInt8], as: Row.Type) async throws -> [Row] {
        let rest = Mutex<[UInt8]?>(bytes)
        var rows: [Row] = []
        for try await row in TableRows<Row>({
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }) {
            switch row {
            case .row(let row, _, _): rows.append(row)
            case .refused(let problem): Issue.record("\(problem)")
            }
        }
        return rows
    }

    @Test func exportedLocationsRoundTrip() async throws {
        var catalogue = try MemoryCatalogue.sample()
        catalogue.locations.append(try MemoryCatalogue.location("plain"))
        let first = Written()
        #expect(
            try await catalogue.export(LocationRecord.self, to: first.append) == catalogue.locations.count)
        #expect(
            first.text.hasPrefix(
                "identifier,name,latitude,longitude,radius,details.e\u{301}.x,details.phone,details.é,e\u{301},note,é\r\na,a,"
            ))
        #expect(first.text.hasSuffix("\r\nplain,A place,1,2,100,,,,,,\r\n"))
        let records = try await read(first.bytes, as: LocationRecord.self)
        // A card whose columns are all empty has no fields.
        #expect(records.allSatisfy { $0.card.isEmpty })
        #expect(records.map(\.json) == catalogue.locations.map(\.json))
        catalogue.locations = records
        let second = Written()
        _ = try await catalogue.export(LocationRecord.self, to: second.append)
        #expect(first.bytes == second.bytes)
    }

    @Test func exportedExperiencesRoundTrip() async throws {
        let catalogue = try MemoryCatalogue.sample()
        let first = Written()
        #expect(try await catalogue.export(ExperienceRecord.self, to: first.append) == 4)
        #expect(
            first.text.hasPrefix(
                "clip,url,kind,location,identifier_rule,title,subtitle\r\n"
                    + "com.example.MyApp.Clip,https://example.com/a,advanced,a,,\"A, b\",\"A, b, \"\"now\"\"\"\r\n"
            ))
        let records = try await read(first.bytes, as: ExperienceRecord.self)
        #expect(records.map(\.json) == catalogue.experiences.map(\.json))
    }

    /// Random fields, made of special characters of CSV and other characters.
    @Test func randomFieldsRoundTrip() throws {
        var random = SplitMix64(seed: 9)
        let pieces = ["a", ",", "\"", "\r", "\n", "\r\n", " ", "é", "e\u{301}", "\u{FEFF}", "\t"]
        var rows: [[String]] = [["first", "second", "third"]]
        for _ in 0..<2_000 {
            rows.append((0..<3).map { _ in (0..<random.below(5)).map { _ in random.pick(pieces) }.joined() })
        }
        let written = Written()
        var writer = CSVWriter(written.append)
        for row in rows { try writer.append(row) }
        try writer.finish()
        var parser = CSVParser()
        var read: [[String]] = []
        let keep: (CSVParser.Record) -> Void = { record in
            if case .fields(let fields) = record.content { read.append(fields) }
        }
        parser.consume(written.bytes, emit: keep)
        parser.finish(emit: keep)
        #expect(read.map { $0.map { Array($0.utf8) } } == rows.map { $0.map { Array($0.utf8) } })
    }

    /// Source: OWASP, "CSV Injection". Numbers stay numbers.
    @Test(arguments: [
        ("=1+1", "'=1+1"), ("@SUM(A1)", "'@SUM(A1)"), ("+1 415 555 0103", "'+1 415 555 0103"),
        ("-1+2", "'-1+2"), ("-", "'-"), ("\t=1", "'\t=1"), ("\r=1", "\"'\r=1\""), ("\n=1", "\"'\n=1\""),
        ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""), ("\u{FF1D}1", "'\u{FF1D}1"),
        ("-122.1", "-122.1"), ("+5", "+5"), ("-1e-7", "-1e-7"), ("1=2", "1=2"), ("a@b", "a@b"), ("", ""),
        ("'=1", "'=1"), (" =1", " =1"), ("-1.", "'-1."), ("-.5", "'-.5"),
    ]) func cellLikeAFormulaGetsAnApostropheForSpreadsheets(field: String, cell: String) throws {
        let (safe, plain) = (Written(), Written())
        var writer = CSVWriter(forSpreadsheets: true, safe.append)
        try writer.append([field, "x"])
        try writer.finish()
        #expect(String(decoding: safe.bytes, as: UTF8.self) == cell + ",x\r\n")
        var other = CSVWriter(plain.append)
        try other.append([field])
        try other.finish()
        #expect(!String(decoding: plain.bytes, as: UTF8.self).contains("'") || field.hasPrefix("'"))
    }
}

import Formats
import Geodesy
import Invocation
import Lookups
import Tenancy
import Testing

@testable import Administration

/// Values that each column of an import accepts, and errors for the others.
@Suite struct RecordRowTests {
    /// Reads a row with the given columns.
    private func read<Row: WritableResource>(_: Row.Type, _ columns: [(String, String)]) throws -> Row {
        let header = try CSVHeader(columns.map(\.0), Row.csvColumns)
        return try Row.read(
            CSVFields(header: header, values: columns.map(\.1)), CSVLayout(header, Row.self))
    }

    private func location(_ changed: (String, String)...) throws -> LocationRecord {
        try read(
            LocationRecord.self,
            columns(
                [
                    ("identifier", "a"), ("name", "Bakery A"), ("latitude", "37.334722"),
                    ("longitude", "-122.008889"), ("radius", "100"),
                ], changed))
    }

    private func experience(_ changed: (String, String)...) throws -> ExperienceRecord {
        try read(
            ExperienceRecord.self,
            columns([("clip", "com.example.MyApp.Clip"), ("url", "https://example.com/a")], changed))
    }

    private func columns(
        _ columns: [(String, String)], _ changed: [(String, String)]
    ) -> [(String, String)] {
        var columns = columns
        for change in changed {
            if let index = columns.firstIndex(where: { $0.0 == change.0 }) {
                columns[index] = change
            } else {
                columns.append(change)
            }
        }
        return columns
    }

    // MARK: Locations

    @Test func otherLocationColumnsBecomeMetadata() throws {
        let record = try location(("city", "Cupertino"), ("note", ""), ("é", "\u{1F600}\n"))
        #expect(record.identifier.text == "a")
        #expect(record.name.text == "Bakery A")
        #expect(record.region.center == (try Coordinate(latitude: 37.334722, longitude: -122.008889)))
        #expect(record.region.radius == Distance(meters: 100))
        #expect(record.metadata == ["city": "Cupertino", "é": "\u{1F600}\n"])
    }

    @Test(arguments: [
        ("90", 90.0), ("-90", -90), ("-0", 0), ("+1.5", 1.5), (".5", 0.5), ("5.", 5), ("1e1", 10),
        ("1E-1", 0.1),
    ])
    func commonNumberNotationsAreParsed(text: String, latitude: Double) throws {
        #expect(try location(("latitude", text)).region.center.latitude == latitude)
    }

    @Test(arguments: [
        ("identifier", "", "a location identifier is 1 to 128 characters, none of them a control character"),
        ("identifier", String(repeating: "x", count: 129), "a location identifier is 1 to 128 characters"),
        ("identifier", "a\u{0}", "a location identifier"), ("identifier", "a\nb", "a location identifier"),
        ("identifier", " a1", "must not begin or end with a blank"),
        ("identifier", "a1\u{A0}", "must not begin or end with a blank"),
        ("identifier", "\u{200B}a1", "must not begin or end with a blank"),
        ("name", " ", "a name must have at least one visible character"),
        ("name", "\u{A0}\u{200B}", "a name must have at least one visible character"),
        ("name", "", "a name is 1 to 128 characters"), ("name", "a\u{7}", "a name is 1 to 128 characters"),
        ("latitude", "", "not a number"), ("latitude", "x", "not a number"),
        ("latitude", "nan", "not a number"),
        ("latitude", "0x10", "not a number"), ("latitude", " 1", "not a number"),
        ("latitude", "1,5", "not a number"), ("latitude", "٣", "not a number"),
        ("latitude", "1-2", "not a number"),
        ("latitude", "90.0000001", "a latitude is a finite number of degrees from -90 to 90"),
        ("latitude", "-91", "a latitude"), ("latitude", "1e400", "a latitude"),
        ("longitude", "infinity", "not a number"), ("longitude", "180.1", "a longitude is a finite number"),
        ("longitude", "-1e9", "a longitude"),
        ("radius", "", "not a number"), ("radius", "100m", "not a number"),
        ("radius", "0", "a radius is more than 0 and at most 500 metres"), ("radius", "-1", "a radius"),
        ("radius", "500.0001", "a radius"), ("radius", "1e-400", "a radius"),
        ("note", "a\u{0}b", "holds a NUL character"), ("details.note", "a\u{0}b", "holds a NUL character"),
    ])
    func invalidLocationIsRejectedByColumn(column: String, value: String, reason: String) throws {
        let refusal = #expect(throws: RowRefusal.self) { try location((column, value)) }
        #expect(refusal?.reason.hasPrefix("\(column): \(reason)") == true)
    }

    @Test func detailColumnsBecomeDetails() throws {
        let record = try location(
            ("details.phone", "1"), ("details.", ""), ("details.é.x", "\n"), ("details", "m"),
            ("Details.x", "n"),
            ("details.fax", ""))
        #expect(record.details.texts == ["phone": "1", "é.x": "\n"])
        #expect(record.metadata == ["details": "m", "Details.x": "n"])
        #expect(
            record.furtherFields == [
                "details.phone": "1", "details.é.x": "\n", "details": "m", "Details.x": "n",
            ])
        let nameless = #expect(throws: RowRefusal.self) { try location(("details.", "x")) }
        #expect(nameless?.reason.hasPrefix("details: details are an object of texts") == true)
        let text = String(repeating: "x", count: LocationDetails.maximumLength)
        let long = #expect(throws: RowRefusal.self) { try location(("details.a", text)) }
        #expect(long?.reason == "details: details are at most 4096 bytes as JSON")
    }

    @Test func columnNameInErrorHasControlCharactersEscaped() throws {
        let refusal = #expect(throws: RowRefusal.self) { try location(("\u{1B}[2J\n\u{0}", "x")) }
        #expect(refusal?.reason == #"\u{1B}[2J\u{A}\u{0}: holds a NUL character"#)
    }

    @Test func refusalDescriptionNamesColumnAndReason() {
        #expect("\(RowRefusal("radius", "not a number"))" == "radius: not a number")
    }

    // MARK: Experiences

    @Test func experienceDefaultsToAdvancedAndUnbound() throws {
        let expected = try ExperienceRecord(
            Experience(
                url: URLPrefix("https://example.com/a"), kind: .advanced,
                clip: BundleID("com.example.MyApp.Clip")))
        #expect(try experience() == expected)
        #expect(
            try experience(
                ("kind", ""), ("location", ""), ("identifier_rule", ""), ("title", ""), ("subtitle", ""),
                ("note", "x")) == expected)
    }

    @Test func experienceColumnsAreParsed() throws {
        let record = try experience(
            ("kind", "default"), ("location", "a"), ("title", "Bakery"), ("subtitle", "Order a cake"))
        #expect(record.experience.kind == .default)
        #expect(record.experience.binding == .location(try LocationIdentifier("a")))
        #expect(record.title == "Bakery")
        #expect(record.subtitle == "Order a cake")
        #expect(
            try experience(("identifier_rule", "path:1")).experience.binding == .rule(.path(1)))
        #expect(try experience(("kind", "demo")).experience.kind == .demo)
    }

    @Test(arguments: [
        ("clip", "", "a bundle ID"), ("clip", "Clip", "a bundle ID"), ("url", "", "the URL is empty"),
        ("url", "http://example.com", "an experience's URL must be https"),
        ("url", "https://example.com/a#b", "an experience's URL has no fragment"),
        ("url", "https://exämple.com", "the URL's host must be ASCII: register it as xn--exmple-cua.com"),
        ("kind", "Advanced", "not one of advanced, default, demo"),
        ("kind", "invocation", "not one of advanced, default, demo"),
        ("location", String(repeating: "x", count: 129), "a location identifier"),
        ("identifier_rule", "path:0", "an identifier rule is path:N"),
        ("identifier_rule", "a", "an identifier rule is path:N"),
        ("title", String(repeating: "x", count: 31), "a title is 1 to 30 characters"),
        ("title", "a\tb", "a title is 1 to 30 characters"),
        ("subtitle", String(repeating: "x", count: 57), "a subtitle is 1 to 56 characters"),
    ])
    func invalidExperienceIsRejectedByColumn(column: String, value: String, reason: String) throws {
        let refusal = #expect(throws: RowRefusal.self) { try experience((column, value)) }
        #expect(refusal?.reason.hasPrefix("\(column): \(reason)") == true)
    }

    @Test func contradictoryColumnsAreRejected() throws {
        let both = #expect(throws: RowRefusal.self) {
            try experience(("location", "a"), ("identifier_rule", "path:1"))
        }
        #expect(both?.reason == "location: an experience has a location or an identifier rule, not both")
        let link = #expect(throws: RowRefusal.self) {
            try experience(
                ("url", "https://appclip.apple.com/id?p=com.example.Other.Clip"), ("kind", "default"))
        }
        #expect(link?.reason.hasPrefix("url: the default App Clip link names another clip") == true)
    }

    // MARK: Short codes

    private func shortCode(_ changed: (String, String)...) throws -> ShortCode {
        try read(ShortCode.self, columns([("code", "c1"), ("url", "https://example.com/a")], changed))
    }

    @Test func shortCodeHasCanonicalURL() throws {
        let code = try shortCode(("code", "Ä_1"), ("url", "HTTPS://Example.COM:443/a/?x=é&y=#f"), ("n", "1"))
        #expect(code.code == "Ä_1")
        #expect(code.url.canonical == "https://example.com/a?x=%C3%A9&y#f")
        let longest = String(repeating: "\u{1F600}", count: 128)
        #expect(try shortCode(("code", longest)).code == longest)
    }

    @Test(arguments: [
        ("code", "", "a short code is 1 to 128 characters, none of them a control character"),
        ("code", String(repeating: "x", count: 129), "a short code is 1 to 128 characters"),
        ("code", "a\nb", "a short code"), ("code", "a\u{0}", "a short code"),
        ("code", "\u{9B}", "a short code"), ("code", "c1 ", "must not begin or end with a blank"),
        ("code", "\u{FEFF}c1", "must not begin or end with a blank"),
        ("url", "", "the URL is empty"), ("url", "example.com/a", "the URL is not absolute"),
        ("url", "https://example.com/a b", "the URL contains a space"),
        ("url", "https://example.com/" + String(repeating: "a", count: 2_029), "the URL, or its canonical"),
        ("url", "http://example.com/a", "the URL must be https, with a domain name for a host"),
        ("url", "https://example.com:8443/a", "the URL must be https"),
        ("url", "https://192.0.2.1/a", "the URL must be https"),
    ])
    func invalidShortCodeIsRejectedByColumn(column: String, value: String, reason: String) throws {
        let refusal = #expect(throws: RowRefusal.self) { try shortCode((column, value)) }
        #expect(refusal?.reason.hasPrefix("\(column): \(reason)") == true)
    }

    @Test func shortCodesAreComparedByBytes() throws {
        #expect(try shortCode(("code", "\u{E9}")) == shortCode(("code", "\u{E9}")))
        #expect(try shortCode(("code", "\u{E9}")) != shortCode(("code", "e\u{301}")))
        #expect(
            try shortCode(("url", "https://example.com/a")) != shortCode(("url", "https://example.com/A")))
    }
}

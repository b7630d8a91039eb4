import Administration
import Cards
import Formats
import Geodesy
import Invocation
import Tenancy
import Testing

/// Cards as columns of tables, and as JSON of items.
@Suite struct CardColumnTests {
    private static func rows<Row: WritableResource>(_ text: String, _: Row.Type) throws -> [ImportedRow<Row>]
    {
        var reader = TableReader<Row>()
        return try reader.rows(in: Array(text.utf8)) + reader.finish()
    }

    private static func locations(_ text: String) throws -> [LocationRecord] {
        try rows(text, LocationRecord.self).compactMap { row in
            guard case .row(let record, _, _) = row else { return nil }
            return record
        }
    }

    private static func refusals<Row: WritableResource>(_ text: String, _: Row.Type) throws -> [String] {
        try rows(text, Row.self).compactMap { row in
            guard case .refused(let problem) = row else { return nil }
            return problem.reason
        }
    }

    private static let own = "identifier,name,latitude,longitude,radius"

    @Test func cardColumnsAreParsedIntoCard() throws {
        let records = try Self.locations(
            """
            \(Self.own),card.action,card.texts.pt-BR.title,card.place.names,card.place.displayPoint.coordinates.latitude,\
            card.place.displayPoint.coordinates.longitude,card.place.homePage
            a,A,1,2,3,VIEW,Loja,"[""A"",""B""]",-1.5,2e1,https://example.com/a
            b,B,1,2,3,,,One,,,
            c,C,1,2,3,,,,,,

            """)
        var place = Place()
        place.names = ["A", "B"]
        place.point = Place.DisplayPoint(try Coordinate(latitude: -1.5, longitude: 20))
        place.homePage = "https://example.com/a"
        #expect(
            records.first?.card
                == Card(action: .view, texts: [.portuguese: try CardText(title: "Loja")], place: place))
        #expect(records.dropFirst().first?.card.place?.names == ["One"])
        #expect(records.count == 3 && records[2].card == Card())
        #expect(records.allSatisfy { $0.metadata.isEmpty })
    }

    @Test(arguments: [
        ("card.action", "LOOK", "card.action: "), ("card.colour", "red", "card.colour: is unknown"),
        ("card.place.names", "[1]", "card.place.names[0]: must be a string"),
        ("card.place.names", "[", "card.place.names: begins with '[' but is not a JSON array"),
        ("card.place.displayPoint.coordinates.latitude", "0x1", "coordinates.latitude: not a number"),
        ("card.place.displayPoint.coordinates.latitude", "1e400", "coordinates.latitude: not a number"),
        ("card.place.displayPoint.coordinates.latitude", "1", "coordinates.longitude: is missing"),
        ("card.place", "here", "card.place: must be an object"),
        ("card.texts.xx.title", "A", "card.texts.xx: is not valid"),
        ("card.texts.EN.title", "0123456789012345678901234567890", "card.texts.EN: is not valid"),
        ("card.", "a", "is unknown"), ("card.a.b.c.d.e.f.g", "a", "card.a: is unknown"),
    ])
    func invalidCardColumnIsRejected(column: String, value: String, reason: String) throws {
        let quoted = "\"" + value + "\""
        let found = try Self.refusals(
            "\(Self.own),\(column)\na,A,1,2,3,\(quoted)\n", LocationRecord.self)
        #expect(found.count == 1 && found[0].contains(reason), "\(found)")
        let experiences = try Self.refusals(
            "clip,url,\(column)\ncom.example.App.Clip,https://example.com/a,\(quoted)\n",
            ExperienceRecord.self)
        #expect(experiences == found)
    }

    @Test func cardColumnBesideItsMemberColumnIsRejected() throws {
        for columns in ["card.place,card.place.names", "card.place.names,card.place"] {
            let found = try Self.refusals("\(Self.own),\(columns)\na,A,1,2,3,x,y\n", LocationRecord.self)
            #expect(found.count == 1 && found[0].contains("cannot be combined"), "\(found)")
        }
    }

    /// Metadata with any name survives an export and import, also if the name is a column of cards.
    @Test func metadataNamesRoundTripThroughExport() async throws {
        var catalogue = try MemoryCatalogue()
        let names = ["card.action", "card", "metadata.card.x", "metadata.x", "metadata.", "card.", "cards.x"]
        catalogue.locations = [
            try MemoryCatalogue.location(
                "a", metadata: JSONObject(uniqueKeysWithValues: names.map { ($0, .string("v")) }))
        ]
        let written = Written()
        #expect(try await catalogue.export(LocationRecord.self, to: written.append) == 1)
        let header = try #require(written.text.split(separator: "\r\n").first)
        #expect(header.contains(",metadata.card.action,") && !header.contains(",card.action"))
        let read = try Self.locations(written.text)
        #expect(read.map(\.metadata) == catalogue.locations.map(\.metadata))
        #expect(read.map(\.card) == [Card()])

        // JSON from versions without cards may have such metadata.
        let json = try #require(catalogue.locations.first).json
        #expect(try LocationRecord.read(json) == catalogue.locations.first)
    }

    @Test func cardsRoundTripThroughExport() async throws {
        var catalogue = try MemoryCatalogue.sample()
        var place = Place()
        place.names = ["a, b", "\"[c]\""]
        place.categories = ["[one]"]
        place.point = Place.DisplayPoint(try Coordinate(latitude: -1.5e-7, longitude: 180 / 7))
        let cards = [
            Card(action: .play, texts: [.chinese: try CardText(title: "[日本]", subtitle: "a,\"b\"")]),
            Card(image: try ImageDigest(String(repeating: "ab", count: 32)), place: place),
        ]
        for (index, card) in cards.enumerated() {
            catalogue.locations[index].card = card
            catalogue.experiences[index + 1].card = card
        }
        let (locations, experiences) = (Written(), Written())
        _ = try await catalogue.export(LocationRecord.self, to: locations.append)
        _ = try await catalogue.export(ExperienceRecord.self, to: experiences.append)
        #expect(
            try Self.locations(locations.text).map { $0.card }
                == catalogue.locations.map { $0.card })
        let read = try Self.rows(experiences.text, ExperienceRecord.self).compactMap { row in
            if case .row(let record, _, _) = row { record.card } else { nil }
        }
        #expect(read == catalogue.experiences.map { $0.card })
    }

    @Test func patchChangesPartsOfCard() throws {
        let location = try LocationRecord.read(
            MemoryCatalogue.location("a").json.merging([
                "card": ["action": "OPEN", "texts": ["EN": ["title": "A", "subtitle": "B"]]]
            ]))
        let patched = try location.patched(by: [
            "card": ["action": .null, "texts": ["EN": ["title": .null], "JA": ["title": "日"]]]
        ])
        #expect(
            patched.card
                == Card(texts: [
                    .english: try CardText(subtitle: "B"), .japanese: try CardText(title: "日"),
                ]))
        #expect(try location.patched(by: ["card": .null]).json["card"] == nil)
        #expect(throws: RowRefusal.self) { try location.patched(by: ["card": ["image": "x"]]) }
        #expect(throws: JSONFieldError.self) { try location.patched(by: ["card": ["colour": "red"]]) }
    }

    @Test(
        arguments: [
            ("0123", nil), ("12345678901234567890", nil), ("id1", nil), ("", nil),
            (nil, "http://example.com"),
            (nil, "https://"), (nil, "https://a@example.com"), (nil, "https://example.com/ a"),
            (nil, "https://example.com/" + String(repeating: "a", count: 2_048)),
        ] as [(String?, String?)])
    func invalidClipLinksAreRejected(appStoreID: String?, androidURL: String?) {
        #expect(throws: AdministrationError.self) {
            try ClipLinks(appStoreID: appStoreID, androidURL: androidURL)
        }
    }
}

extension JSONObject {
    fileprivate init(uniqueKeysWithValues members: [(String, JSONValue)]) {
        self = [:]
        for (key, value) in members { self[key] = value }
    }

    fileprivate func merging(_ other: JSONObject) -> JSONObject {
        var merged = self
        for (key, value) in other { merged[key] = value }
        return merged
    }
}

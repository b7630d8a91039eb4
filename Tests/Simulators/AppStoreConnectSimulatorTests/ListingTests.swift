import Formats
import Foundation
import StoreSupport
import Testing

@testable import AppStoreConnectSimulator

@Suite struct ListingTests {
    private static func desk(_ count: Int) throws -> Desk {
        let desk = try Desk()
        let image = try desk.completeImage()
        for number in 0..<count {
            #expect(try desk.create("https://example.com/\(number)", image: image).status == 201)
        }
        return desk
    }

    private static func next(_ page: Desk.Answer) throws -> String? {
        let url = page.json.objectValue?["links"]?.objectValue?["next"]?.stringValue
        return try url.map { String($0[try #require($0.range(of: "/v1/")).lowerBound...]) }
    }

    private static func paging(_ page: Desk.Answer) -> JSONObject? {
        page.json.objectValue?["meta"]?.objectValue?["paging"]?.objectValue
    }

    @Test func pagesFollowNextLinks() throws {
        let desk = try Self.desk(5)
        let first = try desk.ask("GET", Desk.listing + "?limit=2&include=localizations")
        #expect(first.rows.count == 2)
        #expect(Self.paging(first)?["total"] == 5)
        #expect(Self.paging(first)?["nextCursor"]?.stringValue == RequestQuery.cursor(ofOffset: 2))
        var rows = first.rows
        var page = first
        while let next = try Self.next(page) {
            page = try desk.ask("GET", next)
            rows += page.rows
            #expect(page.json.objectValue?["included"]?.arrayValue?.count == page.rows.count)
        }
        #expect(rows.count == 5)
        #expect(Set(rows).count == 5)
        let again = try #require(try Self.next(first))
        #expect(try desk.ask("GET", again + "&limit=2").codes == ["PARAMETER_ERROR.DUPLICATE"])
    }

    @Test func rowAddedBetweenPagesShiftsOthers() throws {
        let desk = try Self.desk(6)
        desk.turn { $0.scattersRows = true }
        let image = try #require(desk.simulation.account.images.keys.first)
        let first = try desk.ask("GET", Desk.listing + "?limit=3")
        let id = try desk.create("https://example.com/new", image: image).id
        let second = try desk.ask("GET", try #require(try Self.next(first)))
        // Wherever the new row is sorted, the two pages together differ from every complete listing.
        let isBefore = id < first.rows[2]
        #expect(second.rows.contains(first.rows[2]) == isBefore)
        #expect(Self.paging(second)?["total"] == 7)
        #expect(Set(first.rows + second.rows).count < 7)
    }

    @Test func listingLagDelaysAdditionsAndRemovals() throws {
        let desk = try Self.desk(1)
        desk.turn { $0.listingLag = 30 }
        #expect(try desk.ask("GET", Desk.listing).rows.isEmpty)
        desk.pass(30)
        let id = try #require(try desk.ask("GET", Desk.listing).rows.first)
        _ = try desk.change(id, ["removed": true])
        #expect(try desk.ask("GET", Desk.listing).rows == [id])
        desk.pass(30)
        #expect(try desk.ask("GET", Desk.listing).rows.isEmpty)
    }

    @Test func listingIsFilteredAndShowsRequestedFields() throws {
        let desk = try Self.desk(2)
        let id = try #require(try desk.ask("GET", Desk.listing).rows.first)
        _ = try desk.change(id, ["action": "PLAY"])
        let uri = Desk.listing + "?filter%5Baction%5D=PLAY,OPEN&fields%5BappClipAdvancedExperiences%5D=link"
        let page = try desk.ask("GET", uri)
        #expect(page.rows == [id])
        #expect(page.data?.arrayValue?.first?.objectValue?["attributes"] == ["link": "https://example.com/0"])
        let linkage = try desk.ask(
            "GET", "/v1/appClips/\(StoreFixture.clipID)/relationships/appClipAdvancedExperiences?limit=1")
        #expect(linkage.data == [["type": "appClipAdvancedExperiences", "id": .string(id)]])
        #expect(try Self.next(linkage) != nil)
    }

    @Test func includedLocalizationsAreLimitedAsRequested() throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        let texts = ["EN", "DE", "FR"].map {
            (id: "${\($0)}", attributes: ["language": .string($0)] as JSONObject)
        }
        let made = try desk.ask("POST", Desk.experiences, Desk.creation(image: image, texts: texts))
        let page = try desk.ask(
            "GET", "\(Desk.experiences)/\(made.id)?include=localizations&limit%5Blocalizations%5D=2")
        let relationship = page.data?.objectValue?["relationships"]?.objectValue?["localizations"]?
            .objectValue
        #expect(relationship?["data"]?.arrayValue?.count == 2)
        #expect(relationship?["meta"] == ["paging": ["total": 3, "limit": 2]])
    }

    @Test func appsAndClipsAreFound() throws {
        let desk = try Desk()
        let apps = try desk.ask("GET", "/v1/apps?filter%5BbundleId%5D=com.example.app")
        #expect(apps.rows == [StoreFixture.appID])
        let app = try desk.ask("GET", "/v1/apps/1500000002?fields%5Bapps%5D=primaryLocale")
        #expect(app.attributes == ["primaryLocale": "ja"])
        let clips = try desk.ask("GET", "/v1/apps/\(StoreFixture.appID)/appClips?include=app")
        #expect(clips.rows == [StoreFixture.clipID])
        #expect(clips.json.objectValue?["included"]?.arrayValue?.count == 1)
        #expect(
            try desk.ask("GET", "/v1/apps/\(StoreFixture.appID)/appClips?filter%5BbundleId%5D=x").rows.isEmpty
        )
        #expect(try desk.ask("GET", "/v1/appClips/clip-2").attributes["bundleId"] == "com.example.other.Clip")
        #expect(
            try desk.ask("GET", "/v1/apps/\(StoreFixture.appID)/relationships/appClips").rows
                == [StoreFixture.clipID])
    }

    @Test func configuredParameterIsRejected() throws {
        let desk = try Self.desk(1)
        for query in ["colour=red", "Limit=1", "filter%5Bcolour%5D=red", "include=localizations&colour=red"] {
            #expect(
                try desk.ask("GET", "\(Desk.listing)?\(query)").codes == ["PARAMETER_ERROR.ILLEGAL"],
                "\(query)")
        }
        #expect(try desk.ask("GET", Desk.listing + "?include=localizations").rows.count == 1)
        // A parameter of the specification that the service rejects all the same.
        desk.turn { $0.refusedParameters = ["include"] }
        #expect(
            try desk.ask("GET", Desk.listing + "?include=localizations").codes == ["PARAMETER_ERROR.ILLEGAL"])
        #expect(try desk.ask("GET", Desk.listing).rows.count == 1)
    }
}

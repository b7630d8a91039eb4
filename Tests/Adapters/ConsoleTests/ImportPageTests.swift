import Administration
import Formats
import Foundation
import Geodesy
import HTTPTestClient
import HTTPTypes
import Invocation
import NIOCore
import Persistence
import Tenancy
import TestSupport
import Testing

@testable import Console

@Suite struct ImportPageTests {
    private static let columns = "identifier,name,latitude,longitude,radius\n"

    private static func identifiers(_ console: TestConsole) async throws -> [String] {
        try await TenantItems(console.store.items.locations, of: console.acme.id, by: "operator:test").list()
            .map(
                \.identifier.text)
    }

    /// Sends rows like a browser without JavaScript. Returns the path of the plan.
    private static func paste(
        _ rows: String, _ console: TestConsole, _ cookie: String, _ further: [String: String] = [:]
    ) async throws -> String {
        let response = try await console.post(
            "/t/acme/import", further.merging(["rows": columns + rows]) { $1 }, cookie)
        #expect(response.status == .seeOther)
        return try #require(response.headers[.location])
    }

    private static func state(_ page: String) throws -> String {
        String(try #require(page.firstMatch(of: /name="state" value="([0-9a-f]+)"/)).1)
    }

    @Test func reviewedRowsAreImported() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let next = try await Self.paste("door,The gate,52.01,13,100\nnew,New,1,2,50\n", console, cookie)
            let page = try await console.get(next, cookie).text
            #expect(page.contains("1.1 km") && page.contains("The gate, latitude: 52 → 52.01"))
            #expect(page.contains("doorstep location import --tenant acme locations.csv --dry-run"))
            #expect(try await Self.identifiers(console) == ["door"])
            let path = String(next.prefix { $0 != "?" })
            let done = try await console.post(path, ["state": try Self.state(page)], cookie)
            #expect(done.status == .seeOther)
            let told = try #require(done.headers[.location])
            #expect(told == "/t/acme/import?added=1&changed=1&removed=0&unchanged=0")
            #expect(try await console.get(told, cookie).text.contains("Imported: 1 added, 1 changed"))
            #expect(try await Self.identifiers(console) == ["door", "new"])
            #expect(try await console.get("/t/acme/audit", cookie).text.contains("console:ada"))
            // The file is deleted.
            #expect(try await console.get(next, cookie).status == .notFound)
        }
    }

    @Test func columnsOfAFileAreChosen() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let rows = "Nr;Shop;Lat;Lng;Owner <b>\nnew;New;51,5;-0,1;A\n"
            let next = try await console.post("/t/acme/import", ["rows": rows], cookie).headers[.location]
            let path = try #require(next)
            let form = try await console.get(path, cookie)
            #expect(form.status == .unprocessableContent && form.text.contains("Owner &lt;b&gt;"))
            // The usual names are chosen already.
            for name in ["Lat", "Lng"] {
                #expect(form.text.contains(" selected>\(name)</option>"), "\(name)")
            }
            #expect(form.text.contains(#"name="constant.radius" type="text" value="100""#))
            let incomplete = try await console.post(
                "\(path)/columns", ["column.name": "1", "column.latitude": "2"], cookie)
            #expect(incomplete.status == .unprocessableContent)
            let errors = incomplete.text.matches(of: /id="column\.([a-z]+)-error"/).map { String($0.1) }
            #expect(errors == ["identifier", "longitude", "radius"])
            for radius in ["x", "0", "501", "1,000", String(repeating: "1", count: 33)] {
                let refused = try await console.post(
                    "\(path)/columns",
                    [
                        "column.identifier": "0", "column.name": "1", "column.latitude": "2",
                        "column.longitude": "3", "constant.radius": radius,
                    ], cookie)
                #expect(refused.status == .unprocessableContent, "\(radius)")
                #expect(refused.text.contains(#"id="constant.radius-error""#), "\(radius)")
            }

            let chosen = [
                "column.identifier": "0", "column.name": "1", "column.latitude": "2", "column.longitude": "3",
                "constant.radius": "60",
            ]
            let plan = try #require(
                try await console.post("\(path)/columns", chosen, cookie).headers[.location])
            let page = try await console.get(plan, cookie)
            #expect(page.status == .ok && page.text.contains("Import this file"))
            // The person can go back and choose again.
            #expect(try await console.get(path, cookie).status == .unprocessableContent)
            _ = try await console.post(plan, ["state": try Self.state(page.text)], cookie)
            let new = try await console.store.items.locations.item(
                LocationIdentifier("new"), of: console.acme.id)
            #expect(new?.region.center.longitude == -0.1 && new?.region.radius.meters == 60)
            #expect(new?.metadata == ["Owner <b>": "A"])

            let template = try await console.get("/t/acme/import/template.csv", cookie)
            #expect(
                template.text
                    == "identifier,name,latitude,longitude,radius\r\nstore-42,Donuts,37.33,-122.01,100\r\n")
            #expect(template.headers[.contentDisposition] == "attachment; filename=\"locations.csv\"")
        }
    }

    @Test func uploadedFileIsReviewed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let sent = try await console.send(
                Array((Self.columns + "new,New,1,2,50\n").utf8), as: "text/csv",
                "/t/acme/import.csv?prune=1&allow=1",
                cookie)
            let next = try #require(
                try JSONValue(parsing: Array(buffer: sent.body)).objectValue?["next"]?.stringValue)
            #expect(next.hasSuffix("?prune=1&allow=1"))
            // An experience is bound to the door.
            let page = try await console.get(next, cookie).text
            #expect(page.contains("are in use") && page.contains("advanced \(TestConsole.doorURL)"))
            #expect(!page.contains("name=\"state\""))
        }
    }

    @Test func importIsRejectedIfItsEffectChanged() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let next = try await Self.paste("new,New,1,2,50\n", console, cookie)
            let state = try Self.state(try await console.get(next, cookie).text)
            let items = TenantItems(console.store.items.locations, of: console.acme.id, by: "operator:test")
            try await items.create(
                LocationRecord(
                    identifier: LocationIdentifier("new"), name: DisplayName("Mine"),
                    region: LocationRecord.door.region, metadata: [:]))
            let late = try await console.post(next, ["state": state], cookie)
            #expect(late.status == .conflict && late.text.contains("Nothing was done"))
            #expect(try await items.show(LocationIdentifier("new")).name.text == "Mine")
        }
    }

    @Test func invalidRowsAreNamedByLine() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let next = try await Self.paste("a,A,91,2,50\nb,B,1,2,50\nc,C,1,2,501\n", console, cookie)
            let response = try await console.get(next, cookie)
            #expect(response.status == .unprocessableContent)
            #expect(response.text.contains("2 rows are refused") && response.text.contains("latitude:"))
            #expect(response.text.contains(">2</th>") && response.text.contains(">4</th>"))
            let empty = try await console.post("/t/acme/import", ["rows": "x"], cookie)
            let wrong = try await console.get(try #require(empty.headers[.location]), cookie)
            #expect(wrong.status == .unprocessableContent && wrong.text.contains("is missing"))
            #expect(try await console.post("/t/acme/import", [:], cookie).status == .unprocessableContent)
            let long = ["rows": String(repeating: "a", count: FormFields.maximumLength)]
            #expect(try await console.post("/t/acme/import", long, cookie).status == .contentTooLarge)
            #expect(try await Self.identifiers(console) == ["door"])
        }
    }

    @Test func uploadedFileIsVisibleOnlyToItsSender() async throws {
        try await TestConsole.withConsole { console in
            let ada = try await console.signIn("ada")
            let next = try await Self.paste("new,New,1,2,50\n", console, ada)
            let state = try Self.state(try await console.get(next, ada).text)
            let ben = try await console.signIn("ben")
            #expect(try await console.get(next, ben).status == .notFound)
            #expect(try await console.post(next, ["state": state], ben).status == .notFound)
            let elsewhere = next.replacing("/t/acme/", with: "/t/other/")
            #expect(try await console.get(elsewhere, ada).status == .notFound)
            let reader = try await console.signIn(isReadOnly: true)
            #expect(
                try await console.post("/t/acme/import", ["rows": Self.columns], reader).status == .forbidden)
            #expect(
                try await console.send(Array(Self.columns.utf8), as: "text/csv", "/t/acme/import.csv", reader)
                    .status == .forbidden)
            #expect(try await console.post(next, ["state": state], reader).status == .forbidden)
        }
    }

    @Test func uploadedFilesExpireAndOldestMakeRoom() async throws {
        let held = HeldFiles(maximumTotal: 10, maximumOfOwner: 8)
        let (tenant, start) = (TenantID(UUID()), Date())
        let (ada, ben) = (try Self.owner("ada"), try Self.owner("ben"))
        var digests: [String] = []
        for (number, length) in [4, 4, 4].enumerated() {
            digests.append(
                await held.hold(
                    Array(repeating: UInt8(number), count: length), of: tenant, by: ada,
                    at: start + Double(number)))
        }
        // Her own oldest file made room.
        #expect(await held.file(digests[0], of: tenant, by: ada, at: start + 3) == nil)
        #expect(await held.file(digests[1], of: tenant, by: ada, at: start + 3) == [1, 1, 1, 1])
        #expect(await held.file(digests[1], of: tenant, by: ben, at: start + 3) == nil)
        #expect(await held.file(digests[1], of: TenantID(UUID()), by: ada, at: start + 3) == nil)
        let late = start + HeldFiles.lifetime + 1.5
        #expect(await held.file(digests[1], of: tenant, by: ada, at: late) == nil)
        #expect(await held.file(digests[2], of: tenant, by: ada, at: late) == [2, 2, 2, 2])
        // The newest file is kept at any length. The oldest files of all people make room for it.
        let long = await held.hold(Array(repeating: 9, count: 9), of: tenant, by: ben, at: start + 4)
        #expect(await held.file(long, of: tenant, by: ben, at: start + 4)?.count == 9)
        #expect(await held.file(digests[2], of: tenant, by: ada, at: start + 4) == nil)
    }

    /// People whom a proxy signs in share one session.
    private static func owner(_ name: String) throws -> HeldFiles.Owner {
        HeldFiles.Owner(.byProxy(ConsoleAccess(name: try DisplayName(name)), at: Date()))
    }

    /// The rows of a file with this many locations, each moved to another latitude.
    private static func rows(_ count: Int, latitude: Double) -> String {
        (0..<count).map { "p\($0 + 1_000),P,\(latitude),13,50\n" }.joined()
    }

    /// Another person changes the same field that the file changes, or an item beyond those that the page names. Both changes are
    /// noticed.
    @Test(arguments: [0, 100]) func importDoesNotOverwriteLaterCorrection(_ number: Int) async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let first = try await Self.paste(Self.rows(101, latitude: 37.33), console, cookie)
            let made = try await console.post(
                first, ["state": try Self.state(try await console.get(first, cookie).text)], cookie)
            #expect(made.status == .seeOther)
            let next = try await Self.paste(Self.rows(101, latitude: 37.35), console, cookie)
            let state = try Self.state(try await console.get(next, cookie).text)
            let place = try LocationIdentifier("p\(number + 1_000)")
            _ = try await console.store.items.locations.change(
                place, of: console.acme.id, by: "operator:ben"
            ) { current in
                var place = try #require(current)
                place.region = try CircularRegion(
                    center: Coordinate(latitude: 37.4, longitude: 13), radius: Distance(meters: 50))
                return place
            }
            let late = try await console.post(next, ["state": state], cookie)
            #expect(late.status == .conflict && late.text.contains("Nothing was done"))
            let kept = try await console.store.items.locations.item(place, of: console.acme.id)
            #expect(kept?.region.center.latitude == 37.4)
            // After looking at the new plan, the person may import.
            let again = try await console.post(next, ["state": try Self.state(late.text)], cookie)
            #expect(again.status == .seeOther)
        }
    }

    @Test func pruneDoesNotDeleteLocationAddedAfterReview() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let next = try await Self.paste(
                "door,The door,52,13,100\nnew,New,1,2,50\n", console, cookie, ["prune": "1"])
            let state = try Self.state(try await console.get(next, cookie).text)
            let items = TenantItems(console.store.items.locations, of: console.acme.id, by: "operator:test")
            try await items.create(
                LocationRecord(
                    identifier: LocationIdentifier("mine"), name: DisplayName("Mine"),
                    region: LocationRecord.door.region, metadata: [:]))
            let path = String(next.prefix { $0 != "?" })
            let late = try await console.post(path, ["state": state, "prune": "1"], cookie)
            #expect(late.status == .conflict)
            #expect(try await Self.identifiers(console) == ["door", "mine"])
            #expect(try await console.post(path, ["prune": "1"], cookie).status == .badRequest)
        }
    }

    @Test func readOnlySessionSeesNoUploadForm() async throws {
        try await TestConsole.withConsole { console in
            let reader = try await console.signIn(isReadOnly: true)
            for page in ["import", "images"] {
                let text = try await console.get("/t/acme/\(page)", reader).text
                #expect(text.contains("This session is read-only") && !text.contains("data-upload"))
            }
        }
    }
}

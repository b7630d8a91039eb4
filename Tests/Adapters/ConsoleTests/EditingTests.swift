import Administration
import Cards
import Formats
import Geodesy
import HTTPTestClient
import HTTPTypes
import Invocation
import Lookups
import Persistence
import Tenancy
import TestSupport
import Testing

@testable import Console

@Suite struct EditingTests {
    private static func version(in page: String) throws -> String {
        String(try #require(page.firstMatch(of: /name="version" value="([0-9a-f]+)"/)).1)
    }

    /// The version that the form of an item sends.
    private static func version(
        at path: String, _ console: TestConsole, _ cookie: String
    ) async throws -> String {
        try version(in: try await console.get("\(path)/edit", cookie).text)
    }

    /// The hidden fields of the form with a button.
    private static func fields(of page: String, button: String) throws -> [String: String] {
        let form = try #require(
            page.split(separator: "<form").first { $0.contains("\(button)</button>") })
        return form.matches(of: /name="([^"]+)" value="([^"]*)"/).reduce(into: [:]) {
            $0[String($1.1)] = [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"),
            ]
            .reduce(String($1.2)) { $0.replacing($1.0, with: $1.1) }
        }
    }

    // MARK: New items

    @Test func locationIsAddedChangedAndDeleted() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let locations = console.store.items.locations
            let empty = try await console.get("/t/acme/add/places", cookie).text
            #expect(empty.contains("doorstep location create --tenant acme store-42 --name Donuts"))
            var form = [
                "identifier": "new/one", "name": "New <b>", "latitude": "51.5142, -0.1312", "longitude": "",
                "radius": "80", "details": "Floor: 2", "metadata": "Region: South\nOwner: A: B",
                "card.action": "VIEW", "card": "texts.EN.title: Order",
            ]
            let added = try await console.post("/t/acme/add/places", form, cookie)
            #expect(added.status == .seeOther)
            #expect(added.headers[.location] == "/t/acme/places/new%2Fone?saved=1")
            let key = try LocationIdentifier("new/one")
            let location = try #require(try await locations.item(key, of: console.acme.id))
            #expect(location.region.center.latitude == 51.5142 && location.region.center.longitude == -0.1312)
            #expect(location.details.texts.first?.value == "2")
            #expect(location.metadata == ["Region": "South", "Owner": "A: B"])
            #expect(location.card.action == .view)
            #expect(location.card.furtherFields["card.texts.EN.title"] == "Order")

            // The same identifier again.
            let again = try await console.post("/t/acme/add/places", form, cookie)
            #expect(again.status == .unprocessableContent && again.text.contains(#"id="identifier-error""#))
            #expect(try await locations.item(key, of: console.acme.id) == location)

            // A change of a text and of the card, with its review.
            form["details"] = "Floor: 3"
            form["card.action"] = ""
            form["step"] = "review"
            form["identifier"] = "ignored"
            form["version"] = try await Self.version(at: "/t/acme/places/new%2Fone", console, cookie)
            // As browsers send line breaks.
            form["metadata"] = form["metadata"]?.replacing("\n", with: "\r\n")
            let review = try await console.post("/t/acme/places/new%2Fone/edit", form, cookie).text
            #expect(review.contains("Floor: 2") && review.contains("Floor: 3") && review.contains(">View<"))
            let changedFields = review.matches(of: /<th scope="row">([^<]+)</).map { String($0.1) }
            #expect(changedFields == ["Details", "Card: button"])
            #expect(try await locations.item(key, of: console.acme.id) == location)
            let save = try Self.fields(of: review, button: "Save")
            let saved = try await console.post("/t/acme/places/new%2Fone/edit", save, cookie)
            #expect(saved.headers[.location] == "/t/acme/places/new%2Fone?saved=1")
            let changed = try #require(try await locations.item(key, of: console.acme.id))
            #expect(changed.details.texts.first?.value == "3" && changed.card.action == nil)
            #expect(changed.card.texts == location.card.texts && changed.metadata == location.metadata)
            let back = try Self.fields(of: review, button: "Back to the form")
            let filled = try await console.post("/t/acme/places/new%2Fone/edit", back, cookie).text
            #expect(filled.contains(">Floor: 3</textarea>") && filled.contains("Review changes"))

            let question = try await console.get("/t/acme/places/new%2Fone/delete", cookie).text
            #expect(question.contains("New &lt;b&gt;") && question.contains("doorstep location delete"))
            let late = try await console.post("/t/acme/places/new%2Fone/delete", ["version": "0"], cookie)
            #expect(late.status == .conflict && late.text.contains("Nothing was deleted"))
            let deleted = try await console.post(
                "/t/acme/places/new%2Fone/delete", ["version": Self.version(in: question)], cookie)
            #expect(deleted.headers[.location] == "/t/acme/places?deleted=1")
            #expect(try await locations.item(key, of: console.acme.id) == nil)
            #expect(try await console.get("/t/acme/places/new%2Fone/delete", cookie).status == .notFound)
        }
    }

    @Test func clipExperienceAndShortCodeAreAddedAndChanged() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let items = console.store.items
            let clip = try await console.post(
                "/t/acme/add/clips",
                ["bundleID": "com.example.Other.Clip", "teamID": "ABCDE12345", "multiBusiness": "true"],
                cookie)
            #expect(clip.headers[.location] == "/t/acme/clips/com.example.Other.Clip?saved=1")
            let made = try #require(
                try await items.clips.item(BundleID("com.example.Other.Clip"), of: console.acme.id))
            #expect(made.isMultiBusiness && made.ownAppIDPrefix == nil)
            #expect(try await console.get("/t/acme/clips", cookie).text.contains("com.example.Other.Clip"))
            let choices = try await console.get("/t/acme/add/urls?location=door", cookie).text
            #expect(choices.contains(#"<option value="com.example.Other.Clip""#))
            #expect(choices.contains(#"value="door""#))

            let experience = [
                "url": "https://example.com/hall", "clip": "com.example.Other.Clip", "location": "door",
                "title": "Hall",
            ]
            let added = try await console.post("/t/acme/add/urls", experience, cookie)
            let page = try #require(added.headers[.location])
            #expect(page.hasPrefix("/t/acme/urls/exp_"))
            let path = String(page.prefix { $0 != "?" })
            let rule = try await console.post(
                "\(path)/edit",
                [
                    "location": "", "identifierRule": "path:1", "step": "review",
                    "version": Self.version(at: path, console, cookie),
                ], cookie
            ).text
            let save = try Self.fields(of: rule, button: "Save")
            #expect(try await console.post("\(path)/edit", save, cookie).status == .seeOther)
            #expect(try await console.get(path, cookie).text.contains("location by the rule path:1"))

            let code = try await console.post(
                "/t/acme/add/codes", ["code": "..", "url": "https://example.com/hall"], cookie)
            #expect(code.headers[.location] == "/t/acme/codes/~..?saved=1")
            #expect(
                try await console.get("/t/acme/codes/~..", cookie).text.contains("https://example.com/hall"))
            #expect(try await console.get("/t/acme/codes", cookie).text.contains("/t/acme/codes/~.."))
        }
    }

    @Test func invalidValuesOfNewItemsAreNamed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let refused: [(String, [String: String], [String])] = [
                (
                    "places", ["name": "x", "latitude": "1", "radius": "y"],
                    ["identifier", "longitude", "radius"]
                ),
                (
                    "places",
                    ["identifier": "x", "name": "x", "latitude": "91", "longitude": "0", "radius": "1"],
                    ["latitude"]
                ),
                (
                    "places",
                    [
                        "identifier": "x", "name": "x", "latitude": "1", "longitude": "0", "radius": "1",
                        "details": "no colon",
                    ], ["details"]
                ),
                (
                    "places",
                    [
                        "identifier": "x", "name": "x", "latitude": "1", "longitude": "0", "radius": "1",
                        "card": "texts.EN.subtitle: a\ncolour: red",
                    ], ["card"]
                ),
                (
                    "places",
                    [
                        "identifier": "x", "name": "x", "latitude": "1", "longitude": "0", "radius": "1",
                        "card.image": String(repeating: "0", count: 64),
                    ], ["card.image"]
                ),
                ("urls", ["url": "http://example.com", "clip": "com.example.MyApp.Clip"], ["url"]),
                ("urls", ["url": "https://example.com/x", "clip": "com.example.Missing.Clip"], ["clip"]),
                (
                    "urls",
                    [
                        "url": "https://example.com/x", "clip": "com.example.MyApp.Clip",
                        "location": "nowhere",
                    ],
                    ["location"]
                ),
                ("urls", ["url": "https://example.com/door", "clip": "com.example.MyApp.Clip"], ["url"]),
                ("clips", ["bundleID": "com.example.A.Clip", "teamID": "short"], ["teamID"]),
                ("codes", ["code": "x", "url": "ftp://example.com"], ["url"]),
            ]
            for (section, form, names) in refused {
                let page = try await console.post("/t/acme/add/\(section)", form, cookie)
                #expect(page.status == .unprocessableContent, "\(form)")
                let errors = page.text.matches(of: /id="([^"]+)-error"/).map { String($0.1) }
                #expect(Set(errors) == Set(names), "\(form)")
                for (name, value) in form where name != "details" && name != "card" {
                    #expect(page.text.contains("value=\"\(value)\""), "the form lost \(name) of \(form)")
                }
            }
        }
    }

    @Test func qrCodeIsDownloaded() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let page = try await console.get("/t/acme/places/door", cookie).text
            let link = String(try #require(page.firstMatch(of: /href="([^"]+qr\.svg[^"]+)"/)).1)
            let file = try await console.get(link, cookie)
            #expect(file.headers[.contentType] == "image/svg+xml" && file.text.hasPrefix("<svg "))
            #expect(file.headers[.contentDisposition] == "attachment; filename=\"qr-code.svg\"")
            #expect(file.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            for url in ["", "x", "https://example.com/" + String(repeating: "a", count: 3_000)] {
                #expect(
                    try await console.get("/t/acme/qr.svg?url=\(url)", cookie).status == .badRequest, "\(url)"
                )
            }
        }
    }

    @Test func firstStepsShowWhatIsDone() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let page = try await console.get("/t/acme/overview", cookie).text
            let states = page.matches(of: /<\/span>(done|to do)<\/span> <a [^>]*>([^<]+)</).map {
                ["\($0.1)", "\($0.2)"]
            }
            #expect(
                states == [
                    ["done", "Add the App Clip"], ["done", "Add a location"], ["done", "Add an experience"],
                    ["to do", "Prove the domain of the URL"], ["to do", "Create a key"],
                    ["to do", "Look up and confirm"], ["to do", "Deliver a notification"],
                ])
        }
    }

    // MARK: Deletion

    @Test func itemInUseIsDeletedWithItsDependentsOnlyIfAsked() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let path = "/t/acme/places/door/delete"
            let version = try Self.version(in: try await console.get(path, cookie).text)
            let refused = try await console.post(path, ["version": version], cookie)
            #expect(refused.status == .conflict && refused.text.contains("Nothing was deleted"))
            #expect(refused.text.contains("1 experience") && refused.text.contains(TestConsole.doorURL))
            let key = try LocationIdentifier("door")
            #expect(try await console.store.items.locations.item(key, of: console.acme.id) != nil)

            let all = try Self.fields(of: refused.text, button: "and all these items")
            #expect(try await console.post(path, all, cookie).status == .seeOther)
            #expect(try await console.store.items.locations.item(key, of: console.acme.id) == nil)
            let experiences = try await console.store.items.experiences.items(
                of: console.acme.id, after: nil, limit: 10, where: [:])
            #expect(experiences.isEmpty)
        }
    }

    // MARK: Undo

    /// The link of the newest entry that can be restored.
    private static func restoration(in page: String) throws -> String {
        String(try #require(page.firstMatch(of: /<a href="([^"]+entry=[0-9]+)"/)).1)
    }

    @Test func changeAndDeletionAreUndone() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let locations = console.store.items.locations
            let key = try LocationIdentifier("door")
            _ = try await locations.change(key, of: console.acme.id, by: "operator:test") { current in
                var changed = try #require(current)
                changed.card.action = .play
                changed.metadata = ["Owner": "A"]
                return changed
            }
            let before = try #require(try await locations.item(key, of: console.acme.id))
            var form = [
                "name": "Changed", "radius": "7", "metadata": "", "card.action": "OPEN", "step": "review",
            ]
            form["version"] = try await Self.version(at: "/t/acme/places/door", console, cookie)
            let review = try await console.post("/t/acme/places/door/edit", form, cookie).text
            _ = try await console.post(
                "/t/acme/places/door/edit", Self.fields(of: review, button: "Save"), cookie)
            #expect(try await locations.item(key, of: console.acme.id)?.metadata == [:])

            let link = try Self.restoration(in: try await console.get("/t/acme/places/door", cookie).text)
            let undo = try await console.get(link, cookie).text
            #expect(undo.contains("Changed") && undo.contains("Owner: A") && undo.contains(">Play<"))
            form = try Self.fields(of: undo, button: "Save")
            #expect(try await console.post("/t/acme/places/door/edit", form, cookie).status == .seeOther)
            #expect(try await locations.item(key, of: console.acme.id) == before)

            _ = try await locations.delete(
                key, of: console.acme.id, by: "operator:test", cascade: true
            ) { _ in }
            let audit = try await console.get("/t/acme/audit?relation=locations", cookie).text
            let deleted = try Self.restoration(in: audit)
            // The entry of a change leads to the same form if the item is deleted.
            for entry in [deleted, link] {
                let form = try await console.get(entry, cookie).headers[.location]
                #expect(form?.hasPrefix("/t/acme/add/places?entry=") == true, "\(entry)")
            }
            let again = try #require(try await console.get(deleted, cookie).headers[.location])
            let filled = try await console.get(again, cookie).text
            let values = filled.matches(of: /<input id="([^"]+)"[^>]* value="([^"]*)"/).reduce(into: [:]) {
                $0[String($1.1)] = String($1.2)
            }
            var restored = values.filter { $0.key != "find" }
            restored["metadata"] = "Owner: A"
            restored["card.action"] = "PLAY"
            #expect(filled.contains(">Owner: A</textarea>"))
            #expect(filled.contains(#"<option value="PLAY" selected"#))
            #expect(try await console.post("/t/acme/add/places", restored, cookie).status == .seeOther)
            #expect(try await locations.item(key, of: console.acme.id) == before)
        }
    }

    @Test func entriesOfOthersAreNotRestored() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            _ = try await console.store.items.locations.change(
                LocationIdentifier("door"), of: console.other.id, by: "operator:test"
            ) { current in
                var changed = try #require(current)
                changed.name = try DisplayName("Secret name")
                return changed
            }
            let audit = try await console.get("/t/other/audit", cookie).text
            let entry = try #require(audit.firstMatch(of: /entry=([0-9]+)/)).1
            for path in [
                "/t/acme/places/door/edit?entry=\(entry)", "/t/acme/add/places?entry=\(entry)",
                "/t/other/add/urls?entry=\(entry)", "/t/other/places/door/edit?entry=\(Int.max)",
                "/t/other/places/door/edit?entry=x",
            ] {
                let response = try await console.get(path, cookie)
                #expect(response.status == .badRequest, "\(path)")
                #expect(!response.text.contains("Secret name"), "\(path)")
            }
        }
    }

    /// What a form does not show is not lost.
    @Test func deletedClipIsAddedAgainWithItsAttestation() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let clips = console.store.items.clips
            let clip = try Clip.read([
                "bundleID": "com.example.Other.Clip", "teamID": "ABCDE12345", "multiBusiness": true,
                "attestation": ["confirm": "require"],
            ])
            _ = try await clips.change(
                clip.key, of: console.acme.id, by: "operator:test", force: true
            ) { _ in clip }
            let edit = try await console.get("/t/acme/clips/com.example.Other.Clip/edit", cookie).text
            #expect(edit.contains("Attestation: this form cannot show the value."))
            _ = try await clips.delete(
                clip.key, of: console.acme.id, by: "operator:test", cascade: false
            ) { _ in }
            let audit = try await console.get("/t/acme/audit?relation=clips", cookie).text
            let page = try #require(
                try await console.get(Self.restoration(in: audit), cookie).headers[.location])
            let form = try await console.get(page, cookie).text
            #expect(form.contains("Attestation: this form cannot show the value."))
            let entry = String(try #require(form.firstMatch(of: /name="entry" value="([0-9]+)"/)).1)
            let added = try await console.post(
                "/t/acme/add/clips", ["entry": entry, "teamID": "FGHIJ67890"], cookie)
            #expect(added.status == .seeOther)
            let again = try await clips.item(clip.key, of: console.acme.id)
            #expect(again?.attestation == clip.attestation && again?.isMultiBusiness == true)
            #expect(again?.teamID.text == "FGHIJ67890")
        }
    }

    @Test func experienceIsRestoredWithItsCard() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let experiences = console.store.items.experiences
            let key = try ExperienceRecord.door.key
            _ = try await experiences.change(key, of: console.acme.id, by: "operator:test") { _ in
                var members = try ExperienceRecord.door.patchable
                members["title"] = "Order "
                members["location"] = .null
                members["identifierRule"] = "path:1"
                members["card"] = ["texts": ["DE": ["title": "Bestellen"]], "action": "VIEW"]
                return try ExperienceRecord.read(members, as: key)
            }
            let before = try #require(try await experiences.item(key, of: console.acme.id))
            _ = try await experiences.change(key, of: console.acme.id, by: "operator:test") { _ in
                try .door
            }
            let audit = try await console.get("/t/acme/audit?relation=experiences", cookie).text
            let review = try await console.get(Self.restoration(in: audit), cookie).text
            let saved = try await console.post(
                "/t/acme/urls/\(key.text)/edit", Self.fields(of: review, button: "Save"), cookie)
            #expect(saved.status == .seeOther)
            #expect(try await experiences.item(key, of: console.acme.id) == before)
        }
    }

    // MARK: Conflicts

    /// The changes of both people stay.
    @Test func formOfAnOlderStateIsAConflict() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let path = "/t/acme/places/door"
            let opened = try await console.get("\(path)/edit", cookie).text
            var form = try Self.fields(of: opened, button: "Review changes")
            let key = try LocationIdentifier("door")
            _ = try await console.store.items.locations.change(
                key, of: console.acme.id, by: "operator:other"
            ) { current in
                var changed = try #require(current)
                changed.metadata = ["Owner": "B"]
                return changed
            }
            form["name"] = "Mine"
            form["metadata"] = ""
            let conflict = try await console.post("\(path)/edit", form, cookie)
            let fields = conflict.text.matches(of: /<th scope="row">([^<]+)</).map { String($0.1) }
            #expect(conflict.status == .conflict && fields == ["Name"])
            let again = try Self.fields(
                of: conflict.text, button: "Review your changes against the current values")
            let review = try await console.post("\(path)/edit", again, cookie)
            let save = try Self.fields(of: review.text, button: "Save")
            #expect(try await console.post("\(path)/edit", save, cookie).status == .seeOther)
            let saved = try await console.store.items.locations.item(key, of: console.acme.id)
            #expect(saved?.name.text == "Mine" && saved?.metadata == ["Owner": "B"])
        }
    }

    @Test func refusedChangeKeepsItsForm() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            _ = try await console.store.changeQuotas(of: console.acme.slug) { quotas in
                quotas[.locations] = Quota(rows: 1, bytes: 100)
            }
            let path = "/t/acme/places/door/edit"
            let long = "Note: " + String(repeating: "x", count: 200)
            let version = try await Self.version(at: "/t/acme/places/door", console, cookie)
            let refused = try await console.post(path, ["metadata": long, "version": version], cookie)
            #expect(refused.status == .unprocessableContent && refused.text.contains(long))
            #expect(refused.text.contains(version) && refused.text.contains(#"role="alert""#))
        }
    }

    // MARK: Drafts

    /// Names and titles may have white space at their edges.
    @Test func whiteSpaceAtEdgesIsNoChange() throws {
        var location = try LocationRecord.door
        location.name = try DisplayName(" Donuts")
        let entered = ItemDraft(location, FormFields("name=Donuts&radius=100"))
        #expect(entered.changes.isEmpty)
        let again = ItemDraft(restoring: location, in: nil, FormFields("name=Donuts"))
        #expect(again["name"] == " Donuts")
        // The composed and the decomposed form of a letter differ.
        location.name = try DisplayName("Cafe\u{301}")
        #expect(ItemDraft(location, FormFields("name=Caf%C3%A9")).changes.count == 1)
        var exact = ItemDraft(location, FormFields("name=+Bagels+"), isExact: true)
        let made = exact.made(from: location)
        #expect(made?.name.text == " Bagels ")
    }

    @Test func valuesThatLinesCannotShowKeepTheirValue() throws {
        var location = try LocationRecord.door
        location.metadata = ["Owner": "A\nB"]
        var draft = ItemDraft(location, FormFields("name=X&metadata=Owner%3A+Z"))
        #expect(draft.hiddenFields == ["Metadata"] && !draft.inputs.contains { $0.name == "metadata" })
        let made = draft.made(from: location)
        #expect(made?.metadata == location.metadata && made?.name.text == "X")
    }

    @Test(arguments: [
        ["a": "b"], ["Name": "x: y: z", "b c": "1"], [:],
    ])
    func linesReadBackAsTheSameTexts(_ texts: [String: String]) throws {
        let lines = try #require(TextLines.text(of: texts))
        #expect(try TextLines.texts(in: lines) == texts)
        #expect(try TextLines.texts(in: "\n" + lines.replacing("\n", with: "\r\n\n") + "\r\n") == texts)
    }

    @Test(arguments: [
        ["a:b": "c"], ["a": " c"], ["a": ""], ["": "c"], ["a": "b\nc"], ["a ": "c"], ["a": "b\u{7}c"],
        ["a\u{7F}": "c"],
    ])
    func textsThatLinesWouldChangeAreNotShown(_ texts: [String: String]) {
        #expect(TextLines.text(of: texts) == nil)
    }

    @Test(arguments: [
        ("teamID", "team-id", "Team ID"), ("appIDPrefix", "app-id-prefix", "App ID prefix"),
        ("identifierRule", "identifier-rule", "Identifier rule"), ("name", "name", "Name"),
        ("androidURL", "android-url", "Android URL"), ("url", "url", "URL"),
    ])
    func memberNamesBecomeOptionsAndLabels(_ member: String, option: String, label: String) {
        #expect(member.optionName == option && member.memberLabel == label)
    }

    @Test func commandOfADraftNamesWhatChanges() throws {
        let location = try LocationRecord.door
        let draft = ItemDraft(
            location, FormFields("name=The+gate&details=Floor%3A+2&card.action=VIEW&card.defaultLanguage=EN"))
        #expect(
            draft.command(for: location, of: "acme")
                == "doorstep location update --tenant acme door --name 'The gate' --detail Floor=2 --card card.json"
        )
        #expect(ItemDraft(location).command(for: location, of: "acme") == nil)
    }
}

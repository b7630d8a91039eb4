import Formats
import Foundation
import StoreSupport
import Testing

@testable import AppStoreConnectSimulator

/// The rules for experiences, and the states of experiences.
@Suite struct ExperienceTests {
    typealias Attempt = @Sendable (Desk, _ image: String) throws -> Desk.Answer
    typealias Text = (id: String, attributes: JSONObject)
    private static let english: Text = ("${EN}", ["language": "EN", "title": "One"])
    private static let long = JSONValue.string(String(repeating: "é", count: 57))

    private static func post(
        _ link: String = "https://example.com/1", attributes: JSONObject = [:], texts: [Text] = [english],
        clip: String = StoreFixture.clipID, knobs: @escaping @Sendable (inout Knobs) -> Void = { _ in }
    ) -> Attempt {
        { desk, image in
            desk.turn(knobs)
            return try desk.ask(
                "POST", Desk.experiences,
                Desk.creation(link, image: image, attributes: attributes, texts: texts, clip: clip))
        }
    }

    private static func again(
        _ link: String, knobs: @escaping @Sendable (inout Knobs) -> Void = { _ in }
    ) -> Attempt {
        { desk, image in
            _ = try desk.create(image: image)
            desk.turn(knobs)
            return try desk.create(link, image: image)
        }
    }

    /// Each rule broken, and the nearest that keeps it.
    private static let rules: [(String, broken: Attempt, kept: Attempt)] = [
        (
            "the clip exists", post(clip: "clip-3"), post()
        ),
        ("the link is https", post("http://example.com/1"), post("https://example.com/1")),
        (
            "the link's host is associated with the clip", post("https://example.org/1"),
            post("https://EXAMPLE.com/1")
        ),
        (
            "the link is not registered yet", again("https://example.com/1"),
            again("https://example.com/1", knobs: { $0.refusesDuplicateLinks = false })
        ),
        (
            "the clip has room", again("https://example.com/2", knobs: { $0.maximumExperiences = 1 }),
            again("https://example.com/2", knobs: { $0.maximumExperiences = 2 })
        ),
        (
            "new localizations have local ids", post(texts: [("EN", english.attributes)]),
            post(texts: [("EN", english.attributes)], knobs: { $0.localIDsAreStrict = false })
        ),
        (
            "linkage and included agree",
            { desk, image in
                var body = try #require(Desk.creation(image: image).objectValue)
                body["included"] = []
                return try desk.ask("POST", Desk.experiences, .object(body))
            }, post()
        ),
        (
            "each localization has a language", post(texts: [english, ("${2}", ["title": "Two"])]),
            post(texts: [english, ("${2}", ["language": "JA"])])
        ),
        (
            "each language comes once", post(texts: [english, ("${2}", ["language": "EN"])]),
            post(texts: [english, ("${2}", ["language": "ZH"])])
        ),
        (
            "there is a text in the default language", post(attributes: ["defaultLanguage": "FR"]),
            post(attributes: ["defaultLanguage": "FR"], texts: [english, ("${FR}", ["language": "FR"])])
        ),
        (
            "there is a text in the app's primary language", post(clip: "clip-2"),
            post(texts: [english, ("${JA}", ["language": "JA"])], clip: "clip-2")
        ),
        (
            "titles are short",
            post(texts: [("${EN}", ["language": "EN", "title": .string(String(repeating: "é", count: 31))])]),
            post(texts: [("${EN}", ["language": "EN", "title": .string(String(repeating: "é", count: 30))])])
        ),
        (
            "subtitles are short", post(texts: [("${EN}", ["language": "EN", "subtitle": long])]),
            post(texts: [("${EN}", ["language": "EN", "subtitle": long])], knobs: { $0.limitsTexts = false })
        ),
        (
            "a Maps place is located", post(attributes: ["place": ["names": ["Café"]]]),
            post(attributes: ["place": ["names": ["Café"], "mainAddress": ["fullAddress": "1 Road"]]])
        ),
        (
            "a point is on the Earth",
            post(attributes: ["place": ["displayPoint": ["coordinates": ["latitude": 90.1, "longitude": 0]]]]
            ),
            post(attributes: [
                "place": ["displayPoint": ["coordinates": ["latitude": -90, "longitude": 180]]]
            ])
        ),
        ("the image exists", { desk, _ in try desk.create(image: "none") }, post()),
        (
            "the image is complete", { desk, _ in try desk.create(image: try desk.image()) },
            { desk, _ in
                desk.turn { $0.acceptsUnfinishedImages = true }
                return try desk.create(image: try desk.image())
            }
        ),
        (
            "the image is nobody else's", again("https://example.com/2", knobs: { $0.sharesImages = false }),
            again("https://example.com/2")
        ),
    ]

    @Test func everyRuleIsTested() {
        #expect(Self.rules.map(\.0) == ExperienceRule.all.map(\.name))
    }

    @Test(arguments: rules)
    func ruleViolationIsRejectedAndNearestValidRequestAccepted(
        _ name: String, _ broken: Attempt, _ kept: Attempt
    ) throws {
        let rule = try #require(ExperienceRule.all.first { $0.name == name })
        var desk = try Desk()
        let response = try broken(desk, try desk.completeImage())
        #expect(response.status == rule.error.status)
        #expect(response.codes.contains(rule.error.code))
        if case .pointer(let pointer) = rule.error.source { #expect(response.sources.contains(pointer)) }
        desk = try Desk()
        let taken = try kept(desk, try desk.completeImage())
        #expect(taken.status == 201, "\(taken.codes)")
    }

    @Test func createdExperienceIsReadBack() throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        let place: JSONValue = ["names": ["Café"], "mainAddress": ["fullAddress": "1 Road"]]
        let attributes: JSONObject = ["action": "OPEN", "businessCategory": "FOOD_AND_DRINK", "place": place]
        let made = try Self.post(attributes: attributes)(desk, image)
        #expect(made.headers("Location") == ["http://127.0.0.1\(Desk.experiences)/\(made.id)"])
        let response = try desk.ask(
            "GET",
            "\(Desk.experiences)/\(made.id)?include=appClip,headerImage,localizations&fields%5BappClips%5D=bundleId"
        )
        #expect(
            response.attributes == [
                "link": "https://example.com/1", "version": 1, "status": "RECEIVED", "placeStatus": "PENDING",
                "action": "OPEN", "businessCategory": "FOOD_AND_DRINK", "isPoweredBy": true,
                "defaultLanguage": "EN", "place": place,
            ])
        let included = (response.json.objectValue?["included"]?.arrayValue ?? []).compactMap(\.objectValue)
        #expect(
            included.compactMap { $0["type"]?.stringValue } == [
                "appClips", "appClipAdvancedExperienceImages", "appClipAdvancedExperienceLocalizations",
            ])
        #expect(included.last?["attributes"] == ["language": "EN", "title": "One"])
        #expect(included.first?["attributes"] == ["bundleId": .string(StoreFixture.clipBundleID)])
        desk.pass(60)
        let later = try desk.ask("GET", "\(Desk.experiences)/\(made.id)")
        #expect(later.attributes["placeStatus"] == "MATCHED")
        #expect(later.data?.objectValue?["relationships"] == nil)
        desk.turn {
            $0.correctsPlaces = true
        }
        let corrected = try desk.ask("GET", "\(Desk.experiences)/\(made.id)").attributes["place"]?.objectValue
        #expect(corrected?["names"] == ["CAFÉ"])
        #expect(corrected?["placeId"] != nil)
        desk.turn { $0.unmatchedNames = ["Café"] }
        let lost = try desk.ask("GET", "\(Desk.experiences)/\(made.id)").attributes
        #expect(lost["placeStatus"] == "NO_MATCH")
        #expect(lost["place"] == place)
    }

    @Test func changeAffectsOnlyNamedAttributes() throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        let id = try Self.post(attributes: ["action": "OPEN", "businessCategory": "GAS"])(desk, image).id
        #expect(try desk.change(id, ["action": "VIEW", "businessCategory": .null]).status == 200)
        let attributes = try desk.ask("GET", "\(Desk.experiences)/\(id)").attributes
        #expect(attributes["action"] == "VIEW")
        #expect(attributes["businessCategory"] == nil)
        #expect(attributes["isPoweredBy"] == true)
        let moved = try desk.change(id, ["link": "https://example.com/2"])
        #expect(moved.codes == ["ENTITY_ERROR.ATTRIBUTE.INVALID.UNMODIFIABLE"])
        #expect(try desk.ask("PATCH", "\(Desk.experiences)/\(id)", Desk.change("other")).status == 422)
    }

    @Test(arguments: [true, false])
    func localizationsAreReplacedByLinkage(_ omittedGo: Bool) throws {
        let desk = try Desk()
        desk.turn { $0.omittedLocalizationsGo = omittedGo }
        let image = try desk.completeImage()
        let texts: [Text] = [Self.english, ("${JA}", ["language": "JA"]), ("${FR}", ["language": "FR"])]
        let id = try Self.post(texts: texts)(desk, image).id
        let before = try #require(desk.simulation.account.experiences[id])
        let type: JSONValue = "appClipAdvancedExperienceLocalizations"
        func identifier(_ id: String) -> JSONObject { ["type": type, "id": .string(id)] }
        let (english, japanese) = (before.localizationIDs[0], before.localizationIDs[1])
        var changed = identifier(english)
        changed["attributes"] = ["title": "Two"]
        var new = identifier("${DE}")
        new["attributes"] = ["language": "DE", "title": "Eins"]
        let response = try desk.ask(
            "PATCH", "\(Desk.experiences)/\(id)",
            Desk.change(
                id,
                relationships: [
                    "localizations": [
                        "data": .array([english, japanese, "${DE}"].map { .object(identifier($0)) })
                    ]
                ], included: [.object(changed), .object(new)]))
        #expect(response.status == 200)
        let after = desk.simulation.account.texts(of: try #require(desk.simulation.account.experiences[id]))
        #expect(after.map(\.language) == ["EN", "JA", "DE"] + (omittedGo ? [] : ["FR"]))
        #expect(after[0].id == english)
        #expect(after[0].attributes["title"] == "Two")
    }

    @Test func experienceIsRemovedAndRevived() throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        let id = try desk.create(image: image).id
        #expect(try desk.change(id, ["removed": true]).status == 200)
        #expect(try desk.ask("GET", "\(Desk.experiences)/\(id)").status == 404)
        #expect(try desk.ask("GET", Desk.listing).rows.isEmpty)
        #expect(try desk.change(id, ["removed": false]).status == 404)
        desk.turn { $0.removedAreGone = false }
        #expect(try desk.ask("GET", Desk.listing).rows == [id])
        #expect(try desk.ask("GET", "\(Desk.experiences)/\(id)").attributes["status"] == "DEACTIVATED")
        #expect(try desk.change(id, ["removed": false]).codes == ["STATE_ERROR"])
        desk.turn { $0.listsDeactivated = false }
        #expect(try desk.ask("GET", Desk.listing).rows.isEmpty)
        #expect(try desk.ask("GET", Desk.listing + "?filter%5Bstatus%5D=DEACTIVATED").rows == [id])
        desk.turn { $0.removedLinksAreFree = false }
        #expect(try desk.create(image: image).status == 409)
        desk.turn { $0.removedLinksAreFree = true }
        #expect(try desk.create(image: image).status == 201)
        desk.turn { $0.revives = true }
        #expect(try desk.change(id, ["removed": false]).codes == ["STATE_ERROR"], "the link has a successor")
        desk.turn { $0.refusesDuplicateLinks = false }
        #expect(try desk.change(id, ["removed": false]).attributes["status"] == "RECEIVED")
    }

    @Test func changeInFrozenOrTransferStateIsRejected() throws {
        let desk = try Desk()
        let id = try desk.create(image: try desk.completeImage()).id
        func edit(_ change: (inout RemoteEdit) -> Void) {
            var edit = RemoteEdit()
            change(&edit)
            let isThere = desk.simulation.edit(id, edit, at: desk.now)
            #expect(isThere)
        }
        edit { $0.isFrozen = true }
        #expect(try desk.change(id, ["removed": true]).codes == ["STATE_ERROR"])
        edit {
            $0.isFrozen = false
            $0.isInTransfer = true
        }
        #expect(try desk.change(id, ["action": "OPEN"]).codes == ["STATE_ERROR"])
        #expect(
            try desk.ask("GET", "\(Desk.experiences)/\(id)").attributes["status"]
                == "APP_TRANSFER_IN_PROGRESS")
        edit {
            $0.isInTransfer = false
            $0.attributes["action"] = "PLAY"
            $0.texts["EN"] = ["title": "By hand"]
        }
        #expect(try desk.change(id, [:]).attributes["action"] == "PLAY")
        #expect(desk.simulation.stored(at: desk.now).first?.texts["EN"]?["title"] == "By hand")
        desk.turn { $0.refusesChanges = true }
        #expect(try desk.change(id, [:]).codes == ["STATE_ERROR"])
        let isThere = desk.simulation.edit("none", RemoteEdit(), at: desk.now)
        #expect(!isThere)
    }
}

import Cards
import Formats
import Geodesy
import Testing

struct CardTests {
    private static func card(_ text: String) throws -> Card {
        try Card(JSONObjectReader(JSONValue(parsing: Array(text.utf8))))
    }

    @Test func enumerationsHaveApplesCaseCounts() {
        #expect(CardLanguage.allCases.count == 32)
        #expect(BusinessCategory.allCases.count == 27)
        #expect(MapAction.allCases.count == 41)
        #expect(CardAction.allCases.map(\.rawValue) == ["OPEN", "VIEW", "PLAY"])
    }

    @Test(arguments: [
        ("en", CardLanguage.english), ("en-GB", .english), ("EN", .english), ("zh-Hans", .chinese),
        ("zh-Hant-HK", .chinese), ("pt-BR", .portuguese), ("pt-PT", .portuguese), ("uk", .ukrainian),
        ("nb", .norwegian), ("nn-NO", .norwegian), ("no", .norwegian), ("iw", .hebrew), ("in", .indonesian),
        ("sr-Latn", nil), ("ga", nil), ("fil", nil),
    ]) func languageTagMapsToCardLanguage(tag: String, language: CardLanguage?) {
        #expect((try? CardLanguage(tag: tag)) == language)
        if language == nil {
            #expect(throws: CardError.unsupportedLanguage) { try CardLanguage(tag: tag) }
        }
    }

    @Test(arguments: [
        "", "e", "en_US", "pt-", "-pt", "en--US", "en-abcdefghi", "é", "12", "i-klingon", "en US",
    ])
    func malformedLanguageTagIsRejected(tag: String) {
        #expect(throws: CardError.malformedLanguageTag) { try CardLanguage(tag: tag) }
    }

    @Test func duplicateLanguageIsRejected() throws {
        #expect(try CardLanguage.languages(ofTags: ["en", "zh-Hant"]) == [.english, .chinese])
        #expect(throws: CardError.sameLanguage(.chinese)) {
            try CardLanguage.languages(ofTags: ["zh-Hans", "en", "zh-Hant"])
        }
        #expect(throws: CardError.sameLanguage(.english)) {
            try CardLanguage.languages(ofTags: Array(repeating: "en", count: 100_000))
        }
    }

    /// As PostgreSQL's `char_length` counts: 👨‍👩‍👧 is five.
    @Test func textLengthIsCountedInScalars() throws {
        _ = try CardText(
            title: String(repeating: "é", count: 30), subtitle: String(repeating: "店", count: 56))
        _ = try CardText(title: String(repeating: "👨‍👩‍👧", count: 6))
        for title in ["", String(repeating: "a", count: 31), String(repeating: "👨‍👩‍👧", count: 7), "a\u{7}"] {
            #expect(throws: CardError.invalidTitle) { try CardText(title: title) }
        }
        for subtitle in ["", String(repeating: "a", count: 57), "a\nb"] {
            #expect(throws: CardError.invalidSubtitle) { try CardText(subtitle: subtitle) }
        }
    }

    @Test func nilMembersAreInherited() throws {
        let clip = try Self.card(
            """
            {"action":"OPEN","businessCategory":"FOOD_AND_DRINK","defaultLanguage":"EN",
             "texts":{"EN":{"title":"Eat","subtitle":"Order here"},"JA":{"title":"食"}},
             "place":{"relationship":"AUTHORIZED","mapAction":"RESTAURANT_ORDER_FOOD"}}
            """)
        let location = try Self.card(
            """
            {"place":{"names":["Cantina"],"displayPoint":{"coordinates":{"latitude":48.1,"longitude":11.5}},
             "mapAction":"RESTAURANT_PICKUP"},"texts":{"EN":{"title":"Cantina"}}}
            """)
        let experience = try Self.card(#"{"action":"VIEW","texts":{"EN":{"subtitle":"Table 4"}}}"#)
        let card = experience.inheriting(location.inheriting(clip))
        #expect(card.action == .view)
        #expect(card.businessCategory == .foodAndDrink)
        #expect(card.texts[.english] == (try CardText(title: "Cantina", subtitle: "Table 4")))
        #expect(card.texts[.japanese]?.title == "食")
        #expect(card.place?.mapAction == .restaurantPickup)
        #expect(card.place?.relationship == .authorized)
        #expect(card.place?.names == ["Cantina"])
        #expect(card.place?.isLocated == true)
        #expect(clip.place?.isLocated == false)
        #expect(card == experience.inheriting(location).inheriting(clip))
        #expect(Card().inheriting(card) == card)
        #expect(card.inheriting(Card()) == card)
    }

    static let whole = """
        {"action":"PLAY","businessCategory":"EV_CHARGER","defaultLanguage":"UK","image":"\
        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","place":{"categories":["charger"],\
        "displayPoint":{"coordinates":{"latitude":48.1,"longitude":11.5},"source":"MANUALLY_PLACED"},\
        "homePage":"https://example.com/","mainAddress":{"fullAddress":"Platz 1, München","structuredAddress":\
        {"countryCode":"DE","floor":"2","locality":"München","neighborhood":"Au","postalCode":"80331",\
        "stateProvince":"BY","streetAddress":["Platz 1","Hof"]}},"mapAction":"CHARGE_EV","names":["Laden"],\
        "phoneNumber":{"intent":"orders","number":"+49 89 1","type":"MOBILE"},"placeId":"I1",\
        "relationship":"OWNER"},"texts":{"EN":{"title":"Charge"},"UK":{"subtitle":"Тут","title":"Зарядка"}}}
        """

    @Test func cardRoundTripsEveryMember() throws {
        let card = try Self.card(Self.whole)
        #expect(JSONValue.object(card.json).text == Self.whole)
    }

    /// A merge patch leaves an empty object where it removes all members (RFC 7396 §2).
    @Test(arguments: [
        #"{}"#, #"{"place":{}}"#, #"{"place":{"mainAddress":{}}}"#, #"{"place":{"phoneNumber":{}}}"#,
        #"{"place":{"mainAddress":{"structuredAddress":{}}}}"#, #"{"place":{"displayPoint":{}}}"#,
        #"{"place":{"displayPoint":{"coordinates":{}}}}"#, #"{"texts":{}}"#, #"{"texts":{"EN":{}}}"#,
    ]) func objectsThatHoldNothingAreNone(text: String) throws {
        #expect(try Self.card(text).isEmpty)
    }

    @Test(arguments: [
        (#"{"colour":"red"}"#, "unknown_field", "colour"),
        (#"{"place":{"name":"X"}}"#, "unknown_field", "place.name"),
        (
            #"{"place":{"mainAddress":{"structuredAddress":{"city":"X"}}}}"#, "unknown_field",
            "place.mainAddress.structuredAddress.city"
        ),
        (#"{"texts":{"EN":{"body":"X"}}}"#, "unknown_field", "texts.EN.body"),
        (#"{"texts":{"xx":{}}}"#, "invalid_field", "texts.xx"),
        (#"{"texts":{"zh-Hans":{"title":"a"},"zh-Hant":{"title":"b"}}}"#, "invalid_field", "texts.zh-Hant"),
        (#"{"texts":{"EN":{"title":""}}}"#, "invalid_field", "texts.EN"),
        (#"{"action":"ORDER"}"#, "invalid_field", "action"),
        (#"{"action":null}"#, "invalid_field", "action"),
        (#"{"image":"00"}"#, "invalid_field", "image"),
        (#"{"place":{"names":[]}}"#, "invalid_field", "place"),
        (#"{"place":{"names":[1]}}"#, "invalid_field", "place.names[0]"),
        (#"{"place":{"homePage":"javascript:x"}}"#, "invalid_field", "place"),
        (#"{"place":{"phoneNumber":{"type":"MOBILE"}}}"#, "missing_field", "place.phoneNumber.number"),
        (#"{"place":{"mainAddress":{"structuredAddress":{"countryCode":"de"}}}}"#, "invalid_field", "place"),
        (
            #"{"place":{"displayPoint":{"coordinates":{"latitude":91,"longitude":0}}}}"#, "invalid_field",
            "place.displayPoint.coordinates"
        ),
        (
            #"{"place":{"displayPoint":{"source":"CALCULATED"}}}"#, "missing_field",
            "place.displayPoint.coordinates"
        ),
        (
            #"{"place":{"displayPoint":{"coordinates":{"latitude":1}}}}"#, "missing_field",
            "place.displayPoint.coordinates.longitude"
        ),
    ]) func unknownOrInvalidMemberIsRejected(text: String, code: String, path: String) {
        let error = #expect(throws: JSONFieldError.self) { try Self.card(text) }
        #expect(error?.code == code)
        #expect(error?.path == path)
    }
}

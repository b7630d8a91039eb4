import Formats
import Tenancy
import Testing

@testable import Invocation

@Suite struct AssociationContentTests {
    private static let clip = "ABCDE12345.com.example.Menu.Clip"

    private static func file(_ content: String?, _ urls: [String] = []) throws -> JSONObject {
        let id = try AppID(clip)
        return SiteAssociation(
            clips: [.init(id: id, app: try #require(id.parent))],
            urls: try urls.map { (url: try URLPrefix($0), clip: id) },
            content: try content.map { try AssociationContent(parsing: $0.utf8) }
        ).json
    }

    @Test func storedContentIsMergedWithoutLoss() throws {
        let content = #"""
            {"activitycontinuation":{"apps":["ABCDE12345.com.example.Notes"]},
             "applinks":{"apps":[],"defaults":{"caseSensitive":false},
               "details":[{"appIDs":["ABCDE12345.com.example.Menu"],"components":[{"/":"/a/private/*","exclude":true}]},
                          {"appID":"ABCDE12345.com.example.Old","paths":["NOT /x","*"],"more":1}],
               "substitutionVariables":{"food":["burrito","taco"]},"later":{"x":[null]}},
             "webcredentials":{"apps":["ABCDE12345.com.example.Bank"]},"com.example.own":[1,2.50]}
            """#
        let merged = try Self.file(content, ["https://example.com/a"])
        let given = try #require(try JSONValue(parsing: content.utf8).objectValue)
        for key in ["activitycontinuation", "webcredentials", "com.example.own"] {
            #expect(merged[key] == given[key])
        }
        #expect(merged["appclips"] == (try Self.file(nil))["appclips"])
        let (links, kept) = (merged["applinks"]?.objectValue, given["applinks"]?.objectValue)
        for key in ["apps", "defaults", "substitutionVariables", "later"] {
            #expect(links?[key] == kept?[key])
        }
        // The tenant's come first, so that its excludes hold [Apple], and others' defaults are not for Doorstep's.
        let own: JSONValue = [
            "appIDs": ["ABCDE12345.com.example.Menu"], "components": [["/": "/a"], ["/": "/a/*"]],
            "defaults": ["caseSensitive": true, "percentEncoded": true],
        ]
        #expect(links?["details"] == .array((kept?["details"]?.arrayValue ?? []) + [own]))
    }

    @Test(arguments: [
        "{}", #"{"webcredentials":{"apps":["ABCDE12345.com.example.Bank"]},"more":[null]}"#,
        #"{"webcredentials":{}}"#, #"{"applinks":{}}"#, #"{"applinks":{"details":[]}}"#, #"{"":{"":[]}}"#,
    ])
    func unknownContentIsAccepted(text: String) throws {
        let content = try AssociationContent(parsing: text.utf8)
        #expect(try JSONValue.object(content.json) == JSONValue(parsing: text.utf8))
    }

    @Test func emptyContentLeavesFileUnchanged() throws {
        let urls = ["https://example.com/a"]
        #expect(try Self.file("{}", urls) == Self.file(nil, urls))
        let links = #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.Old"]}]}}"#
        #expect(try Self.file(links)["applinks"] == JSONValue(parsing: links.utf8).objectValue?["applinks"])
    }

    /// Each error names the path of a member. Unknown members are kept.
    @Test(
        arguments: [
            ("[]", "the content must be an object"),
            (
                #"{"appclips":{"apps":["ABCDE12345.com.example.Menu.Clip"]}}"#,
                "appclips is written by Doorstep"
            ),
            (#"{"appclips":null}"#, "appclips is written by Doorstep"),
            (#"{"applinks":[]}"#, "applinks must be an object"),
            (
                #"{"applinks":{"details":{"ABCDE12345.com.example.Old":{"paths":["*"]}}}}"#,
                "applinks.details must be an array"
            ),
            (#"{"applinks":{"details":[{}]}}"#, "applinks.details[0].appIDs is missing"),
            (#"{"applinks":{"details":[{"appID":"A.b"},1]}}"#, "applinks.details[0].appID must be an App ID"),
            (#"{"applinks":{"details":["x"]}}"#, "applinks.details[0] must be an object"),
            (
                #"{"applinks":{"details":[{"appIDs":"ABCDE12345.com.example.Old"}]}}"#,
                "applinks.details[0].appIDs must be an array"
            ),
            (
                #"{"applinks":{"details":[{"appIDs":["ABCDE12345.*"]}]}}"#,
                "applinks.details[0].appIDs[0] must be an App ID"
            ),
            (#"{"applinks":{"details":[{"appIDs":[1]}]}}"#, "applinks.details[0].appIDs[0] must be a string"),
            (
                #"{"applinks":{"details":[{"appIDs":[],"components":{}}]}}"#,
                "applinks.details[0].components must be an array"
            ),
            (
                #"{"applinks":{"details":[{"appIDs":[],"components":["/a"]}]}}"#,
                "applinks.details[0].components[0] must be an object"
            ),
            (
                #"{"applinks":{"details":[{"appIDs":[],"paths":[1]}]}}"#,
                "applinks.details[0].paths[0] must be a string"
            ),
            (
                #"{"applinks":{"details":[{"appIDs":[],"defaults":true}]}}"#,
                "applinks.details[0].defaults must be an object"
            ),
            (#"{"applinks":{"defaults":[]}}"#, "applinks.defaults must be an object"),
            (
                #"{"applinks":{"substitutionVariables":{"a":"b"}}}"#,
                "applinks.substitutionVariables.a must be an array"
            ),
            (#"{"webcredentials":["ABCDE12345.com.example.Bank"]}"#, "webcredentials must be an object"),
            (
                #"{"webcredentials":{"apps":["com.example.Bank"]}}"#,
                "webcredentials.apps[0] must be an App ID"
            ),
            (#"{"activitycontinuation":{"apps":{}}}"#, "activitycontinuation.apps must be an array"),
        ] as [(String, String)])
    func contradictoryContentIsRejectedWithItsPath(text: String, reason: String) throws {
        let error = #expect(throws: AssociationContentError.self) {
            try AssociationContent(parsing: text.utf8)
        }
        #expect(error?.description.hasPrefix(reason) == true, "\(error?.description ?? "")")
        #expect(error?.code == "contradiction")
    }

    @Test func invalidNULOrOversizedContentIsRejected() throws {
        for (text, code) in [
            ("{", "invalid_json"), (#"{"a":"\u0000"}"#, "nul_character"),
            (#"{"a\u0000":1}"#, "nul_character"),
            (#"{"a":"\#(String(repeating: "x", count: 32_761))"}"#, "content_too_large"),
        ] {
            let error = #expect(throws: AssociationContentError.self) {
                try AssociationContent(parsing: text.utf8)
            }
            #expect(error?.code == code)
        }
        // White space is not written.
        let largest = #"{ "a" : "\#(String(repeating: "x", count: 32_760))" }"#
        #expect(throws: Never.self) { try AssociationContent(parsing: largest.utf8) }
    }

    @Test func appClipUnderAppLinksIsRejected() throws {
        let clips: Set<AppID> = [try AppID(Self.clip)]
        for (detail, path) in [
            (
                #"{"appIDs":["ABCDE12345.com.example.Menu","ABCDE12345.com.example.Menu.Clip"]}"#,
                "applinks.details[1].appIDs[1]"
            ),
            (#"{"appID":"ABCDE12345.com.example.Menu.Clip"}"#, "applinks.details[1].appID"),
        ] {
            let text = #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.Menu"]},\#(detail)]}}"#
            let content = try AssociationContent(parsing: text.utf8)
            #expect(throws: Never.self) { try content.check(against: []) }
            let error = #expect(throws: AssociationContentError.self) { try content.check(against: clips) }
            #expect(error?.description == "\(path) is an App Clip, which belongs under appclips")
        }
    }

    /// The largest content beside the most patterns is well under what devices read.
    @Test func largestFileStaysUnderSizeLimit() throws {
        let content = #"{"a":"\#(String(repeating: "x", count: 32_760))"}"#
        for count in [400, 900, 20_000] {
            let file = try Self.file(
                content, (0..<count).map { "https://example.com/restaurants/in/town/\($0)" })
            #expect(JSONValue.object(file).serialized().count <= 98_304)
        }
    }
}

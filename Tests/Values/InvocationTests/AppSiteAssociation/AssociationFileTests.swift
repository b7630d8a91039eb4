import Formats
import Tenancy
import Testing

@testable import Invocation

@Suite struct AssociationFileTests {
    @Test func writtenFileIsParsed() throws {
        let clip = try AppID("ABCDE12345.com.example.Menu.Clip")
        let app = try #require(clip.parent)
        let written = SiteAssociation(clips: [.init(id: clip, app: app)], links: nil)
        let read = try AssociationFile(parsing: written.serialized())
        #expect(read.appClips == [app.text, clip.text])
        #expect(read.links == [app.text])
    }

    @Test(
        arguments: [
            ("{}", nil, []),
            (#"{"appclips":{"apps":[]}}"#, [], []),
            (#"{"appclips":[]}"#, nil, []), (#"{"appclips":{}}"#, nil, []),
            (#"{"appclips":{"apps":"a"}}"#, nil, []), (#"{"appclips":{"apps":[1]}}"#, nil, []),
            (#"{"appclips":{"apps":["a","b"]},"webcredentials":{"apps":["c"]}}"#, ["a", "b"], []),
            (
                #"{"applinks":{"apps":[],"details":[{"appID":"a","paths":["*"]},{"appIDs":["b","a"]}]}}"#,
                nil, ["a", "b"]
            ),
            (#"{"applinks":{"details":{"a":{"paths":["*"]}}}}"#, nil, ["a"]),
            (#"{"applinks":{"details":[1,{"appIDs":"a"}]}}"#, nil, []),
        ] as [(String, [String]?, [String])])
    func appClipsAndLinksAreParsed(text: String, appClips: [String]?, links: [String]) throws {
        let file = try AssociationFile(parsing: text.utf8)
        #expect(file.appClips == appClips)
        #expect(file.links == links)
    }

    @Test(arguments: ["", "{", "<html>", "{\"a\":1,}"])
    func invalidJSONIsRejected(text: String) throws {
        let error = #expect(throws: AssociationError.self) { try AssociationFile(parsing: text.utf8) }
        #expect(error?.code == "invalid_json")
    }

    @Test(arguments: ["[]", "1", "null", "\"x\""])
    func nonObjectJSONIsRejected(text: String) throws {
        #expect(throws: AssociationError.notAnObject) { try AssociationFile(parsing: text.utf8) }
    }

    @Test(arguments: [
        "", "ABCDE12345", "com.example.App", "ABCDE1234.com.example.App", "ABCDE12345.", "ABCDE12345.App",
        "abcde12345.com.example.App", "ABCDE12345.com..App",
    ])
    func malformedAppIDIsRejected(text: String) {
        #expect(throws: TenancyError.self) { try AppID(text) }
    }

    @Test func appIDIsSplitIntoPrefixAndBundleID() throws {
        let id = try AppID("ABCDE12345.com.example.App.Clip")
        #expect(try id.prefix == AppIDPrefix("ABCDE12345"))
        #expect(try id.bundleID == BundleID("com.example.App.Clip"))
        #expect(id.parent?.text == "ABCDE12345.com.example.App")
        #expect(id.description == "ABCDE12345.com.example.App.Clip")
    }
}

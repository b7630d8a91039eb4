import Foundation
import Invocation
import Testing

@testable import Administration

@Suite struct SiteCheckTests {
    private static let url = "https://example.com/.well-known/apple-app-site-association"
    private static let clip = "ABCDE12345.com.example.Menu.Clip"
    private static let app = "ABCDE12345.com.example.Menu"
    private static let good = """
        {"appclips":{"apps":["\(clip)"]},"applinks":{"details":[{"appIDs":["\(app)"],"components":[{"/":"/a/*"}]}]}}
        """

    private static func check(
        _ body: String = good, url: String = url, status: Int = 200, type: String? = "application/json",
        location: String? = nil, isCutOff: Bool = false, clip: String? = nil
    ) throws -> SiteCheck {
        let page = Page(
            status: status, contentType: type, location: location, body: Array(body.utf8), isCutOff: isCutOff)
        return SiteCheck(url, .success(page), clip: try clip.map { try AppID($0) })
    }

    private static func failed(_ check: SiteCheck) -> [SiteCheck.Point] {
        check.findings.filter { $0.verdict == .failed }.map(\.point)
    }

    private static func notChecked(_ check: SiteCheck) -> [SiteCheck.Point] {
        check.findings.filter { $0.verdict == .notChecked }.map(\.point)
    }

    @Test func goodSitePassesEveryPoint() throws {
        let check = try Self.check(clip: Self.clip)
        #expect(check.findings.map(\.point) == SiteCheck.Point.allCases)
        #expect(check.findings.allSatisfy { $0.verdict == .passed })
        #expect(!check.hasFailed)
        #expect(Self.notChecked(try Self.check()) == [.clipListed])
    }

    @Test func unrequestedContentCodingIsReported() throws {
        let page = Page(
            status: 200, contentType: "application/json", body: [0x1F, 0x8B], contentCoding: "gzip")
        let check = SiteCheck(Self.url, .success(page), clip: nil)
        let finding = try #require(check.findings.first { $0.point == .json })
        #expect(finding.verdict == .unknown && finding.authority == .ours)
        #expect(finding.detail.contains("content coding gzip"))
        #expect(!check.hasFailed)
    }

    @Test func doorstepFilePasses() throws {
        let id = try AppID(Self.clip)
        let written = SiteAssociation(clips: [.init(id: id, app: try #require(id.parent))], links: nil)
        let check = try Self.check(String(decoding: written.serialized(), as: UTF8.self), clip: Self.clip)
        #expect(!check.hasFailed)
    }

    /// Two files in Apple's documentation: "Associating your App Clip with your website", and "Interacting with App Clip Codes in
    /// AR", which lists the full app next to its clip.
    @Test(arguments: [
        (
            #"{"appclips":{"apps":["ABCDE12345.com.example.MyApp.Clip"]}}"#,
            "ABCDE12345.com.example.MyApp.Clip"
        ),
        (
            #"{"appclips":{"apps":["A93A5CM278.com.example.apple-samplecode.AppClipCodesExampleApp1.Clip","A93A5CM278.com.example.apple-samplecode.AppClipCodesExampleApp1"]}}"#,
            "A93A5CM278.com.example.apple-samplecode.AppClipCodesExampleApp1.Clip"
        ),
    ])
    func appleExamplesPass(body: String, clip: String) throws {
        for clip in [nil, clip] {
            let check = try Self.check(body, clip: clip)
            #expect(!check.hasFailed)
            #expect(check.findings.allSatisfy { $0.verdict == .passed || $0.point == .clipListed })
            #expect(check.findings.first { $0.point == .notSwapped }?.verdict == .passed)
        }
    }

    /// In any file, an app next to its clip is right, and a clip under `applinks` is wrong.
    @Test(arguments: [
        ([clip, app], [app], true), ([app, clip], [app, "ABCDE12345.com.example.Other"], true),
        ([clip, app], [], true), ([clip, app], [clip], false), ([clip, app], [app, clip], false),
        ([clip, app, "ABCDE12345.com.example.Other"], ["ABCDE12345.com.example.Other.Clip"], false),
        ([clip, "ABCDE12345.com.example.Other"], ["ABCDE12345.com.example.Other"], false),
    ])
    func appBesideItsClipPassesButSwappedIDsFail(appClips: [String], links: [String], passes: Bool) throws {
        func list(_ ids: [String]) -> String { ids.map { "\"\($0)\"" }.joined(separator: ",") }
        let body = """
            {"appclips":{"apps":[\(list(appClips))]},"applinks":{"details":[{"appIDs":[\(list(links))]}]}}
            """
        #expect(Self.failed(try Self.check(body)) == (passes ? [] : [.notSwapped]))
        #expect(Self.failed(try Self.check(body, clip: Self.clip)) == (passes ? [] : [.notSwapped]))
    }

    @Test func plainHTTPIsRejected() throws {
        let check = try Self.check(url: "http://example.com/x")
        #expect(Self.failed(check) == [.https])
    }

    @Test func missingResponseFailsAndStopsChecks() {
        let check = SiteCheck(Self.url, .failure(NoResponse("certificate expired")), clip: nil)
        #expect(Self.failed(check) == [.response])
        #expect(check.findings[1].detail.contains("certificate expired"))
        #expect(Self.notChecked(check).count == SiteCheck.Point.allCases.count - 2)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectIsRejected(status: Int) throws {
        let check = try Self.check(status: status, location: "https://www.example.com/")
        #expect(Self.failed(check) == [.redirect])
        #expect(check.findings[2].detail.contains("https://www.example.com/"))
        #expect(Self.notChecked(check).contains(.json))
    }

    @Test(arguments: [204, 304, 403, 404, 500])
    func otherStatusIsRejected(status: Int) throws {
        #expect(Self.failed(try Self.check(status: status)) == [.status])
    }

    @Test(arguments: ["application/json", "application/json; charset=utf-8", "Application/JSON ;x"])
    func jsonContentTypeIsAccepted(type: String) throws {
        #expect(Self.failed(try Self.check(type: type)) == [])
    }

    @Test(arguments: ["text/html", "application/pkcs7-mime", "application/octet-stream", "", nil])
    func otherContentTypeIsRejected(type: String?) throws {
        #expect(Self.failed(try Self.check(type: type)) == [.contentType])
    }

    @Test func fileOverSizeLimitIsRejected() throws {
        let padded = Self.good + String(repeating: " ", count: 131_072 - Self.good.utf8.count)
        #expect(Self.failed(try Self.check(padded)) == [])
        #expect(Self.failed(try Self.check(padded + " ")) == [.size])
        #expect(Self.failed(try Self.check(padded, isCutOff: true)) == [.size])
    }

    @Test(arguments: ["", "<html>", "{", #"{"appclips":}"#, "[]", "null"])
    func nonObjectJSONIsRejected(body: String) throws {
        #expect(Self.failed(try Self.check(body)) == [.json])
    }

    /// RFC 8259 does not define these cases. A strict reader refuses them, but devices may accept them.
    @Test(arguments: [
        ("\u{FEFF}" + good, "byte order mark"),
        (good.dropLast() + #","x":{"a":1,"a":2}}"#, "twice"),
        (good.dropLast() + #","x":1e999}"#, "too large"),
        (good.dropLast() + #","x":"\ud800"}"#, "surrogate"),
    ])
    func ambiguousJSONIsUnknownAndRestIsChecked(body: String, reason: String) throws {
        let check = try Self.check(body, clip: Self.clip)
        let json = try #require(check.findings.first { $0.point == .json })
        #expect(json.verdict == .unknown && json.authority == .ours && json.detail.contains(reason))
        #expect(!check.hasFailed)
        #expect(check.findings.first { $0.point == .clipListed }?.verdict == .passed)
        #expect(Self.notChecked(check).isEmpty)
    }

    @Test(arguments: [String.Encoding.utf16BigEndian, .utf16LittleEndian, .utf16])
    func utf16IsUnknownAndRestIsChecked(encoding: String.Encoding) throws {
        let body = Array(try #require(Self.good.data(using: encoding)))
        let page = Page(
            status: 200, contentType: "application/json", location: nil, body: body, isCutOff: false)
        let check = SiteCheck(Self.url, .success(page), clip: try AppID(Self.clip))
        let json = try #require(check.findings.first { $0.point == .json })
        #expect(json.verdict == .unknown && json.authority == .ours && json.detail.contains("UTF-16"))
        #expect(check.findings.first { $0.point == .clipListed }?.verdict == .passed)
    }

    @Test(arguments: [
        (#"{"appIDs":["\#(app)"],"components":[{"/":"*"}]}"#, SiteCheck.Verdict.warning),
        (#"{"appIDs":["\#(app)"],"components":[{"/":"/x","exclude":true},{}]}"#, .warning),
        (#"{"appID":"\#(app)","paths":["NOT /x","*"]}"#, .warning),
        (#"{"appIDs":["\#(app)"],"components":[{"/":"*","exclude":true}]}"#, .passed),
        (#"{"appIDs":["\#(app)"],"components":[{"/":"*","?":{"a":"*"}},{"/":"/r/*"}]}"#, .passed),
    ])
    func appOpeningWholeSiteIsWarning(detail: String, verdict: SiteCheck.Verdict) throws {
        let check = try Self.check(
            #"{"appclips":{"apps":["\#(Self.clip)"]},"applinks":{"details":[\#(detail)]}}"#, clip: Self.clip)
        let finding = try #require(check.findings.first { $0.point == .wholeSite })
        #expect(finding.verdict == verdict && finding.authority == .ours)
        #expect(finding.detail.contains(Self.app) == (verdict == .warning))
        #expect(!check.hasFailed)
    }

    /// The older form of `details`, an object whose keys are the IDs.
    @Test func legacyDetailsObjectIsParsed() throws {
        let body =
            #"{"appclips":{"apps":["\#(Self.clip)"]},"applinks":{"details":{"\#(Self.clip)":{"paths":["/a"]}}}}"#
        #expect(Self.failed(try Self.check(body, clip: Self.clip)) == [.notSwapped])
    }

    @Test(arguments: ["{}", #"{"appclips":{}}"#, #"{"appclips":{"apps":[]}}"#, #"{"appclips":{"apps":{}}}"#])
    func missingAppClipsFails(body: String) throws {
        let check = try Self.check(body)
        #expect(Self.failed(check) == [.appClips])
        #expect(Self.notChecked(check).contains(.appIDs))
    }

    @Test func idWithoutTeamIsRejected() throws {
        let check = try Self.check(#"{"appclips":{"apps":["com.example.Menu.Clip"]}}"#)
        #expect(Self.failed(check) == [.appIDs])
        #expect(check.findings.contains { $0.detail.contains("com.example.Menu.Clip") })
    }

    @Test func unlistedClipFails() throws {
        let check = try Self.check(clip: "ABCDE12345.com.example.Other.Clip")
        #expect(Self.failed(check) == [.clipListed])
    }

    @Test(arguments: [
        // App and clip are swapped.
        (app, clip), (clip, clip), (app, app),
    ])
    func swappedIDsAreRejected(appClip: String, link: String) throws {
        let body = #"{"appclips":{"apps":["\#(appClip)"]},"applinks":{"details":[{"appID":"\#(link)"}]}}"#
        #expect(Self.failed(try Self.check(body)).contains(.notSwapped))
        #expect(Self.failed(try Self.check(body, clip: Self.clip)).contains(.notSwapped))
    }

    /// If the file alone is ambiguous, the ID of the clip decides.
    @Test func loneAppUnderAppClipsFailsIfClipIsKnown() throws {
        let body = #"{"appclips":{"apps":["\#(Self.app)"]}}"#
        #expect(Self.failed(try Self.check(body)) == [])
        #expect(Self.failed(try Self.check(body, clip: Self.clip)) == [.clipListed, .notSwapped])
        let links = #"{"applinks":{"details":[{"appID":"\#(Self.clip)"}]}}"#
        #expect(Self.failed(try Self.check(links, clip: Self.clip)) == [.appClips, .notSwapped])
    }

    /// The app's ID may differ from the clip's ID without its last component.
    @Test func namedAppUnderAppClipsAloneFails() throws {
        let (clip, app) = (try AppID("ABCDE12345.com.solo.App.my.Clip"), try AppID("ABCDE12345.com.solo.App"))
        let body = Array(#"{"appclips":{"apps":["\#(app.text)"]}}"#.utf8)
        let page = Page(status: 200, contentType: "application/json", body: body)
        for (named, failed) in [
            (app, [SiteCheck.Point.clipListed, .notSwapped]), (nil, [.clipListed]),
        ] {
            let check = SiteCheck(Self.url, .success(page), clip: clip, app: named)
            #expect(Self.failed(check) == failed)
        }
    }

    @Test func detailListsAreShortened() throws {
        let ids = (0..<50).map { #""bad\#($0)""# }.joined(separator: ",")
        let check = try Self.check(#"{"appclips":{"apps":[\#(ids)]}}"#)
        let detail = try #require(check.findings.first { $0.point == .appIDs }).detail
        #expect(detail.hasSuffix("bad0, bad1, bad2 and 47 more"))
    }

    /// Details contain text of the site, which a terminal must not execute as commands.
    @Test func detailsHoldNoControlCharacters() throws {
        let escape = #"{"appclips":{"apps":["\u001b]0;x\u0007\nfaked line"]}}"#
        for check in [
            try Self.check(escape), try Self.check(type: "text/\u{1B}[2J"),
            try Self.check(status: 302, location: "/\u{9B}2J\r"),
        ] {
            #expect(check.hasFailed)
            for finding in check.findings {
                let controls = finding.detail.unicodeScalars.filter {
                    $0.properties.generalCategory == .control
                }
                #expect(controls.isEmpty, "\(finding.detail.debugDescription)")
            }
        }
        #expect(
            try Self.check(escape).findings.contains {
                $0.detail.hasSuffix(#"\u{1B}]0;x\u{7}\u{A}faked line"#)
            })
    }

    /// As many different texts as fit into the maximum size, on both sides.
    @Test(.timeLimit(.minutes(30))) func fileOfManyIDsIsChecked() throws {
        func ids(_ range: Range<Int>) -> String {
            range.map { "\"" + String($0, radix: 36) + "\"" }.joined(separator: ",")
        }
        let body = """
            {"appclips":{"apps":[\(ids(0..<10_000))]},"applinks":{"details":[{"appIDs":[\(ids(10_000..<19_000)),\
            "1.x.y","\(String(repeating: ".", count: 5_000))"]}]}}
            """
        #expect(body.utf8.count <= SiteAssociation.maximumSize)
        let check = try Self.check(body)
        #expect(Self.failed(check) == [.appIDs, .notSwapped])
        #expect(
            check.findings.contains {
                $0.detail
                    == "a clip's ID under applinks: 1.x.y; an app's ID under appclips without its clip's: 1"
            })
    }
}

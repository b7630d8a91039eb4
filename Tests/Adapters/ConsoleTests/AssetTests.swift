import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Testing

@testable import Console

@Suite struct AssetTests {
    /// The files are constant, so each is compressed once. Pages, which can have secrets, are not compressed.
    @Test(arguments: ["console.css", "console.js", "world.json"])
    func fileIsCompressedForBrowsersThatAcceptIt(name: String) throws {
        let assets = Assets(leaflet: nil)
        let path = assets.link(to: name).text.split(separator: "/").map { Substring($0) }
        let parameters: [Substring: Substring] = ["bundle": path[1], "name": path[2]]
        let compressed = try assets.response(parameters, acceptEncoding: "br, gzip")
        #expect(
            compressed.fields[.contentEncoding] == "gzip" && compressed.fields[.vary] == "Accept-Encoding")
        guard name != "world.json" else { return }
        for field in [nil, "br", "gzip;q=0", "gzip;q=0.5, identity"] {
            let plain = try assets.response(parameters, acceptEncoding: field)
            #expect(plain.fields[.contentEncoding] == nil && plain.fields[.vary] == "Accept-Encoding")
            let (length, shorter) = (try #require(plain.body.length), try #require(compressed.body.length))
            #expect(shorter < length / 2)
        }
    }
}

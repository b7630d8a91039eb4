import HTTPTestClient
import HTTPTypes
import Testing

@testable import Console

@Suite struct TileTests {
    @Test(
        arguments: [
            ("https://tiles.example.com/{z}/{x}/{y}.png", "https://tiles.example.com"),
            ("https://Tiles.example.com:8443/m/{z}/{y}/{x}?key=a%20b", "https://tiles.example.com:8443"),
            ("http://tiles.example.com/{z}/{x}/{y}.png", nil), ("https://tiles.example.com/{z}/{x}.png", nil),
            ("https://{s}.tiles.example.com/{z}/{x}/{y}.png", nil),
            ("https://tiles.example.com/{z}/{x}/{y}/{y}.png", nil),
            ("https://tiles.example.com/{s}/{z}/{x}/{y}.png", nil), ("https://{z}/{x}/{y}", nil),
            ("https://user@tiles.example.com/{z}/{x}/{y}.png", nil),
            ("https://tiles.example.com;script-src/{z}/{x}/{y}.png", nil),
            ("https://tiles.example.com/{z}/{x}/{y}.png;x", nil),
            ("https://tiles.example.com/{z}/{x}/{y} ", nil),
            ("https:///{z}/{x}/{y}", nil), ("", nil),
        ] as [(String, String?)])
    func tileTemplateMustBeHTTPSWithThreePlaceholders(_ template: String, origin: String?) {
        #expect(TileSource(template: template, attribution: "Tiles")?.origin == origin)
    }

    @Test func onlyMapPagesMayLoadTiles() async throws {
        let tiles = try #require(
            TileSource(
                template: "https://tiles.example.com/{z}/{x}/{y}.png", attribution: "© <b>Tilers</b>"))
        try await TestConsole.withConsole(tiles: tiles) { console in
            let cookie = try await console.signIn()
            let map = try await console.get("/t/acme/places/door", cookie)
            // Without the files of Leaflet, the page has no map.
            let hasMap = map.text.contains("data-map")
            #expect(
                map.headers[.contentSecurityPolicy]?.contains(
                    "img-src 'self' data: https://tiles.example.com;")
                    == hasMap)
            #expect(
                map.headers[.referrerPolicy] == (hasMap ? "strict-origin-when-cross-origin" : "same-origin"))
            #expect(
                map.text.contains("name=\"tiles\" content=\"https://tiles.example.com/{z}/{x}/{y}.png\"")
                    == hasMap)
            #expect(!map.text.contains("<b>Tilers"))
            let other = try await console.get("/t/acme/problems", cookie)
            #expect(other.headers[.contentSecurityPolicy]?.contains("tiles.example.com") == false)
            #expect(other.headers[.referrerPolicy] == "same-origin")
        }
    }
}

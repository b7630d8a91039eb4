import Administration
import Testing

@Suite struct SmartAppBannerTests {
    private static func banner(_ page: String) -> SmartAppBanner? { SmartAppBanner(inPage: Array(page.utf8)) }

    @Test(arguments: [
        #"<html><head><meta name="apple-itunes-app" content="app-id=123456789, app-clip-bundle-id=com.example.MyApp.Clip"></head>"#,
        #"<META CONTENT='app-clip-bundle-id=com.example.MyApp.Clip,app-id=123456789' NAME=apple-itunes-app />"#,
        "<meta charset=utf-8><meta\n name = \"Apple-iTunes-App\"\t content = \"app-id = 123456789 ,app-clip-bundle-id=com.example.MyApp.Clip , app-clip-display=card\" / >",
        #"<!-- <meta name="apple-itunes-app" content="app-id=1"> --><script>"<meta name='apple-itunes-app' content='app-id=2'>"</script><title><meta name="apple-itunes-app"></title><meta name="apple-itunes-app" content="app-id=123456789,app-clip-bundle-id=com.example.MyApp.Clip"><meta name="apple-itunes-app" content="app-id=3">"#,
        #"<a title="<"><meta name="description" content="> x"><meta name="apple-itunes-app" name="other" content="app-id=123456789,app-id=4,app-clip-bundle-id=com.example.MyApp.Clip">"#,
    ])
    func bannerIsFound(page: String) {
        #expect(Self.banner(page)?.appID == "123456789")
        #expect(Self.banner(page)?.clip == "com.example.MyApp.Clip")
    }

    @Test(arguments: [
        "", "<", "<meta", "<meta>", "<meta name", "<meta name=",
        "<html></html>",
        "<metadata name=apple-itunes-app content='app-id=1'>", "<!-- <meta name=apple-itunes-app>",
        "<script><meta name=apple-itunes-app>", "<meta name=viewport content='apple-itunes-app'>",
        "&lt;meta name=apple-itunes-app&gt;",
    ])
    func pageWithoutBannerHasNone(page: String) {
        #expect(Self.banner(page) == nil)
    }

    @Test func omittedBannerKeysAreNil() {
        // The second page is incomplete.
        for page in ["<meta name=apple-itunes-app>", "<meta name=\"apple-itunes-app"] {
            let banner = Self.banner(page)
            #expect(banner != nil && banner?.appID == nil && banner?.clip == nil, "\(page)")
        }
        let clipless = Self.banner(
            "<meta name=apple-itunes-app content='app-id=1, app-argument=https://a.example/?b=c'>")
        #expect(clipless?.appID == "1" && clipless?.clip == nil)
    }

    /// `LinearWorkTests` counts the work on such pages.
    @Test(arguments: ["<meta ", "<script", "<!--", "<", "<meta a='", "<title", "a="])
    func hostilePageIsScannedWithoutBanner(piece: String) {
        let page = String(repeating: piece, count: 262_144 / piece.utf8.count)
        #expect(Self.banner(page) == nil)
        #expect(Self.banner("<meta " + page) == nil)
    }
}

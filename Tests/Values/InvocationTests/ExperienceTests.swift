import Invocation
import Tenancy
import Testing

@Suite struct ExperienceTests {
    @Test func defaultLinkOfOtherClipIsRejected() throws {
        let link = try URLPrefix("https://appclip.apple.com/id?p=com.example.MyApp.Clip")
        let other = try BundleID("com.example.Other.Clip")
        #expect(throws: ExperienceError.defaultLinkNamesAnotherClip) {
            try Experience(url: link, kind: .default, clip: other)
        }
        #expect(throws: Never.self) {
            try Experience(url: link, kind: .default, clip: BundleID("com.example.MyApp.Clip"))
        }
        #expect(ExperienceError.defaultLinkNamesAnotherClip.code == "default_link_names_another_clip")
    }

    @Test func applesHostAllowsOnlyDefaultAndDemoLinks() throws {
        let clip = try BundleID("com.example.MyApp.Clip")
        for (url, kind) in [
            ("https://appclip.apple.com", ExperienceKind.advanced),
            ("https://appclip.apple.com/id", .advanced),
            ("https://appclip.apple.com/id?p=com.example.MyApp.Clip", .advanced),
            ("https://appclip.apple.com/id?p=com.example.MyApp.Clip&id=a", .advanced),
            ("https://appclip.apple.com/id", .default), ("https://appclip.apple.com/id?k=v", .default),
        ] {
            let url = try URLPrefix(url)
            #expect(throws: ExperienceError.appleHost, "\(url) \(kind)") {
                try Experience(url: url, kind: kind, clip: clip)
            }
        }
        #expect(throws: Never.self) {
            try Experience(url: URLPrefix("https://appclip.apple.com/demo"), kind: .demo, clip: clip)
        }
        #expect(ExperienceError.appleHost.code == "apple_host")
    }

    @Test func defaultLinkIsParsedIntoItsClip() throws {
        let link = try #require(
            DefaultLink(InvocationURL("https://appclip.apple.com/id?p=com.example.MyApp%2EClip&k=v")))
        #expect(link.clip.text == "com.example.MyApp.Clip")
        let nameless = try DefaultLink(
            InvocationURL("https://appclip.apple.com/id?=com.example.MyApp.Clip&k=v"))
        #expect(nameless == link)
        // The link itself is written with the parameter's name.
        #expect(link.text == "https://appclip.apple.com/id?p=com.example.MyApp.Clip")
        #expect(try DefaultLink(InvocationURL(link.text)) == link)
    }

    @Test func precedenceIsStrictOrder() throws {
        let experiences = try [
            Experience.advanced("https://example.com/a/b"), .advanced("https://example.com/a?x=1&y=2"),
            .advanced("https://example.com/a?x=1"), .default("https://example.com/a?x=1"),
            .demo("https://example.com/a?x=1"), .advanced("https://example.com/a"),
            .advanced("https://example.com/b"),
        ]
        for (index, experience) in experiences.enumerated() {
            #expect(!experience.precedes(experience))
            for later in experiences[(index + 1)...] {
                #expect(experience.precedes(later) && !later.precedes(experience))
            }
        }
    }
}

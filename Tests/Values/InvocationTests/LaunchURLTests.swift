import Invocation
import Testing

@Suite struct LaunchURLTests {
    /// Every row and cell of Apple's table; its last row is of parameters.
    @Test func launchPermissionsMatchApplesTable() throws {
        let rows = try vectors("launches", of: [String: String].self)
        #expect(rows.map { $0["launch"] } == LaunchMethod.allCases.map(\.rawValue) + ["parameters"])
        for row in rows {
            let name = try #require(row["launch"])
            #expect(row.count == 1 + LaunchURL.allCases.count)
            for url in LaunchURL.allCases {
                let found =
                    LaunchMethod(rawValue: name).map { url.permits($0).rawValue }
                    ?? (url.takesParameters ? "yes" : "no")
                #expect(found == row[url.rawValue], "\(name), \(url)")
            }
        }
        let cells = Set(rows.flatMap { $0.filter { $0.key != "launch" }.values })
        #expect(cells == Set(LaunchPermission.allCases.map(\.rawValue)).subtracting(["unknown"]))
    }

    @Test(arguments: [
        ("https://example.com/a", ExperienceKind.advanced, LaunchURL.advanced),
        ("https://example.com/a", .default, .website),
        ("https://appclip.apple.com/id?p=com.example.MyApp.Clip&a=b", .default, .defaultLink),
        ("https://appclip.apple.com/id?=com.example.MyApp.Clip", .default, .defaultLink),
        ("https://appclip.apple.com/x7k", .demo, .demoLink),
    ])
    func launchURLIsClassifiedByURLAndKind(url: String, kind: ExperienceKind, expected: LaunchURL) throws {
        #expect(try LaunchURL(InvocationURL(url), kind: kind) == expected)
    }

    /// An App Clip Code leads to no URL that cannot be in it. Other launches do not depend on the URL.
    @Test(arguments: [
        ("https://example.com/a", LaunchURL.advanced, LaunchPermission.yes),
        ("https://coffee.example.com/shops/alexanderplatz", .advanced, .unknown),
        ("https://donuts.example.com/order?location=pike-place", .advanced, .no),
        ("https://example.com/~a", .advanced, .no), ("https://example.com/a", .website, .no),
        ("https://appclip.apple.com/x7k", .demoLink, .yes),
        ("https://appclip.apple.com/x/7k", .demoLink, .no),
        ("https://appclip.apple.com/id?p=com.example.MyApp.Clip", .defaultLink, .no),
    ])
    func appClipCodePermissionDependsOnURL(url: String, kind: LaunchURL, expected: LaunchPermission) throws {
        let url = try InvocationURL(url)
        #expect(kind.permits(.appClipCode, to: url) == expected)
        for launch in LaunchMethod.allCases where launch != .appClipCode {
            #expect(kind.permits(launch, to: url) == kind.permits(launch))
        }
    }

    @Test(arguments: [
        ("https://appclip.apple.com/x7k", true), ("https://APPCLIP.apple.com/x7k/", true),
        ("https://appclip.apple.com/id", false), ("https://appclip.apple.com", false),
        ("https://appclip.apple.com/x7k?a", false), ("https://appclip.apple.com/x7k#a", false),
        ("https://appclip.apple.com/x/7k", false), ("https://appclip.apple.com:8443/x7k", false),
        ("https://appclip.example.com/x7k", false),
    ])
    func shortDemoLinkIsRecognized(url: String, isShort: Bool) throws {
        #expect(try InvocationURL(url).isShortDemoLink == isShort)
    }
}

import Formats
import Foundation
import Tenancy
import Testing

@testable import Invocation

@Suite struct SiteAssociationTests {
    private static func clip(_ id: String) throws -> SiteAssociation.Clip {
        let id = try AppID(id)
        return SiteAssociation.Clip(id: id, app: try #require(id.parent))
    }

    private static let menu = "ABCDE12345.com.example.Menu.Clip"
    private static let bikes = "ABCDE12345.com.example.Bikes.Clip"

    private static func association(
        _ clips: [String], _ urls: [(String, String)]?
    ) throws -> SiteAssociation {
        SiteAssociation(
            clips: try clips.map(clip),
            links: try urls?.map { (group: .url(try URLPrefix($0.0)), clip: try AppID($0.1)) })
    }

    private static func patterns(_ urls: [String]) throws -> [String] {
        try association([menu], urls.map { ("https://example.com" + $0, menu) }).links.flatMap(\.patterns).map
        {
            String(decoding: JSONValue.object($0.json).serialized(), as: UTF8.self)
        }
    }

    @Test func fileListsClipsAndLinksTheirApps() throws {
        let association = try Self.association(
            [Self.menu, Self.bikes],
            [
                ("https://example.com/menu", Self.menu), ("https://example.com/b?city=berlin", Self.bikes),
                ("https://example.com/a", Self.menu),
            ])
        let expected: JSONValue = [
            "appclips": [
                "apps": [
                    "ABCDE12345.com.example.Bikes", .string(Self.bikes), "ABCDE12345.com.example.Menu",
                    .string(Self.menu),
                ]
            ],
            "applinks": [
                "details": [
                    [
                        "appIDs": ["ABCDE12345.com.example.Bikes"],
                        "components": [
                            ["/": "/b", "?": ["city": "berlin"]], ["/": "/b/*", "?": ["city": "berlin"]],
                        ],
                    ],
                    [
                        "appIDs": ["ABCDE12345.com.example.Menu"],
                        "components": [["/": "/a"], ["/": "/a/*"], ["/": "/menu"], ["/": "/menu/*"]],
                    ],
                ]
            ],
        ]
        #expect(JSONValue.object(association.json) == expected)
    }

    /// Before Apple takes an experience's URL, the file must be there.
    @Test func clipWithoutExperienceIsListedWithoutLinks() throws {
        let association = try Self.association([Self.menu], [])
        #expect(
            JSONValue.object(association.json) == [
                "appclips": ["apps": ["ABCDE12345.com.example.Menu", .string(Self.menu)]]
            ])
        #expect(
            String(decoding: try Self.association([], []).serialized(), as: UTF8.self)
                == #"{"appclips":{"apps":[]}}"#)
    }

    @Test func inputOrderDoesNotMatter() throws {
        var urls = (0..<20).map { ("https://example.com/\($0)", $0 % 2 == 0 ? Self.menu : Self.bikes) }
        let first = try Self.association([Self.menu, Self.bikes], urls)
        urls.reverse()
        let second = try Self.association([Self.bikes, Self.menu, Self.bikes], urls + urls)
        #expect(first == second)
        #expect(first.serialized() == second.serialized())
    }

    @Test(arguments: [
        (["https://example.com"], [#"{"/":"*"}"#]),
        (["https://example.com", "https://example.com/a", "https://example.com/?b"], [#"{"/":"*"}"#]),
        (["https://example.com?b=1"], [#"{"?":{"b":"1"}}"#]),
        (["https://example.com/a", "https://example.com/a/b"], [#"{"/":"/a"}"#, #"{"/":"/a/*"}"#]),
        (["https://example.com/a", "https://example.com/a?b=1"], [#"{"/":"/a"}"#, #"{"/":"/a/*"}"#]),
        // A whole component is not the beginning of one.
        (
            ["https://example.com/a", "https://example.com/ab"],
            [#"{"/":"/a"}"#, #"{"/":"/a/*"}"#, #"{"/":"/ab"}"#, #"{"/":"/ab/*"}"#]
        ),
        // A URL with a query covers nothing.
        (
            ["https://example.com/a?b=1", "https://example.com/a/c"],
            [
                #"{"/":"/a/c"}"#, #"{"/":"/a/c/*"}"#, #"{"/":"/a","?":{"b":"1"}}"#,
                #"{"/":"/a/*","?":{"b":"1"}}"#,
            ]
        ),
        (
            ["https://example.com/%C3%A9/a*b"],
            [#"{"/":"/%C3%A9/a*b"}"#, #"{"/":"/%C3%A9/a*b/*"}"#]
        ),
        // A `$` that would begin a variable is replaced by `?`, which matches any character.
        (["https://example.com/$(lang)"], [#"{"/":"/?(lang)"}"#, #"{"/":"/?(lang)/*"}"#]),
        (["https://example.com?a&b=$x"], [#"{"?":{"a":"*","b":"?x"}}"#]),
        (["https://example.com?a=1&a=2"], [#"{"?":{"a":"*"}}"#]),
    ])
    func patterns(urls: [String], expected: [String]) throws {
        let association = try Self.association([Self.menu], urls.map { ($0, Self.menu) })
        let patterns = association.links.flatMap(\.patterns).map {
            String(decoding: JSONValue.object($0.json).serialized(), as: UTF8.self)
        }
        #expect(patterns == expected)
    }

    /// No invocation that a registered URL matches is left out, whatever the URL.
    @Test(arguments: [
        "https://example.com/a/b", "https://example.com/a%2Fb", "https://example.com/x/",
        "https://example.com",
        "https://example.com/a//b", "https://example.com/$(alpha)/*",
    ])
    func patternsMatchEveryInvocationOfTheirURL(url: String) throws {
        let url = try URLPrefix(url)
        for suffix in ["", "/", "/c", "/c/d?e=1", "//f"] {
            let invocation = try InvocationURL(url.canonical + suffix)
            guard url.matches(invocation) else { continue }
            let path = "/" + invocation.pathComponents.joined(separator: "/")
            #expect(LinkPattern.patterns(of: url).contains { $0.matchesPath(path) }, "\(invocation)")
        }
    }

    @Test func tooManyURLsBecomeWildcard() throws {
        let few = try Self.association(
            [Self.menu, Self.bikes], (0..<100).map { ("https://example.com/\($0)", Self.menu) })
        #expect(few.links.map(\.patterns.count) == [200])
        // A name for each restaurant, and nothing that they share.
        let many = try Self.association(
            [Self.menu, Self.bikes], (0..<10_000).map { ("https://example.com/\($0)-name", Self.menu) })
        #expect(many.links == [.init(app: try AppID("ABCDE12345.com.example.Menu"), patterns: [.everything])])
        #expect(many.serialized().count < SiteAssociation.largestDetailedSize)
        let unknown = try Self.association([Self.menu, Self.bikes], nil)
        #expect(unknown.links.map(\.app.bundleID.text) == ["com.example.Bikes", "com.example.Menu"])
        #expect(unknown.links.allSatisfy { $0.patterns == [.everything] })
    }

    /// The pages of the site that no experience begins with stay the website's.
    @Test(arguments: [
        ((0..<5_000).map { "/r/\($0)" }, [#"{"/":"/r/*"}"#]),
        (
            (0..<5_000).map { "/r/\($0)" } + ["/about", "/x/a"],
            [
                #"{"/":"/about"}"#, #"{"/":"/about/*"}"#, #"{"/":"/r/*"}"#, #"{"/":"/x/a"}"#,
                #"{"/":"/x/a/*"}"#,
            ]
        ),
        (
            (0..<5_000).map { "/order?table=\($0)" },
            [
                #"{"/":"/order","?":{"table":"*"}}"#, #"{"/":"/order/*","?":{"table":"*"}}"#,
            ]
        ),
        ((0..<5_000).map { "?table=\($0)&x" }, [#"{"?":{"table":"*","x":"*"}}"#]),
        ((0..<5_000).map { "/shops/\($0)/menu" }, [#"{"/":"/shops/*"}"#]),
        ((0..<5_000).map { "/shop-\($0)" } + ["/shop-1/menu"], [#"{"/":"/shop-*"}"#]),
        ((0..<5_000).map { "/r/\($0)" } + ["/r"], [#"{"/":"/r"}"#, #"{"/":"/r/*"}"#]),
        ((0..<5_000).map { "/c\($0 % 50)/\($0)" }, (0..<50).map { #"{"/":"/c\#($0)/*"}"# }.sorted()),
        ((0..<1_000).map { "/r/\($0)\(String(repeating: "x", count: 60))" }, [#"{"/":"/r/*"}"#]),
    ])
    func manyURLsAreGrouped(urls: [String], expected: [String]) throws {
        #expect(try Self.patterns(urls) == expected)
    }

    @Test func groupedPatternsMatchEveryURL() throws {
        let urls = (0..<3_000).map { "/a\($0 % 7)/b\($0 % 90)/\($0)" } + (0..<500).map { "/%C3%A9\($0)" }
        let association = try Self.association(
            [Self.menu], urls.map { ("https://example.com" + $0, Self.menu) })
        let patterns = association.links.flatMap(\.patterns)
        #expect(patterns.count < 1_024 && !patterns.contains(.everything))
        for url in urls {
            #expect(patterns.contains { $0.matchesPath(url) }, "\(url)")
        }
    }

    @Test func appsOfWholeHostAreThoseWhoseURLsCannotBeGrouped() throws {
        func apps(_ paths: [String]) throws -> [AppID] {
            SiteAssociation.appsOfWholeHost(
                clips: [try Self.clip(Self.menu)],
                urls: try paths.map {
                    (url: try URLPrefix("https://example.com" + $0), clip: try AppID(Self.menu))
                })
        }
        let names = (0..<5_000).map { "/\($0)-name" }
        #expect(try apps(names) == [AppID("ABCDE12345.com.example.Menu")])
        #expect(try apps(names + [""]).isEmpty)
        #expect(try apps((0..<5_000).map { "/r/\($0)" }).isEmpty)
    }

    @Test func urlOfUnknownClipIsOmitted() throws {
        let association = try Self.association([Self.menu], [("https://example.com/a", Self.bikes)])
        #expect(association.links.isEmpty)
    }
}

extension LinkPattern {
    /// As Apple describes it: `*` for any characters, `?` for one.
    fileprivate func matchesPath(_ text: String) -> Bool {
        guard let path else { return true }
        func matches(_ pattern: Substring, _ text: Substring) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            if first == "*" {
                return matches(pattern.dropFirst(), text)
                    || !text.isEmpty && matches(pattern, text.dropFirst())
            }
            guard let letter = text.first, first == "?" || first == letter else { return false }
            return matches(pattern.dropFirst(), text.dropFirst())
        }
        return matches(path[...], text[...])
    }
}

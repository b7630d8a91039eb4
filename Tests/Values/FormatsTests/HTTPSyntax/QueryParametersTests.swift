import Testing

@testable import Formats

@Suite struct QueryParametersTests {
    private static func read(_ query: String) throws(QueryRefusal) -> QueryParameters {
        try QueryParameters(query.utf8.span, named: ["url", "limit"])
    }

    @Test(arguments: [
        ("", nil), ("&&", nil), ("url", ""), ("url=", ""), ("url=a", "a"), ("&limit=1&url=a&", "a"),
        ("url=a=b", "a=b"), ("url=a+b", "a+b"), ("url=a%20b", "a b"), ("u%72l=%C3%bc", "ü"),
        ("url=https://example.com/?a#b", "https://example.com/?a#b"), ("url=%00", "\0"),
    ])
    func valueIsPercentDecoded(query: String, value: String?) throws {
        #expect(try Self.read(query)["url"] == value.map { Array($0.utf8) })
    }

    @Test(arguments: [
        ("limit=a+b", "a b"), ("limit=+", " "), ("limit=a%2Bb", "a+b"), ("l%69mit=a+b", "a b"),
        ("url=a+b&limit=c+d", "c d"),
    ])
    func plusIsSpaceOutsideURLParameter(query: String, value: String) throws {
        #expect(try Self.read(query)["limit"] == Array(value.utf8))
    }

    @Test func plusStaysPlusInURLParameter() throws {
        #expect(try Self.read("u%72l=a+b%2B")["url"] == Array("a+b+".utf8))
    }

    @Test func plusIsSpaceInNames() throws {
        let parameters = try QueryParameters("a+b=c+d".utf8.span, named: ["a b"])
        #expect(parameters["a b"] == Array("c d".utf8))
    }

    @Test(
        arguments: [
            ("URL=a", .unknown("URL")), ("=a", .unknown("")), ("%C3%BC=a", .unknown("ü")),
            ("url=%", .unreadable("url")), ("url=%4", .unreadable("url")), ("url=%zz", .unreadable("url")),
            ("url=%E9", .unreadable("url")), ("u%72l=%E9", .unreadable("url")),
            ("%zz=a", .unreadableName), ("%E9=a", .unreadableName),
            ("url=a&url=a", .repeated("url")), ("url&ur%6C", .repeated("url")),
            // The first error is reported.
            ("x=1&url=%zz", .unknown("x")), ("url=%zz&x=1", .unreadable("url")),
        ] as [(String, QueryRefusal)])
    func unknownRepeatedOrUnreadableParameterIsRejected(query: String, refusal: QueryRefusal) {
        #expect(throws: refusal) { try Self.read(query) }
    }

    @Test func refusalNamesParameter() {
        #expect(QueryRefusal.unknown("x").members == ["field": "x"])
        #expect(QueryRefusal.unreadableName.members.isEmpty)
        #expect(QueryRefusal.unknown("x").code == "unknown_parameter")
        #expect(QueryRefusal.repeated("x").code == "invalid_parameter")
    }
}

import Testing

@testable import Formats

@Suite struct FieldsTests {
    @Test(arguments: [
        ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER  \tabc ", "abc"), ("Bearer a b", "a b"),
        ("Bearer  ", ""), ("Bearer ", nil), ("Bearer", nil), ("Basic abc", nil), ("", nil),
        (" Bearer abc", nil),
        // A space is one, and no other byte that differs from it by a letter's case.
        ("Bearer\0abc", nil),
    ])
    func bearerTokenIsParsed(field: String, token: String?) {
        let range = field.utf8.span.bearerToken
        #expect(range.map { String(decoding: Array(field.utf8)[$0], as: UTF8.self) } == token)
    }

    @Test(arguments: [
        ("application/json", true), ("Application/JSON", true), (" application/json ;", true),
        ("application/json; charset=utf-8", true), ("application/json;charset=\"UTF-8\"", true),
        ("application/json;charset=utf-8;charset=utf-8", true), ("application/json; charset=utf-16", false),
        ("application/json; charset=us-ascii", true), ("application/json; charset=\"US-ASCII\"", true),
        ("application/json; header=present", false),
        ("application/json; charset=utf-8; version=1", false), ("application/json5", false), ("", false),
        (";application/json", true), ("charset=utf-8", false), ("text/csv", false),
    ])
    func jsonMediaTypeIsRecognized(field: String, isJSON: Bool) {
        #expect(field.utf8.span.isMediaType("application/json") == isJSON)
    }

    @Test(arguments: [
        ("text/csv", true), ("text/csv; header=present", true),
        ("text/csv;charset=utf-8;Header=Present", true),
        ("text/csv; header=\"present\"", true), ("text/csv; header=absent", false),
        ("text/csv; header", false),
        ("text/csv; charset=us-ascii", true), ("text/csv; charset=iso-8859-1", false),
    ])
    func csvMediaTypeAllowsHeaderParameter(field: String, isCSV: Bool) {
        #expect(field.utf8.span.isMediaType("text/csv") == isCSV)
    }

    @Test(arguments: [
        ("\"a\"", true, true), ("W/\"a\"", true, false), ("w/\"a\"", false, false), ("*", true, true),
        ("\"b\" ,\t\"a\"", true, true), (",,\"a\",", true, true), ("\"b\"", false, false),
        ("a", false, false),
        ("", false, false), ("\"a\" \"b\"", false, false),
    ])
    func entityTagIsFoundInList(field: String, isNamedWeakly: Bool, isNamed: Bool) {
        #expect(field.utf8.span.hasEntityTag("\"a\"") == isNamedWeakly)
        #expect(field.utf8.span.hasEntityTag("\"a\"", weakly: false) == isNamed)
    }

    @Test(arguments: [
        ("gzip", true), ("x-gzip", true), ("br, GZIP;q=0.5", true), ("*", true), ("gzip;q=0.001", true),
        ("gzip, deflate, br", true), ("gzip;Q=1.000", true), ("gzip ; q=0.8 , identity;q=0.2", true),
        ("identity;q=0, *;q=0.1", true), ("*;q=0, gzip", true), ("identity, gzip", true),
        ("*;q=0.3, gzip;q=0, x-gzip", true),
        ("", false), ("identity", false), ("br", false), ("gzip;q=0", false), ("gzip; q=0.000, *", false),
        ("*;q=0", false), ("identity;q=1, gzip;q=0.5", false), ("identity, *;q=0.9", false),
        ("gzip;q=x", false), ("gzip;q=", false), ("gzip;q=1.5", false), ("gzip;q=-1", false),
        ("gzip;q=0.0001", false), ("gzipped", false), (";,;q=1,", false), ("identity;q=0", false),
    ])
    func gzipPreferenceFollowsWeights(field: String, prefersGzip: Bool) {
        #expect(field.utf8.span.prefersGzip == prefersGzip)
    }

    @Test(arguments: [
        ("return=representation", true), ("Return = \"representation\"", true),
        ("wait=10, return=representation", true), ("return=minimal", false), ("return", false), ("", false),
        ("return=representations", false),
    ])
    func representationPreferenceIsRecognized(field: String, prefersRepresentation: Bool) {
        #expect(field.utf8.span.prefersRepresentation == prefersRepresentation)
    }

    @Test(arguments: [
        ("018f0a1b-2c3d.4e5f_A", true), ("a", true), ("", false), ("a b", false), ("a\n", false),
        ("ü", false),
        ("a/b", false), (String(repeating: "a", count: 128), true),
        (String(repeating: "a", count: 129), false),
    ])
    func requestIDSyntaxIsChecked(field: String, isOne: Bool) {
        #expect(field.utf8.span.isRequestID == isOne)
    }

    @Test(arguments: [
        ("example.com", "example.com"), ("EXAMPLE.com:443", "example.com"),
        ("example.com.:8080", "example.com"),
        ("example.com.", "example.com"), ("[::1]:80", "[::1]"), ("", nil), (":80", nil), (".", nil),
        ("example.com:http", "example.com:http"), (String(repeating: "a", count: 261), nil),
    ])
    func hostIsExtractedFromAuthority(authority: String, expected: String?) {
        #expect(Authority.host(of: authority) == expected)
    }

    @Test(arguments: [
        ("example.com", "EXAMPLE.com.", true), ("example.com", "example.com:443", true),
        ("example.com:443", "example.com:", true), ("example.com:8443", "example.com", false),
        ("example.com", "example.org", false), ("[::1]", "[::1]:443", true), ("[::1]", "[::2]", false),
        ("user@example.com", "example.com", false), ("", "example.com", false),
    ])
    func authoritiesAreComparedByHostAndPort(authority: String, other: String, isSame: Bool) {
        #expect(Authority.isSame(authority, other, defaultPort: 443) == isSame)
    }
}

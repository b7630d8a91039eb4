import Testing

@testable import Formats

@Suite struct TraceContextTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(arguments: [
        ("00-\(id)-\(span)-01", true), ("00-\(id)-\(span)-00", false), ("00-\(id)-\(span)-ff", true),
        (" 00-\(id)-\(span)-01\t", true), ("01-\(id)-\(span)-01", true), ("cc-\(id)-\(span)-01-what", true),
        ("fe-\(id)-\(span)-02-", false),
    ])
    func validFieldNamesItsTrace(field: String, isSampled: Bool) throws {
        let trace = try #require(TraceContext(traceparent: field))
        #expect(trace.id == Self.id && trace.isSampled == isSampled)
        #expect(TraceContext(stored: trace.stored) == trace)
    }

    /// The cases of W3C's own test suite (`test/test.py` of w3c/trace-context).
    @Test(arguments: [
        "", "00", "00-\(id)-\(span)", "00-\(id)-\(span)-", "00-\(id)-\(span)-1", "00-\(id)-\(span)-01-",
        "00-\(id)-\(span)-01-what", "00-\(id)-\(span)-01.", "01-\(id)-\(span)-01.what", "ff-\(id)-\(span)-01",
        "0-\(id)-\(span)-01", "000-\(id)-\(span)-01", ".0-\(id)-\(span)-01", "0G-\(id)-\(span)-01",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(id)-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-\(span)-01", "00-\(id)-00F067AA0BA902B7-01",
        "00-\(id)-\(span)-0A", "00-\(id)-\(span)-.0", "00-.bf92f3577b34da6a3ce929d0e0e4736-\(span)-01",
        "00-\(id)-.0f067aa0ba902b7-01", "00_\(id)_\(span)_01", "00-\(id)0-\(span)-01", "00-\(id)-\(span)0-01",
        "00-\(id)-\(span)-01, 00-\(id)-\(span)-01",
    ])
    func invalidFieldIsNoTrace(field: String) {
        #expect(TraceContext(traceparent: field) == nil)
    }

    @Test(arguments: ["", "\(id)-1", "\(id)_01", "\(id)-0x", "00000000000000000000000000000000-01"])
    func invalidStoredTextIsNoTrace(text: String) {
        #expect(TraceContext(stored: text) == nil)
    }

    @Test func outgoingFieldHasTheTraceAndASpanOfItsOwn() throws {
        let trace = try #require(TraceContext(traceparent: "00-\(Self.id)-\(Self.span)-01"))
        #expect(trace.traceparent(span: 0xAB) == "00-\(Self.id)-00000000000000ab-01")
        #expect(trace.traceparent(span: 0) == "00-\(Self.id)-0000000000000001-01")
        let (one, two) = (trace.traceparent(), trace.traceparent())
        #expect(one != two && TraceContext(traceparent: one) == trace && !one.contains(Self.span))
    }
}

import Formats
import Foundation
import Synchronization
import Testing
import Tracing

@testable import TraceExport

@Suite struct OTLPTracerTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let caller = "00f067aa0ba902b7"

    private static func context(sampled: Bool) throws -> TraceContext {
        try #require(TraceContext(traceparent: "00-\(id)-\(caller)-\(sampled ? "01" : "00")"))
    }

    @Test func spanJoinsTraceOfTheCaller() throws {
        let tracer = OTLPTracer(sampling: 1)
        try TraceContext.$current.withValue(Self.context(sampled: true)) {
            tracer.withSpan("outer", ofKind: .server) { _ in tracer.withSpan("inner") { _ in } }
        }
        let spans = tracer.take(upTo: 10)
        #expect(spans.map(\.name) == ["inner", "outer"])
        #expect(spans.allSatisfy { $0.trace.id == Self.id })
        #expect(spans[1].parent == Self.caller && spans[0].parent == spans[1].trace.span)
        #expect(spans[0].start >= spans[1].start && spans[0].end <= spans[1].end)
    }

    @Test func spanOfStoredTraceHasNoParent() throws {
        let tracer = OTLPTracer(sampling: 1)
        TraceContext.$current.withValue(TraceContext(stored: "\(Self.id)-01")) {
            tracer.withSpan("webhook") { _ in }
        }
        let span = try #require(tracer.take(upTo: 1).first)
        #expect(span.trace.id == Self.id && span.parent == nil)
    }

    @Test func spanWithoutCallerStartsATrace() throws {
        let tracer = OTLPTracer(sampling: 1)
        for _ in 0..<2 { tracer.withSpan("request") { _ in } }
        let spans = tracer.take(upTo: 10)
        #expect(Set(spans.map(\.trace.id)).count == 2 && spans.allSatisfy { $0.parent == nil })
        for span in spans { #expect(TraceContext(traceparent: try #require(span.trace.traceparent)) != nil) }
    }

    @Test func callerCanExcludeButNotIncludeItsTrace() throws {
        let all = OTLPTracer(sampling: 1)
        try TraceContext.$current.withValue(Self.context(sampled: false)) {
            all.withSpan("request") { span in #expect(!span.isRecording) }
        }
        let none = OTLPTracer(sampling: 0)
        try TraceContext.$current.withValue(Self.context(sampled: true)) {
            none.withSpan("request", ofKind: .server) { span in
                #expect(!span.isRecording)
                none.withSpan("statement") { #expect(!$0.isRecording) }
            }
        }
        #expect(all.take(upTo: 10).isEmpty && none.take(upTo: 10).isEmpty)
    }

    /// Other spans of a trace follow the span of the request, also on another server.
    @Test func ratioIsTheShareOfRecordedTraces() {
        let (one, other) = (OTLPTracer(sampling: 0.25), OTLPTracer(sampling: 0.25))
        var count = 0
        for _ in 0..<4_000 {
            let span = one.startSpan("request", context: .topLevel, ofKind: .server)
            if span.isRecording { count += 1 }
            let child = other.startSpan("statement", context: span.context, ofKind: .client)
            #expect(child.isRecording == span.isRecording)
        }
        // More than six standard deviations on both sides.
        #expect((800...1_200).contains(count), "\(count)")
    }

    @Test(arguments: ["00000000000000000000000000000001", "ffffffffffffffffffffffffffffffff"])
    func callerCannotRaiseTheShareByItsTraceID(id: String) throws {
        let tracer = OTLPTracer(sampling: 0.25)
        let caller = try #require(TraceContext(traceparent: "00-\(id)-\(Self.caller)-01"))
        let count = TraceContext.$current.withValue(caller) {
            (0..<4_000).count { _ in
                tracer.startSpan("request", context: .topLevel, ofKind: .server).isRecording
            }
        }
        // More than six standard deviations on both sides.
        #expect((800...1_200).contains(count), "\(count)")
    }

    @Test func fullQueueDropsAndCountsSpans() {
        let dropped = Mutex<[OTLPTracer.DropReason: Int]>([:])
        let tracer = OTLPTracer(sampling: 1, limit: 3) { count, reason in
            dropped.withLock { $0[reason, default: 0] += count }
        }
        for number in 1...5 { tracer.withSpan("\(number)") { _ in } }
        let taken = tracer.take(upTo: 2)
        #expect(taken.map(\.name) == ["1", "2"])
        tracer.withSpan("6") { _ in }
        tracer.putBack(taken)
        #expect(tracer.take(upTo: 10).map(\.name) == ["1", "3", "6"])
        #expect(dropped.withLock { $0 } == [.queueFull: 3])
    }

    @Test func injectedFieldHasTheSpan() throws {
        let tracer = OTLPTracer(sampling: 1)
        var fields: [String: String] = [:]
        let span = tracer.startSpan("webhook POST", context: .topLevel, ofKind: .client)
        tracer.inject(span.context, into: &fields, using: DictionaryInjector())
        span.end()
        span.attributes["late"] = 1
        let record = try #require(tracer.take(upTo: 1).first)
        #expect(fields == ["traceparent": "00-\(record.trace.id)-\(record.trace.span ?? "")-01"])
        #expect(record.attributes.isEmpty)
        var context = ServiceContext.topLevel
        tracer.extract(fields, into: &context, using: DictionaryInjector())
        let child = tracer.startSpan("receiver", context: context, ofKind: .server)
        child.end()
        child.end()
        #expect(tracer.take(upTo: 2).map(\.parent) == [record.trace.span])
    }

    @Test func errorIsRecordedByItsType() throws {
        struct Failure: Error, CustomStringConvertible { var description: String { "secret" } }
        let tracer = OTLPTracer(sampling: 1)
        #expect(throws: Failure.self) { try tracer.withSpan("check") { _ in throw Failure() } }
        let document = OTLPDocument.json(tracer.take(upTo: 1), of: []).text
        #expect(document.contains(#"{"key":"error.type","value":{"stringValue":"Failure"}}"#))
        #expect(document.contains(#""status":{"code":2}"#) && !document.contains("secret"))
    }

    @Test func documentIsThatOfOTLP() throws {
        var record = SpanRecord(
            trace: TraceContext(id: Self.id, span: "00000000000000ab", isSampled: true), parent: Self.caller,
            name: "GET /v1/lookup", kind: .server, start: 1_800_000_000_000_000_001)
        record.end = 1_800_000_000_000_000_002
        record.attributes = [
            "http.response.status_code": 200, "http.route": "/v1/lookup", "ratio": 0.5, "isFast": true,
        ]
        #expect(
            OTLPDocument.json([record], of: [("service.name", "doorstep")]) == [
                "resourceSpans": [
                    [
                        "resource": [
                            "attributes": [["key": "service.name", "value": ["stringValue": "doorstep"]]]
                        ],
                        "scopeSpans": [
                            [
                                "scope": ["name": "doorstep"],
                                "spans": [
                                    [
                                        "traceId": .string(Self.id), "spanId": "00000000000000ab",
                                        "name": "GET /v1/lookup", "kind": 2,
                                        "startTimeUnixNano": "1800000000000000001",
                                        "endTimeUnixNano": "1800000000000000002",
                                        "attributes": [
                                            [
                                                "key": "http.response.status_code",
                                                "value": ["intValue": "200"],
                                            ],
                                            ["key": "http.route", "value": ["stringValue": "/v1/lookup"]],
                                            ["key": "isFast", "value": ["boolValue": true]],
                                            ["key": "ratio", "value": ["doubleValue": 0.5]],
                                        ],
                                        "parentSpanId": .string(Self.caller),
                                    ]
                                ],
                            ]
                        ],
                    ]
                ]
            ])
    }
}

private struct DictionaryInjector: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into fields: inout [String: String]) {
        fields[key] = value
    }

    func extract(key: String, from fields: [String: String]) -> String? { fields[key] }
}

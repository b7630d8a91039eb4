import Formats
import Tracing

/// The body of an export: `ExportTraceServiceRequest` in JSON (OTLP 1.3).
///
/// As protobuf's JSON mapping requires, 64-bit integers are strings. OTLP writes IDs in hexadecimal digits and enumerations as
/// numbers.
enum OTLPDocument {
    static func json(_ spans: [SpanRecord], of resource: [(name: String, value: String)]) -> JSONValue {
        let attributes = resource.map { attribute($0.name, ["stringValue": .string($0.value)]) }
        return [
            "resourceSpans": [
                [
                    "resource": ["attributes": .array(attributes)],
                    "scopeSpans": [
                        ["scope": ["name": "doorstep"], "spans": .array(spans.map(Self.json))]
                    ],
                ]
            ]
        ]
    }

    private static func json(_ span: SpanRecord) -> JSONValue {
        var attributes: [(name: String, value: JSONValue)] = []
        span.attributes.forEach { name, value in
            attributes.append((name, Self.json(value)))
        }
        attributes.sort { $0.name < $1.name }
        var object: JSONObject = [
            "traceId": .string(span.trace.id), "spanId": .string(span.trace.span ?? ""),
            "name": .string(span.name), "kind": JSONValue(number(of: span.kind)),
            "startTimeUnixNano": .string("\(span.start)"), "endTimeUnixNano": .string("\(span.end)"),
            "attributes": .array(attributes.map { attribute($0.name, $0.value) }),
        ]
        if let parent = span.parent { object["parentSpanId"] = .string(parent) }
        switch span.status {
        case .ok: object["status"] = ["code": 1]
        case .error: object["status"] = ["code": 2]
        case nil: break
        }
        return .object(object)
    }

    private static func attribute(_ name: String, _ value: JSONValue) -> JSONValue {
        ["key": .string(name), "value": value]
    }

    private static func json(_ value: SpanAttribute) -> JSONValue {
        switch value {
        case .int32(let number): ["intValue": .string("\(number)")]
        case .int64(let number): ["intValue": .string("\(number)")]
        case .double(let number) where number.isFinite: ["doubleValue": JSONValue(finite: number)]
        case .bool(let value): ["boolValue": .bool(value)]
        case .string(let text): ["stringValue": .string(text)]
        case .stringConvertible(let value): ["stringValue": .string("\(value)")]
        default: ["stringValue": .string("\(value)")]
        }
    }

    private static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

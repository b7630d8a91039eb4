import APNsSimulator
import Crypto
import Formats
import Foundation
import LocalServers
import NIOHTTP1
import TestSupport
import Testing

/// The traces of the built server, as a collector receives them.
@Suite(.timeLimit(.minutes(30))) struct TraceTests {
    private static let instance = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let caller = "00f067aa0ba902b7"
    private static let traceparent = "00-\(trace)-\(caller)-01"

    /// A span as OTLP writes it.
    private struct Span {
        let trace: String
        let id: String
        let parent: String?
        let name: String
        let kind: Int
        let attributes: [String: String]
        let isError: Bool

        init(_ json: JSONValue) throws {
            let object = try #require(json.objectValue)
            trace = try #require(object["traceId"]?.stringValue)
            id = try #require(object["spanId"]?.stringValue)
            parent = object["parentSpanId"]?.stringValue
            name = try #require(object["name"]?.stringValue)
            kind = try #require(object["kind"]?.numberValue?.int)
            isError = object["status"]?.objectValue?["code"] == 2
            let start = try #require(object["startTimeUnixNano"]?.stringValue.flatMap { UInt64($0) })
            let end = try #require(object["endTimeUnixNano"]?.stringValue.flatMap { UInt64($0) })
            #expect(start <= end && start > 1_600_000_000_000_000_000)
            #expect(trace.utf8.count == 32 && id.utf8.count == 16)
            attributes = try #require(object["attributes"]?.arrayValue).reduce(into: [:]) {
                let value = $1.objectValue?["value"]?.objectValue
                $0[$1.objectValue?["key"]?.stringValue ?? ""] =
                    value?["stringValue"]?.stringValue ?? value?["intValue"]?.stringValue
            }
        }
    }

    private static func spans(in bodies: [[UInt8]]) throws -> [Span] {
        try bodies.flatMap { body in
            let resource = try #require(
                try JSONValue(parsing: body).objectValue?["resourceSpans"]?.arrayValue?.first?.objectValue)
            #expect("\(resource["resource"] ?? .null)".contains("service.name"))
            let spans = resource["scopeSpans"]?.arrayValue?.first?.objectValue?["spans"]?.arrayValue
            return try #require(spans).map(Span.init)
        }
    }

    /// A lookup, a change with its webhook message, and a notification are in the callers' traces; no secret is.
    @Test func requestsStatementsAndDeliveriesHaveSpans() async throws {
        try await Installation.lend { installation in
            let key = ProviderKey(in: try TemporaryDirectory())
            let hooks = Shared<[LocalWebServer.Request]>([])
            let exports = Shared<[[UInt8]]>([])
            try await LocalWebServer.lend({ request in
                guard request.path == "/v1/traces" else {
                    hooks.change { $0.append(request) }
                    return .init("", status: 204)
                }
                exports.change { $0.append(request.body) }
                return .init("{}")
            }) { receiver in
                try await APNsSimulator.withSimulator(key.simulator) { simulator in
                    var binary = installation.binary
                    binary.environment.merge(try key.settings(for: simulator)) { $1 }
                    binary.environment["DATABASE_URL"] =
                        installation.databaseURL + " password=hunter2-database"
                    binary.environment["DOORSTEP_OTLP_ENDPOINT"] = "http://127.0.0.1:\(receiver.port)"
                    let made = try await binary.succeed(
                        ["key", "create", "--tenant", Installation.tenant, "--kind", "secret"]
                            + ["lookup", "read", "manage", "notify"].flatMap { ["--scope", $0] }
                    ).json()
                    let secret = try #require(made.objectValue?["key"]?.stringValue)
                    let signing = try await RunningServer.lend(binary) { server in
                        let webhook = try await server.post(
                            "/v1/webhooks", key: secret,
                            [
                                "url": .string(
                                    "http://127.0.0.1:\(receiver.port)/hunter2-hook?hunter2-query=1"),
                                "events": ["location.changed"],
                            ])
                        let found = try await server.lookUp(
                            MainPathTests.order + "?hunter2-query=1", key: installation.publishable)
                        #expect(found.status == 200)
                        _ = try await server.post(
                            "/v1/nearby", key: installation.publishable,
                            ["coordinate": ["latitude": 37.334751, "longitude": -122.008951]])
                        _ = try await server.put(
                            "/v1/instances/\(Self.instance)", key: installation.publishable,
                            [
                                "url": .string(MainPathTests.order), "environment": "production",
                                "permission": "ephemeral", "token": "c0ffee15bad1dea5c0ffee15bad1dea5",
                            ])
                        let sent = try await server.send(
                            .POST, "/v1/notifications", key: secret,
                            """
                            {"url": "\(MainPathTests.order)", "audience": {"instance": "\(Self.instance)"},
                            "aps": {"alert": "hunter2-alert"}}
                            """, type: "application/json", fields: ["traceparent": Self.traceparent])
                        #expect(sent.status < 300, "\(sent)")
                        if sent.status < 300 { await simulator.wait { $0.accepted == 1 } }
                        let renamed = try await server.send(
                            .PATCH, "/v1/locations/restaurant_a", key: secret, #"{"name": "hunter2-name"}"#,
                            type: "application/merge-patch+json", fields: ["traceparent": Self.traceparent])
                        #expect(renamed.status == 200, "\(renamed)")
                        while hooks.value.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
                        #expect(server.log.text.contains("hunter2") == false)
                        let metrics = try await server.text("/metrics")
                        #expect(
                            metrics.contains("doorstep_trace_spans_dropped_total{reason=\"queue_full\"} 0\n"))
                        return try #require(webhook["secret"]?.stringValue, "\(webhook)")
                    }.result

                    let spans = try Self.spans(in: exports.value)
                    let patch = try #require(spans.first { $0.name == "PATCH /v1/locations/{identifier}" })
                    #expect(patch.trace == Self.trace && patch.parent == Self.caller && patch.kind == 2)
                    #expect(patch.attributes["http.response.status_code"] == "200")
                    #expect(patch.attributes["http.route"] == "/v1/locations/{identifier}")
                    #expect(patch.attributes["doorstep.tenant"] != nil && !patch.isError)
                    let statements = spans.filter { $0.parent == patch.id }
                    #expect(statements.contains { $0.name == "COMMIT" && $0.kind == 3 })
                    #expect(
                        statements.contains { $0.name == "UPDATE doorstep.\"locations\"" }, "\(statements)")
                    #expect(statements.allSatisfy { $0.trace == Self.trace })
                    #expect(
                        statements.filter { $0.kind == 3 }.allSatisfy {
                            $0.attributes["db.system.name"] == "postgresql"
                        })

                    let lookup = try #require(spans.first { $0.name == "GET /v1/lookup" })
                    #expect(lookup.parent == nil && lookup.trace != Self.trace && lookup.kind == 2)
                    #expect(spans.contains { $0.name == "POST /v1/nearby" })

                    let push = try #require(spans.first { $0.name == "APNs POST" })
                    #expect(push.trace == Self.trace && push.parent == nil && push.kind == 3)
                    #expect(push.attributes["http.response.status_code"] == "200")
                    let hook = try #require(
                        spans.first { $0.name == "webhook POST" && $0.trace == Self.trace })
                    #expect(hook.kind == 3 && hook.attributes["server.address"] == "127.0.0.1")
                    let fields = hooks.value.flatMap(\.headers).filter {
                        $0.name.lowercased() == "traceparent"
                    }
                    #expect(fields.map(\.value).contains("00-\(Self.trace)-\(hook.id)-01"), "\(fields)")

                    let text = exports.value.map { String(decoding: $0, as: UTF8.self) }.joined()
                    let secrets =
                        [
                            "hunter2", "c0ffee15", "37.33", "122.00", "PRIVATE KEY", "Bearer", signing,
                            secret,
                            installation.publishable, installation.secret, "restaurant_a", Self.instance,
                        ]
                        + ["DOORSTEP_TOKEN_SECRET", "DOORSTEP_SIGNING_SECRET"].compactMap {
                            binary.environment[$0]
                        }
                    for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
                }
            }
        }
    }

    /// A request whose caller does not record its trace, and one beyond the share, have no spans.
    @Test func unsampledRequestsAreNotExported() async throws {
        try await Installation.lend { installation in
            let exports = Shared<[[UInt8]]>([])
            try await LocalWebServer.lend({ request in
                exports.change { $0.append(request.body) }
                return .init("{}")
            }) { collector in
                for (ratio, flags) in [("1", "00"), ("0", "01")] {
                    _ = try await RunningServer.lend(
                        installation.binary,
                        flags: [
                            "--otlp-endpoint", "http://127.0.0.1:\(collector.port)/v1/traces",
                            "--trace-sample", ratio,
                        ]
                    ) { server in
                        let answer = try await server.send(
                            .POST, "/v1/nearby", key: installation.publishable, "{}",
                            type: "application/json",
                            fields: ["traceparent": "00-\(Self.trace)-\(Self.caller)-\(flags)"])
                        #expect((400..<500).contains(answer.status), "\(answer)")
                    }
                }
            }
            #expect(exports.value.isEmpty)
        }
    }

    @Test(arguments: [
        ["--otlp-endpoint", "127.0.0.1:4318"], ["--otlp-endpoint", "ftp://127.0.0.1"],
        ["--otlp-endpoint", "http://127.0.0.1/?key=1"], ["--trace-sample", "1.1"], ["--trace-sample", "nan"],
    ])
    func wrongSettingIsAnError(flags: [String]) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(["serve"] + flags)
        #expect(outcome.status == 64, "\(outcome.errors)")
    }
}

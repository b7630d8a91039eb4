import Administration
import Formats
import Foundation
import Invocation
import NIOCore
import Notifications
import Receipts
import Testing

@testable import HTTPAPI

/// Compares the served document with the endpoints, fragments and values that it is derived from.
@Suite struct OpenAPIDocumentTests {
    /// If `DOORSTEP_OPENAPI_DUMP` is set, the test also writes the document to this path.
    @Test func documentMatchesEndpointsAndFragments() throws {
        let package = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        var generator = try OpenAPIGenerator(
            fragments: package.appending(path: "Sources/Adapters/HTTPAPI/OpenAPI"))
        let document = Array(try generator.document(of: TestAPI().responder.endpoints).utf8)
        if let path = ProcessInfo.processInfo.environment["DOORSTEP_OPENAPI_DUMP"] {
            try Data(document).write(to: URL(filePath: path))
        }
        let isCurrent = document == OpenAPIDocument.bytes
        #expect(
            isCurrent,
            """
            Sources/Adapters/COpenAPI/openapi.json is out of date. Remake it: \
            DOORSTEP_OPENAPI_DUMP=Sources/Adapters/COpenAPI/openapi.json \
            deploy/swift test --filter documentMatchesEndpointsAndFragments
            """)
    }

    @Test func referencesHaveTargetsAndSchemasAreUsed() throws {
        let document = try Self.document()
        var used: Set<String> = []
        func collect(_ value: JSONValue) {
            if let reference = value["$ref"]?.stringValue { used.insert(reference) }
            value.objectValue?.forEach { collect($0.value) }
            value.arrayValue?.forEach(collect)
        }
        collect(document)
        let components = try #require(document["components"]?.objectValue)
        let targets = Set(
            components.flatMap { kind in
                (kind.value.objectValue ?? [:]).map { "#/components/\(kind.key)/\($0.key)" }
            })
        #expect(used.subtracting(targets) == [])
        #expect(targets.subtracting(used) == ["#/components/securitySchemes/key"])
    }

    private static func document() throws -> JSONValue {
        try JSONValue(parsing: OpenAPIDocument.bytes)
    }

    @Test func documentListsAllConfirmationOutcomes() throws {
        let schemas = try Self.document()["components"]?["schemas"]
        let outcomes = Set(Receipt.Outcome.allCases.map { JSONValue.string($0.rawValue) })
        for name in ["Confirmation", "RecordedConfirmation"] {
            let listed = schemas?[name]?["properties"]?["outcome"]?["x-extensible-enum"]?.arrayValue
            #expect(Set(try #require(listed)) == outcomes, "\(name)")
        }
        let day = schemas?["ConfirmationDay"]
        let counted = outcomes.union(["day", "total"])
        #expect(Set(try #require(day?["required"]?.arrayValue)) == counted)
        #expect(
            Set(try #require(day?["properties"]?.objectValue).map { JSONValue.string($0.key) }) == counted)
    }

    /// Generated clients must read the responses of later versions.
    @Test func responseSchemasAllowFurtherMembersAndValues() throws {
        let document = try Self.document()
        let schemas = try #require(document["components"]?["schemas"]?.objectValue)
        var reached: Set<String> = []
        func check(_ value: JSONValue, _ place: String) {
            value.arrayValue?.forEach { check($0, place) }
            guard let object = value.objectValue else { return }
            #expect(object["additionalProperties"] != false, "\(place) is closed")
            let values = object["enum"]?.arrayValue ?? []
            #expect(values.allSatisfy { $0.stringValue == nil }, "\(place) has a closed enumeration")
            if let name = object["$ref"]?.stringValue?.split(separator: "/").last.map(String.init),
                let schema = schemas[name], reached.insert(name).inserted
            {
                check(schema, name)
            }
            for (key, member) in object where !key.hasPrefix("x-") && !key.hasPrefix("example") {
                check(member, place)
            }
        }
        let operations = try #require(document["paths"]?.objectValue).flatMap { path in
            path.value.objectValue?.compactMap { $0.value["responses"] } ?? []
        }
        for responses in operations + [document["components"]?["responses"] ?? .null] {
            for (_, response) in responses.objectValue ?? [:] {
                for (_, body) in response["content"]?.objectValue ?? [:] {
                    if let schema = body["schema"] { check(schema, "\(response["description"] ?? .null)") }
                }
            }
        }
        #expect(reached.contains("ManagedLocation") && reached.contains("Problem"))
    }

    @Test func documentDescribesEachWebhookMessage() throws {
        let document = try Self.document()
        let webhooks = try #require(document["x-webhooks"]?.objectValue)
        #expect(Set(webhooks.map(\.key)) == Set(WebhookEvent.messageTypes))
        for (type, webhook) in webhooks {
            let operation = try #require(webhook["post"])
            #expect(operation["description"]?.stringValue?.isEmpty == false, "\(type)")
            #expect(operation["parameters"]?.arrayValue?.count == 3, "\(type)")
        }
        let names = document["components"]?["schemas"]?["WebhookEventName"]?["x-extensible-enum"]?.arrayValue
        #expect(names == WebhookEvent.allCases.map { .string($0.rawValue) })
    }

    @Test(arguments: WebhookEvent.allCases) func sampleMatchesTheSchemaOfItsEvent(event: WebhookEvent) throws
    {
        let document = try Self.document()
        let content = document["x-webhooks"]?[event.rawValue]?["post"]?["requestBody"]?["content"]
        let media = try #require(content?["application/json"])
        let example = try #require(media["example"])
        #expect(example["data"] == .object(event.sample))
        let schemas = try #require(document["components"]?["schemas"]?.objectValue)
        /// Compares members, required members, types and known values.
        func check(_ value: JSONValue, _ schema: JSONValue, _ place: String) throws {
            if let name = schema["$ref"]?.stringValue?.split(separator: "/").last {
                return try check(value, try #require(schemas[String(name)]), place)
            }
            if let known = schema["x-extensible-enum"]?.arrayValue {
                #expect(known.contains(value), "\(place): \(value)")
            }
            let types = schema["type"]?.arrayValue ?? schema["type"].map { [$0] } ?? []
            let type: JSONValue =
                switch value {
                case .object: "object"
                case .array: "array"
                case .string: "string"
                case .number: "integer"
                case .null: "null"
                default: "boolean"
                }
            #expect(types.contains(type), "\(place): \(value)")
            for item in value.arrayValue ?? [] {
                try check(item, try #require(schema["items"]), "\(place)[]")
            }
            guard let object = value.objectValue else { return }
            for name in schema["required"]?.arrayValue ?? [] {
                #expect(object[try #require(name.stringValue)] != nil, "\(place) lacks \(name)")
            }
            for (name, member) in object {
                let property = schema["properties"]?[name] ?? schema["additionalProperties"]
                try check(member, try #require(property, "\(place).\(name)"), "\(place).\(name)")
            }
        }
        try check(example, try #require(media["schema"]), event.rawValue)
    }

    @Test func requestSchemasAreClosed() throws {
        let schemas = try Self.document()["components"]?["schemas"]
        for name in [
            "LocationInput", "ExperienceCreation", "NotificationSubmission", "KeyCreation", "Audience",
        ] {
            #expect(schemas?[name]?["additionalProperties"] == false, "\(name)")
        }
    }

    @Test func clientFormSetsExactKeywordsAside() {
        let exact: JSONValue = [
            "type": "object", "additionalProperties": false,
            "properties": ["kind": ["enum": ["a", .null], "description": "Kind."], "n": ["enum": [1, 2]]],
            "anyOf": [["required": ["kind"]], ["required": ["n"]]],
        ]
        let document = ClientForm.document([
            "paths": [
                "/x": [
                    "get": [
                        "responses": [
                            "200": [
                                "content": [
                                    "application/json": ["schema": ["$ref": "#/components/schemas/Read"]]
                                ]
                            ]
                        ]
                    ]
                ]
            ],
            "components": ["schemas": ["Read": exact, "Written": exact], "responses": [:]],
        ])
        let schemas = document["components"]?["schemas"]
        #expect(
            schemas?["Read"] == [
                "type": "object", "additionalProperties": true,
                "properties": [
                    "kind": [
                        "type": ["string", "null"], "x-extensible-enum": ["a"],
                        "description": "Kind. Known values: `a`.",
                    ], "n": ["enum": [1, 2]],
                ],
                "x-current": [
                    "additionalProperties": false, "anyOf": [["required": ["kind"]], ["required": ["n"]]],
                ],
            ])
        #expect(schemas?["Written"]?["additionalProperties"] == false)
        #expect(schemas?["Written"]?["properties"] == exact["properties"])
        #expect(schemas?["Written"]?["anyOf"] == nil)
    }

    @Test func tenantNamePatternMatchesValidNames() throws {
        let patch = try Self.document()["components"]?["schemas"]?["TenantPatch"]
        let pattern = try #require(patch?["properties"]?["name"]?["pattern"]?.stringValue)
        let regex = try NSRegularExpression(pattern: pattern)
        for text in [
            "a", " a ", "é", "\u{200B}x", "😀", " ", "\u{A0}\u{3000}", "\u{200B}", "\u{AD}\u{2800}",
            "\u{FEFF}",
            "\u{115F}\u{180E}\u{206F}", "a\u{0}", "\u{85}", "a\nb",
        ] {
            let isValid = (try? DisplayName(text)) != nil
            let match = regex.firstMatch(in: text, range: NSRange(text.startIndex..., in: text))
            #expect((match != nil) == isValid, "\(text.debugDescription)")
        }
    }

    @Test func documentGivesEveryResponseARequestID() throws {
        let document = try Self.document()
        let operations = try #require(document["paths"]?.objectValue).flatMap { path in
            path.value.objectValue?.compactMap { $0.value["responses"]?.objectValue } ?? []
        }
        let shared = try #require(document["components"]?["responses"]?.objectValue)
        let responses = (operations + [shared]).flatMap { $0.map(\.value) }.filter { $0["$ref"] == nil }
        #expect(responses.count > operations.count)
        for response in responses {
            #expect(response["headers"]?["X-Request-ID"] != nil, "\(response["description"] ?? .null)")
        }
    }
}

extension JSONValue {
    fileprivate subscript(name: String) -> JSONValue? { objectValue?[name] }
}

import Administration
import Foundation
import JSON
import NIOCore
import Receipts
import Testing

@testable import HTTPAPI

/// The served document against the endpoints, fragments and values it is derived from.
@Suite struct OpenAPIDocumentTests {
    /// With `DOORSTEP_OPENAPI_DUMP`, the test also writes the document there: that remakes the dump in the tree.
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
            let listed = schemas?[name]?["properties"]?["outcome"]?["enum"]?.arrayValue
            #expect(Set(try #require(listed)) == outcomes, "\(name)")
        }
        let day = schemas?["ConfirmationDay"]
        let counted = outcomes.union(["day", "total"])
        #expect(Set(try #require(day?["required"]?.arrayValue)) == counted)
        #expect(
            Set(try #require(day?["properties"]?.objectValue).map { JSONValue.string($0.key) }) == counted)
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

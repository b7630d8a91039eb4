import Administration
import Foundation
import JSON
import NIOCore
import Receipts
import Testing

@testable import HTTPAPI

/// What the document says as often as the code says it once.
@Suite struct OpenAPIDocumentTests {
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

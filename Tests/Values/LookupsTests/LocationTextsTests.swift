import Formats
import Foundation
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

/// The tests use other columns of locations as texts, because `LocationColumn.texts` is still empty.
@Suite struct LocationTextsTests {
    private let columns: [LocationColumn] = [.name, .details, .cardImage]

    @Test(
        arguments: [
            (nil, nil), ("{}", nil), (nil, "é\"\n"), ("a", "b"),
        ] as [(String?, String?)])
    func packedTextsAreReadBack(details: String?, cardImage: String?) throws {
        let row = IndexRow.location(
            TenantID(UUID()), "a", name: "Café", details: details, cardImage: cardImage)
        let texts = try #require(LocationTexts(row, of: columns))
        let read = LocationTexts(copying: texts.packed(columns).span, of: columns)
        #expect(read == texts)
        #expect(read[.name] == Array("Café".utf8))
        #expect(read[.details] == details.map { Array($0.utf8) })
        #expect(read[.cardImage] == cardImage.map { Array($0.utf8) })
        #expect(
            read.members.map(\.text) == ["Café", details, cardImage].compactMap { $0 })
        #expect(read.members.first?.name == "name")
    }

    @Test func locationWithoutTextsTakesNoBytes() throws {
        let row = IndexRow.location(TenantID(UUID()), "a")
        let texts = try #require(LocationTexts(row, of: [.details]))
        #expect(texts == .none)
        #expect(texts.packed([.details]).isEmpty)
        #expect(LocationTexts(copying: Span(), of: [.details]) == .none)
    }

    @Test func textWithNULIsUnreadable() {
        let row = IndexRow.location(TenantID(UUID()), "a", name: "a\0b")
        #expect(LocationTexts(row, of: [.name]) == nil)
    }
}

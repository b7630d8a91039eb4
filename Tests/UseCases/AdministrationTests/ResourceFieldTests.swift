import Testing

@testable import Administration

/// Rules for the fields of all resources.
@Suite struct ResourceFieldTests {
    private func expectConsistentFields<Item: Resource>(_: Item.Type) {
        let fields = Item.fields
        #expect(Set(fields.map(\.name)).count == fields.count)
        let columns = fields.compactMap(\.column)
        #expect(Set(columns).count == columns.count)
        #expect(fields.contains { $0.kind == .key })
        for field in fields {
            #expect(field.documentation.hasSuffix("."), "\(field.name)")
            if let alternative = field.alternative {
                #expect(Item.field(named: alternative)?.alternative == field.name)
            }
        }
    }

    @Test func fieldsOfEachResourceAreConsistent() {
        expectConsistentFields(Clip.self)
        expectConsistentFields(CardImage.self)
        expectConsistentFields(DomainRecord.self)
        expectConsistentFields(Tenant.self)
        for kind in TenantArchive.collections { expectConsistentFields(kind) }
    }

    @Test func referencesNameEarlierKindsOfArchive() {
        var earlier: Set<String> = []
        func check<Item: CollectionResource>(_: Item.Type) {
            for type in Item.fields.compactMap(\.references) { #expect(earlier.contains(type), "\(type)") }
            earlier.insert(Item.typeName)
        }
        for kind in TenantArchive.collections { check(kind) }
    }

    @Test func exampleOfEachCollectionIsItem() throws {
        func check<Item: CollectionResource>(_: Item.Type) throws {
            #expect(try Item.read(Item.example).patchable.withoutNulls == Item.example)
        }
        for kind in TenantArchive.collections { try check(kind) }
    }

    @Test func csvColumnsFollowFromFields() {
        #expect(LocationRecord.ownColumns == ["identifier", "name", "latitude", "longitude", "radius"])
        #expect(LocationRecord.requiredColumns == LocationRecord.ownColumns)
        #expect(ExperienceRecord.requiredColumns == ["clip", "url"])
        #expect(
            ExperienceRecord.ownColumns == [
                "clip", "url", "kind", "location", "identifier_rule", "title", "subtitle",
            ])
        #expect(ShortCode.requiredColumns == ["code", "url"])
    }
}

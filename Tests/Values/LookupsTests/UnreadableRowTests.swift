import AppAttest
import Foundation
import Invocation
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

@Suite struct UnreadableRowTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let relation: IndexRelation
        let name: String
        let row: IndexRow
        var testDescription: String { "\(relation): \(name)" }
    }

    private static let tenant = TenantID(number: 1)
    private static let key = KeyID(UUID(number: 1))
    private static let digest = [UInt8](repeating: 7, count: 32)

    /// One readable row of each relation.
    private static let rows: [IndexRelation: IndexRow] = [
        .tenants: .tenant(
            tenant, isSuspended: true,
            limits: RequestLimits(
                key: RateLimit(perSecond: 1, burst: 2), client: RateLimit(perSecond: 3, burst: 4),
                newInstances: RateLimit(perSecond: 5, burst: 6),
                clientNewInstances: RateLimit(perSecond: 7, burst: 8))),
        .clips: .clip(tenant, "com.example.MyApp.Clip", isMultiBusiness: true),
        .keys: .key(tenant, key, digest),
        .domains: .domain(tenant, "example.com"),
        .locations: .location(tenant, "a"),
        .experiences: .experience(tenant, "advanced", "https://example.com?a", location: "a"),
        .shortCodes: .shortCode(tenant, "x", "https://example.com"),
        .revokedAttestKeys: .revokedAttestKey(tenant, digest),
    ]

    /// The fields that may be NULL.
    private static let nullable: [IndexRelation: Set<Int>] = [
        .clips: Set(5...11), .keys: [4, 6], .domains: [2], .locations: [6, 7, 8],
        .experiences: Set(4...9),
    ]

    /// Rows with one field that is missing, has another length or is NULL.
    private static let deformed: [Case] = IndexRelation.allCases.flatMap { relation in
        guard let row = rows[relation] else { return [Case]() }
        let values = row.fields.map { $0.map { Array(row.bytes[$0]) } }
        var cases = [
            Case(relation: relation, name: "no field", row: IndexRow([])),
            Case(relation: relation, name: "a field too few", row: IndexRow(Array(values.dropLast()))),
        ]
        for index in values.indices where nullable[relation]?.contains(index) != true {
            var changed = values
            changed[index] = nil
            cases.append(Case(relation: relation, name: "NULL in field \(index)", row: IndexRow(changed)))
        }
        for length in [0, 15, 17] {
            var changed = values
            changed[0] = [UInt8](repeating: 1, count: length)
            cases.append(
                Case(relation: relation, name: "a UUID of \(length) bytes", row: IndexRow(changed)))
        }
        return cases
    }

    private static func with(_ relation: IndexRelation, _ index: Int, _ value: [UInt8]) -> IndexRow {
        guard let row = rows[relation] else { return IndexRow() }
        var values = row.fields.map { $0.map { Array(row.bytes[$0]) } }
        values[index] = value
        return IndexRow(values)
    }

    private static func experience(
        _ name: String, kind: String = "advanced", _ url: String = "https://example.com?b",
        clip: String = "com.example.New.Clip", location: String? = nil, rule: String? = nil
    ) -> Case {
        Case(
            relation: .experiences, name: name,
            row: .experience(tenant, kind, url, clip: clip, location: location, rule: rule))
    }

    private static func location(
        _ name: String, latitude: Double = 0, longitude: Double = 0, radius: Double = 1
    ) -> Case {
        Case(
            relation: .locations, name: name,
            row: .location(tenant, "a", latitude: latitude, longitude: longitude, radius: radius))
    }

    private static func details(_ name: String, _ details: String) -> Case {
        Case(
            relation: .locations, name: "details \(name)",
            row: .location(tenant, "a", details: details))
    }

    private static let cases: [Case] = [
        Case(relation: .tenants, name: "a boolean of two bytes", row: with(.tenants, 1, [0, 0])),
        Case(relation: .tenants, name: "a rate of 4 bytes", row: with(.tenants, 2, [0, 0, 0, 1])),
        Case(relation: .tenants, name: "a rate of 0", row: with(.tenants, 2, [UInt8](bigEndian: 0))),
        Case(
            relation: .tenants, name: "a burst too large",
            row: with(.tenants, 5, [UInt8](bigEndian: 1_000_001))),
        Case(relation: .keys, name: "scopes not UTF-8", row: with(.keys, 5, [0xFF])),
        Case(relation: .clips, name: "a boolean of two bytes", row: with(.clips, 2, [0, 0])),
        Case(relation: .clips, name: "an invalid bundle ID", row: with(.clips, 1, Array("clip".utf8))),
        Case(relation: .clips, name: "not UTF-8", row: with(.clips, 1, [0x61, 0x2E, 0xFF])),
        Case(relation: .clips, name: "an invalid team ID", row: with(.clips, 3, Array("team".utf8))),
        Case(relation: .clips, name: "an invalid parent", row: with(.clips, 4, Array("app".utf8))),
        Case(relation: .domains, name: "an empty host", row: with(.domains, 1, [])),
        Case(relation: .domains, name: "not UTF-8", row: with(.domains, 1, [0x61, 0xFF])),
        Case(relation: .domains, name: "an unknown kind of pages", row: with(.domains, 3, Array("yes".utf8))),
        Case(relation: .tenants, name: "a name not UTF-8", row: with(.tenants, 10, [0xFF])),
        Case(relation: .keys, name: "a key ID of 15 bytes", row: with(.keys, 1, Array(digest.prefix(15)))),
        Case(relation: .keys, name: "an unknown kind", row: with(.keys, 2, Array("master".utf8))),
        Case(relation: .keys, name: "a digest of 31 bytes", row: with(.keys, 3, Array(digest.dropLast()))),
        Case(relation: .keys, name: "a digest of 33 bytes", row: with(.keys, 3, digest + [0])),
        Case(relation: .keys, name: "an expiry of 4 bytes", row: with(.keys, 4, [0, 0, 0, 0])),
        Case(
            relation: .revokedAttestKeys, name: "a key ID of 31 bytes",
            row: .revokedAttestKey(tenant, Array(digest.dropLast()))),
        location("latitude 91", latitude: 91), location("latitude NaN", latitude: .nan),
        location("longitude 181", longitude: -181), location("longitude infinite", longitude: .infinity),
        location("radius 0", radius: 0), location("radius 501", radius: 501),
        location("radius NaN", radius: .nan),
        location("radius below 0", radius: -1),
        Case(relation: .locations, name: "a radius of 4 bytes", row: with(.locations, 5, [0, 0, 0, 0])),
        Case(
            relation: .locations, name: "an identifier of 64 KiB",
            row: with(.locations, 1, [UInt8](repeating: 0x61, count: 65_536))),
        details("that are not JSON", "{"), details("in an array", #"["a"]"#),
        details("with a number", #"{"a":1}"#), details("with an empty text", #"{"a":""}"#),
        details("without a name", #"{"":"a"}"#), details("with a NUL", #"{"a":"\u0000"}"#),
        details("of 4,097 bytes", #"{"a":"\#(String(repeating: "x", count: 4_089))"}"#),
        experience("an unknown kind", kind: "Advanced"), experience("a kind cut off", kind: "advance"),
        experience("a URL without https", "http://example.com"), experience("an empty URL", ""),
        experience("a URL without a host", "https:///menu"), experience("nothing but the scheme", "https://"),
        experience("a URL of 2,049 bytes", "https://example.com/" + String(repeating: "a", count: 2_029)),
        experience("33 path components", "https://example.com" + String(repeating: "/a", count: 33)),
        experience(
            "17 query items", "https://example.com?" + (0..<17).map { "n\($0)" }.joined(separator: "&")),
        experience("an invalid bundle ID", clip: "clip"), experience("a bad rule", rule: "path:0"),
        experience("an empty rule", rule: ""), experience("an unknown rule", rule: "fragment:1"),
        experience("both a location and a rule", location: "a", rule: "path:1"),
        Case(relation: .experiences, name: "a rule not UTF-8", row: with(.experiences, 5, [0xFF])),
        Case(
            relation: .shortCodes, name: "a code of 64 KiB",
            row: with(.shortCodes, 1, [UInt8](repeating: 0x61, count: 65_536))),
    ]

    private static func table() throws -> LookupIndex {
        var table = LookupIndex()
        for (relation, row) in rows { try table.set(relation, row) }
        return table
    }

    @Test(arguments: deformed + cases)
    func unreadableRowIsRejectedAndChangesNothing(_ unreadable: Case) throws {
        var table = try Self.table()
        let before = table.fileBytes()
        let nodes = table.queryNodes.count
        #expect(throws: LookupIndexError.unreadableRow(unreadable.relation)) {
            try table.set(unreadable.relation, unreadable.row)
        }
        #expect(table.fileBytes() == before)
        #expect(table.queryNodes.count == nodes)
        #expect(table.tenantCount == 1)
    }

    /// Without its row, a clip would require no attestation. So it refuses requests until the row is readable or deleted.
    @Test func clipWithUnreadableRowIsClosed() throws {
        let name = "com.example.MyApp.Clip"
        let clip = try BundleID(name)
        let broken = Self.with(.clips, 3, Array("team".utf8))
        var table = LookupIndex()
        try table.set(.tenants, .tenant(Self.tenant))
        #expect(throws: LookupIndexError.unreadableRow(.clips)) { try table.set(.clips, broken) }
        for known in [table, try LookupIndex.read(table.fileBytes()).table] {
            let mine = known.of(Self.tenant)
            #expect(mine.asksForAttestations && !mine.hasClip(clip))
            let asked = try #require(mine.attestedClip(clip)).attestation
            #expect(asked.demand(of: .lookup) == .require && asked.demand(of: .register) == .require)
            #expect(asked.requiresSignature(of: .confirm) && asked.environments.isEmpty)
        }
        var mended = table
        try mended.set(.clips, .clip(Self.tenant, name, isMultiBusiness: true))
        table.remove(.clips, of: Self.tenant, key: [name])
        for known in [mended, table] {
            #expect(known.of(Self.tenant).attestedClip(clip) == nil)
            #expect(!known.of(Self.tenant).asksForAttestations)
        }
    }

    @Test func nullableFieldsMayBeNull() throws {
        var table = try Self.table()
        for (relation, indices) in Self.nullable {
            let row = try #require(Self.rows[relation])
            for index in indices {
                var values = row.fields.map { $0.map { Array(row.bytes[$0]) } }
                values[index] = nil
                try table.set(relation, IndexRow(values))
            }
        }
    }

    @Test func errorNamesRelation() {
        #expect(LookupIndexError.unreadableRow(.keys).description == "a row of api_keys cannot be read")
        #expect(LookupIndexError.unreadableRow(.keys).code == "unreadable_row")
        #expect(LookupIndexError.notALookupIndex.code == "not_a_lookup_index")
        #expect(LookupIndexError.damagedFile.code == "damaged_file")
        for error in [LookupIndexError.notALookupIndex, .damagedFile] { #expect(!error.description.isEmpty) }
    }
}

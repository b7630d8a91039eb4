import Foundation
import Geodesy
import Invocation
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

@Suite struct LookupIndexTests {
    private static let one = TenantID(number: 1)
    private static let two = TenantID(number: 2)
    private static let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"

    private static func table() throws -> LookupIndex {
        var table = LookupIndex()
        try table.set(.tenants, .tenant(one))
        try table.set(.tenants, .tenant(two))
        return table
    }

    private static func url(_ text: String, in table: LookupIndex, of tenant: TenantID) throws -> String? {
        try table.of(tenant).match(InvocationURL(text))?.experience.url
    }

    @Test func tenantsNeverSeeEachOthersRows() throws {
        var table = try Self.table()
        let identifier = try LocationIdentifier("counter")
        for (tenant, name) in [(Self.one, "one"), (Self.two, "two")] {
            try table.set(
                .experiences,
                .experience(tenant, "advanced", "https://example.com/menu", clip: "com.example.\(name)"))
            try table.set(.locations, .location(tenant, "counter", name: name))
            try table.set(.shortCodes, .shortCode(tenant, "x", "https://example.com/\(name)"))
        }
        let menu = try InvocationURL("https://example.com/menu")
        func clip(of tenant: TenantID) -> String? {
            table.of(tenant).match(menu)?.experience.clip.text
        }
        for (tenant, name) in [(Self.one, "one"), (Self.two, "two")] {
            #expect(clip(of: tenant) == "com.example.\(name)")
            #expect(table.of(tenant).location(identifier)?.name == name)
            #expect(table.of(tenant).url(ofShortCode: "x")?.canonical == "https://example.com/\(name)")
        }
        table.remove(.experiences, of: Self.one, key: ["advanced", "https://example.com/menu"])
        table.remove(.locations, of: Self.one, key: ["counter"])
        table.removeAll(.shortCodes, of: Self.one)
        #expect(clip(of: Self.one) == nil)
        #expect(table.of(Self.one).location(identifier) == nil)
        #expect(table.of(Self.one).url(ofShortCode: "x") == nil)
        #expect(clip(of: Self.two) == "com.example.two")
        #expect(table.of(Self.two).location(identifier)?.name == "two")
        #expect(table.of(Self.two).url(ofShortCode: "x")?.canonical == "https://example.com/two")
    }

    @Test func rowsOfMissingTenantAreNotFound() throws {
        var table = try Self.table()
        let digest = [UInt8](repeating: 7, count: 32)
        let identifier = try LocationIdentifier("counter")
        try table.set(.experiences, .experience(Self.one, "default", "https://example.com"))
        try table.set(.locations, .location(Self.one, "counter"))
        try table.set(.shortCodes, .shortCode(Self.one, "x", "https://example.com/x"))
        try table.set(.keys, .key(Self.one, KeyID(UUID(number: 1)), digest))
        func responses() throws -> [Bool] {
            [
                try Self.url("https://example.com/a", in: table, of: Self.one) != nil,
                try Self.url(Self.link, in: table, of: Self.one) != nil,
                table.of(Self.one).location(identifier) != nil,
                table.of(Self.one).url(ofShortCode: "x") != nil,
                table.keyHolder(of: digest, at: .year2000) != nil,
            ]
        }
        #expect(try responses().allSatisfy { $0 })
        #expect(table.tenantCount == 2)
        table.remove(.tenants, of: Self.one, key: [])
        #expect(try !responses().contains(true))
        #expect(table.tenantCount == 1)
        try table.set(.tenants, .tenant(Self.one))
        #expect(try responses().allSatisfy { $0 })
        table.removeAll(.tenants, of: Self.one)
        #expect(try !responses().contains(true))
        #expect(try Self.url("https://example.com", in: table, of: TenantID(number: 9)) == nil)
    }

    @Test func keyHolderShowsIfTenantIsSuspended() throws {
        var table = try Self.table()
        let digest = [UInt8](repeating: 7, count: 32)
        let key = KeyID(UUID(number: 1))
        try table.set(.keys, .key(Self.one, key, digest, kind: .publishable))
        for isSuspended in [true, false] {
            try table.set(.tenants, .tenant(Self.one, isSuspended: isSuspended))
            let holder = KeyHolder(
                tenant: Self.one, key: key, kind: .publishable, scopes: KeyKind.publishable.scopes,
                locations: nil, limits: RequestLimits(), tenantIsSuspended: isSuspended)
            #expect(table.keyHolder(of: digest, at: .year2000) == holder)
        }
    }

    // MARK: Keys

    @Test func keyScopesDependOnKindAndList() throws {
        var table = try Self.table()
        let digest = [UInt8](repeating: 7, count: 32)
        for (kind, text, scopes) in [
            (KeyKind.publishable, nil, [Scope.lookup, .confirm, .register]),
            (.publishable, "confirm", [.confirm]), (.publishable, "register,confirm", [.confirm, .register]),
            // The database refuses this row. In the index it grants no scopes.
            (.publishable, "compose", []), (.publishable, "notify", []), (.publishable, "", []),
            (.secret, nil, [.lookup, .confirm, .compose, .register, .notify]),
            (.secret, "compose,lookup", [.lookup, .compose]), (.secret, "notify", [.notify]),
            (.secret, "manage_keys,read,manage", [.read, .manage, .manageKeys]),
            (.publishable, "read,manage,manage_keys", []),
            // The scope of a newer version is ignored.
            (.secret, "confirm,deliver", [.confirm]),
        ] {
            try table.set(
                .keys, .key(Self.one, KeyID(UUID(number: 1)), digest, kind: kind, scopes: text))
            #expect(table.keyHolder(of: digest, at: .year2000)?.scopes.list == scopes)
        }
    }

    @Test func keyHolderCarriesTenantLimits() throws {
        var table = try Self.table()
        let digest = [UInt8](repeating: 7, count: 32)
        try table.set(.keys, .key(Self.one, KeyID(UUID(number: 1)), digest))
        let limits = RequestLimits(
            key: RateLimit(perSecond: 10, burst: 20), client: RateLimit(perSecond: 1, burst: 1_000_000),
            newInstances: RateLimit(perSecond: 30, burst: 40),
            clientNewInstances: RateLimit(perSecond: 2, burst: 3))
        for limits in [limits, RequestLimits()] {
            try table.set(.tenants, .tenant(Self.one, limits: limits))
            #expect(table.keyHolder(of: digest, at: .year2000)?.limits == limits)
        }
    }

    @Test func keyExpiresAtExactTime() throws {
        var table = try Self.table()
        let digest = [UInt8](repeating: 7, count: 32)
        try table.set(.keys, .key(Self.one, KeyID(UUID(number: 1)), digest, expiresAt: 86_400_000_000))
        let expiry = Date.year2000.addingTimeInterval(86_400)
        #expect(table.keyHolder(of: digest, at: expiry.addingTimeInterval(-0.001)) != nil)
        #expect(table.keyHolder(of: digest, at: expiry) == nil)
        #expect(table.keyHolder(of: digest, at: expiry.addingTimeInterval(0.001)) == nil)
    }

    /// PostgreSQL's `infinity` and `-infinity`.
    @Test func keyWithInfiniteExpiryNeverOrAlwaysExpires() throws {
        var table = try Self.table()
        let digests = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]
        try table.set(.keys, .key(Self.one, KeyID(UUID(number: 1)), digests[0], expiresAt: .max))
        try table.set(.keys, .key(Self.one, KeyID(UUID(number: 2)), digests[1], expiresAt: .min))
        #expect(table.keyHolder(of: digests[0], at: .distantFuture) != nil)
        #expect(table.keyHolder(of: digests[1], at: .distantPast) == nil)
    }

    @Test func keyIsReplacedUnderItsID() throws {
        var table = try Self.table()
        let id = KeyID(UUID(number: 1))
        let old = [UInt8](repeating: 1, count: 32)
        let new = [UInt8](repeating: 2, count: 32)
        try table.set(.keys, .key(Self.one, id, old))
        try table.set(.keys, .key(Self.one, id, new))
        #expect(table.keyHolder(of: old, at: .year2000) == nil)
        #expect(table.keyHolder(of: new, at: .year2000)?.key == id)
        table.remove(.keys, of: Self.one, key: [id.description])
        #expect(table.keyHolder(of: new, at: .year2000) == nil)
    }

    /// Key IDs are unique only within a tenant.
    @Test func tenantsMayShareKeyID() throws {
        var table = try Self.table()
        let id = KeyID(UUID(number: 1))
        let digests = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]
        try table.set(.keys, .key(Self.one, id, digests[0]))
        try table.set(.keys, .key(Self.two, id, digests[1]))
        #expect(table.keyHolder(of: digests[0], at: .year2000)?.tenant == Self.one)
        #expect(table.keyHolder(of: digests[1], at: .year2000)?.tenant == Self.two)
        table.remove(.keys, of: Self.one, key: [id.description])
        #expect(table.keyHolder(of: digests[0], at: .year2000) == nil)
        #expect(table.keyHolder(of: digests[1], at: .year2000)?.tenant == Self.two)
        table.removeAll(.keys, of: Self.one)
        #expect(table.keyHolder(of: digests[1], at: .year2000)?.tenant == Self.two)
    }

    /// One key has two IDs. Removing the first ID does not affect the second.
    @Test func laterKeyOfSameDigestWins() throws {
        var table = try Self.table()
        let digest = [UInt8](repeating: 1, count: 32)
        try table.set(.keys, .key(Self.one, KeyID(UUID(number: 1)), digest))
        try table.set(.keys, .key(Self.two, KeyID(UUID(number: 2)), digest))
        #expect(table.keyHolder(of: digest, at: .year2000)?.tenant == Self.two)
        try table.set(.keys, .key(Self.one, KeyID(UUID(number: 1)), [UInt8](repeating: 3, count: 32)))
        #expect(table.keyHolder(of: digest, at: .year2000)?.tenant == Self.two)
    }

    @Test func digestOfWrongLengthHasNoHolder() throws {
        let table = try Self.table()
        for length in [0, 31, 33] {
            #expect(table.keyHolder(of: [UInt8](repeating: 0, count: length), at: .year2000) == nil)
        }
    }

    // MARK: Default experiences

    @Test func deletedDefaultExperienceIsNotFound() throws {
        var table = try Self.table()
        try table.set(.experiences, .experience(Self.one, "default", "https://example.com/a"))
        #expect(try Self.url(Self.link, in: table, of: Self.one) == "https://example.com/a")
        #expect(try Self.url(Self.link, in: table, of: Self.two) == nil)
        table.remove(.experiences, of: Self.one, key: ["default", "https://example.com/a"])
        #expect(try Self.url(Self.link, in: table, of: Self.one) == nil)
        try table.set(.experiences, .experience(Self.one, "default", "https://example.com/b"))
        #expect(try Self.url(Self.link, in: table, of: Self.one) == "https://example.com/b")
        table.removeAll(.experiences, of: Self.one)
        #expect(try Self.url(Self.link, in: table, of: Self.one) == nil)
    }

    /// The rows of one change arrive in any order.
    @Test func defaultExperienceMovesToOtherURL() throws {
        var removedFirst = try Self.table()
        try removedFirst.set(.experiences, .experience(Self.one, "default", "https://example.com/a"))
        var setFirst = removedFirst
        removedFirst.remove(.experiences, of: Self.one, key: ["default", "https://example.com/a"])
        try removedFirst.set(.experiences, .experience(Self.one, "default", "https://example.com/b"))
        try setFirst.set(.experiences, .experience(Self.one, "default", "https://example.com/b"))
        setFirst.remove(.experiences, of: Self.one, key: ["default", "https://example.com/a"])
        for table in [removedFirst, setFirst] {
            #expect(try Self.url(Self.link, in: table, of: Self.one) == "https://example.com/b")
        }
    }

    @Test func defaultExperienceMovesToOtherClip() throws {
        var table = try Self.table()
        try table.set(.experiences, .experience(Self.one, "default", "https://example.com"))
        try table.set(
            .experiences, .experience(Self.one, "default", "https://example.com", clip: "com.example.Other"))
        #expect(try Self.url(Self.link, in: table, of: Self.one) == nil)
        let other = "https://appclip.apple.com/id?p=com.example.Other"
        #expect(try Self.url(other, in: table, of: Self.one) == "https://example.com")
    }

    // MARK: Other relations

    @Test func multiBusinessFlagAppliesToAllExperiencesOfClip() throws {
        var table = try Self.table()
        try table.set(.experiences, .experience(Self.one, "advanced", "https://example.com"))
        func isMultiBusiness() throws -> Bool {
            let match = try #require(try table.of(Self.one).match(InvocationURL("https://example.com")))
            return match.experience.clipIsMultiBusiness
        }
        #expect(try !isMultiBusiness())
        try table.set(.clips, .clip(Self.one, "com.example.MyApp.Clip", isMultiBusiness: true))
        #expect(try isMultiBusiness())
        try table.set(.clips, .clip(Self.two, "com.example.MyApp.Clip", isMultiBusiness: false))
        #expect(try isMultiBusiness())
        table.remove(.clips, of: Self.one, key: ["com.example.MyApp.Clip"])
        #expect(try !isMultiBusiness())
        try table.set(.clips, .clip(Self.one, "com.example.MyApp.Clip", isMultiBusiness: true))
        table.removeAll(.clips, of: Self.one)
        #expect(try !isMultiBusiness())
    }

    @Test func queryNodesAreRemovedWithTheirExperiences() throws {
        var table = try Self.table()
        let urls = ["?a", "?a&b", "?b&a", "?a&b&c", "/x?a", ""].map { "https://example.com\($0)" }
        func register(of tenant: TenantID) throws {
            for url in urls { try table.set(.experiences, .experience(tenant, "advanced", url)) }
        }
        try register(of: Self.two)
        let ofOne = table.queryNodes.count
        #expect(ofOne > 0)
        try register(of: Self.one)
        #expect(table.queryNodes.count > ofOne)
        // Rows that are set again count once.
        try register(of: Self.one)
        for url in urls { table.remove(.experiences, of: Self.one, key: ["advanced", url]) }
        #expect(table.queryNodes.count == ofOne)
        #expect(try Self.url("https://example.com?a&b", in: table, of: Self.two) == "https://example.com?a&b")
        table.removeAll(.experiences, of: Self.two)
        #expect(table.queryNodes.count == 0)
        #expect(table.experienceCount == 0)
    }

    @Test func identifiersAreComparedByBytes() throws {
        var table = try Self.table()
        try table.set(.locations, .location(Self.one, "caf\u{E9}", name: "composed"))
        try table.set(.locations, .location(Self.one, "cafe\u{301}", name: "decomposed"))
        #expect(table.locationCount == 2)
        #expect(try table.of(Self.one).location(LocationIdentifier("caf\u{E9}"))?.name == "composed")
        #expect(try table.of(Self.one).location(LocationIdentifier("cafe\u{301}"))?.name == "decomposed")
        #expect(try table.of(Self.one).location(LocationIdentifier("caf")) == nil)
    }

    @Test func rulesAreComparedByBytes() throws {
        var table = try Self.table()
        let rules = ["query:caf\u{E9}", "query:cafe\u{301}"]
        for (index, rule) in rules.enumerated() {
            try table.set(
                .experiences, .experience(Self.one, "advanced", "https://example.com/\(index)", rule: rule))
        }
        for (index, rule) in rules.enumerated() {
            let match = try #require(table.of(Self.one).match(InvocationURL("https://example.com/\(index)")))
            #expect(try match.experience.binding == .rule(IdentifierRule(rule)))
        }
    }

    @Test func locationMatchesItsRow() throws {
        var table = try Self.table()
        try table.set(
            .locations,
            .location(Self.one, "a", name: "Bar", latitude: -90, longitude: 180, radius: 0.5))
        let region = try CircularRegion(
            center: Coordinate(latitude: -90, longitude: 180), radius: Distance(meters: 0.5))
        let identifier = try LocationIdentifier("a")
        #expect(
            table.of(Self.one).location(identifier)
                == Location(identifier: identifier, name: "Bar", region: region))
        try table.set(.locations, .location(Self.one, "a", name: "Baz", radius: 500))
        #expect(table.locationCount == 1)
        #expect(table.of(Self.one).location(identifier)?.name == "Baz")
    }

    @Test func removingMissingRowChangesNothing() throws {
        var table = try Self.table()
        try table.set(.experiences, .experience(Self.one, "advanced", "https://example.com"))
        for (relation, key) in [
            (IndexRelation.experiences, ["default", "https://example.com"]),
            (.experiences, ["advanced", "https://example.com/a"]), (.experiences, ["advanced", ""]),
            (.experiences, ["advanced"]), (.experiences, ["other", "https://example.com"]),
            (.locations, ["a"]), (.locations, []), (.shortCodes, ["a"]), (.clips, ["com.example.X"]),
            (.domains, ["example.com"]), (.domains, []),
            (.keys, ["no UUID"]), (.keys, [TenantID(number: 1).description]),
        ] {
            table.remove(relation, of: Self.one, key: key)
            table.remove(relation, of: TenantID(number: 9), key: key)
            table.removeAll(relation, of: TenantID(number: 9))
        }
        #expect(try Self.url("https://example.com", in: table, of: Self.one) == "https://example.com")
        #expect(table.tenantCount == 2)
    }

    @Test func copyIsUnaffectedByLaterChanges() throws {
        var table = try Self.table()
        try table.set(.experiences, .experience(Self.one, "default", "https://example.com"))
        let copy = table
        table.remove(.experiences, of: Self.one, key: ["default", "https://example.com"])
        try table.set(.experiences, .experience(Self.one, "advanced", "https://example.com/a"))
        #expect(try Self.url("https://example.com/a", in: copy, of: Self.one) == "https://example.com")
        #expect(try Self.url(Self.link, in: copy, of: Self.one) == "https://example.com")
        #expect(try Self.url("https://example.com/a", in: table, of: Self.one) == "https://example.com/a")
    }

    // MARK: Names

    /// A full and an empty catalogue get new names in each round.
    @Test(arguments: [false, true]) func namesGoWithTheirLastExperience(removesWhole: Bool) throws {
        var table = try Self.table()
        let kept = "https://kept.example/a"
        try table.set(.experiences, .experience(Self.two, "advanced", kept, rule: "query:kept"))
        for round in 0..<4 {
            for number in 0..<50 {
                let name = "r\(round)n\(number)"
                for path in ["a", "b?c=1"] {
                    try table.set(
                        .experiences,
                        .experience(
                            Self.one, "advanced", "https://\(name).example/\(path)",
                            clip: "com.example.\(name).Clip", rule: "query:\(name)"))
                }
                try table.set(
                    .clips, .clip(Self.one, "com.example.\(name).Clip", isMultiBusiness: false))
            }
            #expect(table.hosts.count == 51 && table.rules.count == 51 && table.clipIndices.count == 51)
            let first = "https://r\(round)n0.example/a"
            #expect(try Self.url(first, in: table, of: Self.one) == first)
            if removesWhole {
                table.removeAll(.clips, of: Self.one)
                #expect(table.clipIndices.count == 51)
                table.removeAll(.experiences, of: Self.one)
            } else {
                for number in 0..<50 {
                    let name = "r\(round)n\(number)"
                    for path in ["a", "b?c=1"] {
                        table.remove(
                            .experiences, of: Self.one, key: ["advanced", "https://\(name).example/\(path)"])
                    }
                    table.remove(.clips, of: Self.one, key: ["com.example.\(name).Clip"])
                }
            }
            #expect(table.hosts.count == 1 && table.rules.count == 1 && table.clipIndices.count == 1)
            #expect(try Self.url(first, in: table, of: Self.one) == nil)
            #expect(try Self.url(kept, in: table, of: Self.two) == kept)
        }
        #expect(table.rules.capacity == 51 && table.clips.count == 51)
        table.removeAll(.experiences, of: Self.two)
        #expect(table.hosts.count == 0 && table.rules.capacity == 0 && table.clipIndices.isEmpty)
    }

    /// Otherwise each change of a rule would copy the rules of all tenants.
    @Test func newAndRemovedRuleCopyOneChunk() throws {
        func unshared<Element>(_ one: ChunkedArray<Element>, _ other: ChunkedArray<Element>) -> Int {
            one.chunks.count
                - zip(one.chunks, other.chunks).count { one, other in
                    one.withUnsafeBufferPointer { one in
                        other.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress }
                    }
                }
        }
        var table = try Self.table()
        for number in 0..<5_000 {
            try table.set(
                .experiences,
                .experience(
                    Self.one, "advanced", "https://example.com/\(number)", rule: "query:a\(number)"))
        }
        let old = table
        #expect(old.rules.entries.chunks.count > 5)
        try table.set(
            .experiences, .experience(Self.two, "advanced", "https://example.com/a", rule: "query:new"))
        #expect(unshared(table.rules.entries, old.rules.entries) == 1)
        #expect(unshared(table.rules.uses.counts, old.rules.uses.counts) == 1)
        let added = table
        for number in [3, 4_000, 7] {
            let before = table
            table.remove(
                .experiences, of: Self.one, key: ["advanced", "https://example.com/\(number)"])
            #expect(unshared(table.rules.entries, before.rules.entries) == 1)
            #expect(unshared(table.rules.uses.counts, before.rules.uses.counts) == 1)
        }
        // Released numbers are used again, the last one first.
        for name in ["x", "y", "z", "more"] {
            try table.set(
                .experiences,
                .experience(Self.two, "advanced", "https://example.com/\(name)", rule: "hash:\(name)"))
        }
        #expect(table.rules.count == 5_002 && table.rules.capacity == 5_002)
        for (url, rule) in [
            ("https://example.com/x", "hash:x"), ("https://example.com/z", "hash:z"),
            ("https://example.com/more", "hash:more"), ("https://example.com/a", "query:new"),
        ] {
            let match = try table.of(Self.two).match(InvocationURL(url))
            #expect(match?.experience.binding == .rule(try IdentifierRule(rule)))
        }
        // The copies are unchanged.
        let third = try InvocationURL("https://example.com/3")
        #expect(try added.of(Self.one).match(third)?.experience.binding == .rule(IdentifierRule("query:a3")))
        #expect(old.rules.count == 5_000 && added.rules.count == 5_001)
    }

    /// A changed row has the names that only the old row had, and a refused row leaves none.
    @Test func replacedAndRefusedRowsKeepNames() throws {
        var table = try Self.table()
        let url = "https://example.com/a"
        for rule in ["query:a", "query:a", "query:b"] {
            try table.set(.experiences, .experience(Self.one, "advanced", url, rule: rule))
            let match = try table.of(Self.one).match(InvocationURL(url))
            #expect(match?.experience.binding == .rule(try IdentifierRule(rule)))
            #expect(match?.experience.clip.text == "com.example.MyApp.Clip")
        }
        #expect(throws: LookupIndexError.self) {
            try table.set(
                .experiences, .experience(Self.one, "demo", url, clip: "no clip", rule: "query:refused"))
        }
        #expect(table.hosts.count == 1 && table.rules.count == 1 && table.clipIndices.count == 1)
    }
}

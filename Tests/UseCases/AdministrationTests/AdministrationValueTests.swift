import Administration
import AppSiteAssociation
import Foundation
import Invocation
import Tenancy
import Testing

@Suite struct AdministrationValueTests {
    @Test(arguments: [
        "a", " a ", "Café Zoë", "日本", String(repeating: "\u{1F600}", count: 128), "a\u{200D}b",
    ])
    func `A name is kept as given`(text: String) throws {
        let name = try DisplayName(text)
        #expect(name.text.utf8.elementsEqual(text.utf8))
        #expect("\(name)" == text)
    }

    @Test(arguments: [" ", "\u{A0}\u{200B}"]) func blankNameIsRefused(text: String) {
        #expect(throws: AdministrationError.blankName) { try DisplayName(text) }
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 129), String(repeating: "e\u{301}", count: 65), "a\nb", "\u{0}",
        "a\u{7F}", "\u{9F}",
    ])
    func `A name that is empty, too long or holds a control character is refused`(text: String) {
        #expect(throws: AdministrationError.invalidName) { try DisplayName(text) }
    }

    @Test func `A clip's parent is all but the last component of its bundle ID`() throws {
        let clip = try Clip(
            bundleID: BundleID("com.example.MyApp.Clip"), teamID: TeamID("ABCDE12345"), isMultiBusiness: true)
        #expect(clip.parentBundleID.text == "com.example.MyApp")
        #expect(clip.isMultiBusiness)
        #expect(throws: AdministrationError.clipWithoutParent) {
            try Clip(bundleID: BundleID("com.Clip"), teamID: TeamID("ABCDE12345"), isMultiBusiness: false)
        }
    }

    /// Source: Apple, "Creating an App Clip with Xcode": the clip's bundle ID is the app's with a string added.
    @Test func clipWithNamedParentMustBeginWithIt() throws {
        let (bundleID, teamID) = (try BundleID("com.solo.App.my.Clip"), try TeamID("ABCDE12345"))
        func clip(_ parent: String?) throws -> Clip {
            try Clip(
                bundleID: bundleID, parentBundleID: parent.map { try BundleID($0) }, teamID: teamID,
                isMultiBusiness: false)
        }
        #expect(try clip(nil).parentBundleID.text == "com.solo.App.my")
        #expect(try clip("com.solo.App").parentBundleID.text == "com.solo.App")
        #expect(try clip("com.solo.App").parentAppID.text == "ABCDE12345.com.solo.App")
        for other in ["com.solo.Ap", "com.other.App", "com.solo.App.my.Clip", "com.solo.App.my.Clip.x"] {
            #expect(throws: AdministrationError.invalidParentBundleID(try BundleID(other), of: bundleID)) {
                try clip(other)
            }
        }
    }

    /// Source: Apple, "Configuring App Clip experiences" (the limits of title and subtitle).
    @Test func `A title has up to 30 characters, a subtitle up to 56`() throws {
        let experience = try Experience(
            url: URLPrefix("https://example.com"), kind: .advanced, clip: BundleID("com.example.MyApp.Clip"))
        func text(_ count: Int) -> String { String(repeating: "é", count: count) }

        let record = try ExperienceRecord(experience, title: text(30), subtitle: text(56))
        #expect(record.title == text(30))
        #expect(record.subtitle == text(56))
        #expect(try ExperienceRecord(experience).title == nil)
        for title in ["", text(31), "a\nb"] {
            #expect(throws: AdministrationError.invalidTitle) {
                try ExperienceRecord(experience, title: title)
            }
        }
        for subtitle in ["", text(57), "a\u{0}"] {
            #expect(throws: AdministrationError.invalidSubtitle) {
                try ExperienceRecord(experience, subtitle: subtitle)
            }
        }
    }

    @Test(arguments: [
        (nil, nil, KeyRecord.Status.active), (100.001, nil, .active), (100, nil, .expired),
        (99, nil, .expired),
        (nil, 50, .revoked), (99, 50, .revoked), (nil, 101, .revoked),
    ])
    func `A key is active until it expires or is revoked`(
        expiresAt: Double?, revokedAt: Double?, status: KeyRecord.Status
    ) {
        let record = KeyRecord(
            id: KeyID(UUID()), kind: .secret, scopes: .all, hint: "dsk_abcd",
            createdAt: Date(timeIntervalSince1970: 0),
            expiresAt: expiresAt.map(Date.init(timeIntervalSince1970:)),
            revokedAt: revokedAt.map(Date.init(timeIntervalSince1970:)), lastUsedOn: nil)
        #expect(record.status(at: Date(timeIntervalSince1970: 100)) == status)
    }

    @Test func aKeyMakesNoneForMoreLocations() throws {
        let (a, b) = (try LocationIdentifier("a"), try LocationIdentifier("b"))
        func key(_ locations: Set<LocationIdentifier>?) -> KeyRecord {
            KeyRecord(
                id: KeyID(UUID()), kind: .secret, scopes: .all, locations: locations, hint: "dsk_abcd",
                createdAt: Date(timeIntervalSince1970: 0), expiresAt: nil, revokedAt: nil, lastUsedOn: nil)
        }
        let scopes = Scopes(.lookUp)
        #expect(
            try key(nil).grant(to: .secret, scopes: scopes, locations: [a], expiresAt: nil).locations == [a])
        #expect(
            try key([a]).grant(to: .secret, scopes: scopes, locations: nil, expiresAt: nil).locations == [a])
        for locations in [[b], [a, b]] as [Set<LocationIdentifier>] {
            #expect(throws: AdministrationError.widerKey) {
                try key([a]).grant(to: .secret, scopes: scopes, locations: locations, expiresAt: nil)
            }
        }
        #expect(
            !key([a]).covers(scopes, at: nil, until: nil) && key([a, b]).covers(scopes, at: [b], until: nil))
    }

    // MARK: Errors

    private static func errors() throws -> [AdministrationError] {
        let slug = try TenantSlug("donut-shop")
        let clip = try BundleID("com.example.MyApp.Clip")
        let location = try LocationIdentifier("restaurant_a")
        return [
            .invalidName, .invalidTitle, .invalidSubtitle, .clipWithoutParent, .tenantExists(slug),
            .unknownTenant(slug), .clipExists(clip), .unknownClip(clip), .experienceExists,
            .unknownExperience(.advanced, try URLPrefix("https://example.com/a")),
            .secondDefaultExperience(clip), .unknownLocation(location),
            .inUse(
                "location 'restaurant_a'",
                by: [
                    Referents(
                        RowCount(relation: "experiences", count: 4),
                        first: ["advanced https://example.com/a", "demo https://example.com/b"]),
                    Referents(RowCount(relation: "channels", count: 1), first: ["c"]),
                ]), .unknownKey,
            .keyNotActive, .keyRotated(KeyID(UUID())), .invalidHeader(reason: "'name' is missing"),
            .invalidShortCode, .unmatchableURL,
            .tenantDeleted, .tenantSuspended, .invalidArchive(line: 3, reason: "x"),
            .unknownArchiveVersion(2),
            .locationExists(location), .shortCodeExists("c"), .unknownShortCode("c"),
            .invalidParentBundleID(try BundleID("com.example.Other"), of: clip),
        ]
    }

    @Test func `Each error has a code of its own in snake case`() throws {
        let codes = try Self.errors().map(\.code)
        #expect(Set(codes).count == codes.count)
        for code in codes { #expect(code.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil) }
    }

    @Test func `Each error says what it is about in one sentence`() throws {
        let descriptions = try Self.errors().map(\.description)
        #expect(Set(descriptions).count == descriptions.count)
        for description in descriptions { #expect(!description.isEmpty && !description.hasSuffix(".")) }
        #expect(descriptions[4] == "there is a tenant 'donut-shop' already")
        #expect(descriptions[10] == "the clip com.example.MyApp.Clip has a default experience already")
        #expect(
            descriptions[12] == """
                the location 'restaurant_a' is in use by 4 experiences (advanced https://example.com/a, \
                demo https://example.com/b, …) and 1 channel (c): it can be deleted after these, or with them by cascade
                """)
        #expect(descriptions[16] == "the first line must name the columns: 'name' is missing")
    }
}

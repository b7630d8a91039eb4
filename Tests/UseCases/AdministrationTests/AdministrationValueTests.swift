import Administration
import AppAttest
import Cards
import Foundation
import Invocation
import Tenancy
import Testing

@Suite struct AdministrationValueTests {
    @Test(arguments: [
        "a", " a ", "Café Zoë", "日本", String(repeating: "\u{1F600}", count: 128), "a\u{200D}b",
    ])
    func nameIsKeptAsGiven(text: String) throws {
        let name = try DisplayName(text)
        #expect(name.text.utf8.elementsEqual(text.utf8))
        #expect("\(name)" == text)
    }

    @Test(arguments: [" ", "\u{A0}\u{200B}"]) func blankNameIsRejected(text: String) {
        #expect(throws: DisplayName.Refusal.blank) { try DisplayName(text) }
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 129), String(repeating: "e\u{301}", count: 65), "a\nb", "\u{0}",
        "a\u{7F}", "\u{9F}",
    ])
    func emptyOverlongOrControlCharacterNameIsRejected(text: String) {
        #expect(throws: DisplayName.Refusal.invalid) { try DisplayName(text) }
    }

    @Test func clipParentDropsLastBundleIDComponent() throws {
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
    @Test func titleOver30OrSubtitleOver56CharactersIsRejected() throws {
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
    func keyIsActiveUntilExpiryOrRevocation(
        expiresAt: Double?, revokedAt: Double?, status: KeyRecord.Status
    ) {
        let record = KeyRecord(
            id: KeyID(UUID()), kind: .secret, scopes: .all, hint: "dsk_abcd",
            createdAt: Date(timeIntervalSince1970: 0),
            expiresAt: expiresAt.map(Date.init(timeIntervalSince1970:)),
            revokedAt: revokedAt.map(Date.init(timeIntervalSince1970:)), lastUsedOn: nil)
        #expect(record.status(at: Date(timeIntervalSince1970: 100)) == status)
    }

    @Test func restrictedKeyCannotGrantMoreLocations() throws {
        let (a, b) = (try LocationIdentifier("a"), try LocationIdentifier("b"))
        func key(_ locations: Set<LocationIdentifier>?) -> KeyRecord {
            KeyRecord(
                id: KeyID(UUID()), kind: .secret, scopes: .all, locations: locations, hint: "dsk_abcd",
                createdAt: Date(timeIntervalSince1970: 0), expiresAt: nil, revokedAt: nil, lastUsedOn: nil)
        }
        let scopes = Scopes(.lookup)
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

    /// A sample of each case. Each case names the next one, so that a new case without a sample does not compile.
    private static func sample(after error: AdministrationError?) throws -> AdministrationError? {
        let slug = try TenantSlug("donut-shop")
        let clip = try BundleID("com.example.MyApp.Clip")
        let location = try LocationIdentifier("restaurant_a")
        let digest = try ImageDigest(String(repeating: "a1", count: 32))
        let domain = try DomainName("shop.example.com")
        return switch error {
        case nil: .invalidTitle
        case .invalidTitle: .invalidSubtitle
        case .invalidSubtitle: .invalidShortCode
        case .invalidShortCode: .unmatchableURL
        case .unmatchableURL: .clipWithoutParent
        case .clipWithoutParent: .invalidParentBundleID(try BundleID("com.example.Other"), of: clip)
        case .invalidParentBundleID: .invalidAppStoreID
        case .invalidAppStoreID: .invalidAndroidURL
        case .invalidAndroidURL: .tenantExists(slug)
        case .tenantExists: .tenantIDTaken(TenantID(UUID()))
        case .tenantIDTaken: .unknownTenant(slug)
        case .unknownTenant: .clipExists(clip)
        case .clipExists: .unknownClip(clip)
        case .unknownClip: .experienceExists
        case .experienceExists: .unknownExperience(.advanced, try URLPrefix("https://example.com/a"))
        case .unknownExperience: .secondDefaultExperience(clip)
        case .secondDefaultExperience: .locationExists(location)
        case .locationExists: .unknownLocation(location)
        case .unknownLocation: .unknownImage(digest)
        case .unknownImage: .invalidImage(.truncated)
        case .invalidImage: .otherImage(digest)
        case .otherImage: .itemExists(of: "short_code", named: "c")
        case .itemExists: .unknownItem(of: "short_code", named: "c")
        case .unknownItem: .inUse("location 'restaurant_a'", by: dependents)
        case .inUse: .removalsInUse(RemovalsInUse(count: 2))
        case .removalsInUse: .tooManyRemovals(7, of: 9, allowed: 4)
        case .tooManyRemovals: .tooManyRows(limit: 5)
        case .tooManyRows: .tooManyImports
        case .tooManyImports: .conflict
        case .conflict: .unknownKey
        case .unknownKey: .unknownAttestKey
        case .unknownAttestKey: .keyNotActive
        case .keyNotActive: .keyRotated(KeyID(UUID()))
        case .keyRotated: .widerKey
        case .widerKey: .invalidHeader(reason: "'name' is missing")
        case .invalidHeader: .monitoredTooLittle(.confirm, seen: 3)
        case .monitoredTooLittle: .tenantDeleted
        case .tenantDeleted: .tenantSuspended
        case .tenantSuspended: .invalidArchive(line: 3, reason: "x")
        case .invalidArchive: .unknownArchiveVersion(2)
        case .unknownArchiveVersion: .invalidDomain(nil)
        case .invalidDomain: .unknownDomain(domain)
        case .unknownDomain: .domainTaken(domain)
        case .domainTaken: nil
        }
    }

    private static let dependents = [
        Dependents(
            RowCount(relation: "experiences", count: 4),
            first: ["advanced https://example.com/a", "demo https://example.com/b"]),
        Dependents(RowCount(relation: "channels", count: 1), first: ["c"]),
    ]

    private static func errors() throws -> [AdministrationError] {
        var errors: [AdministrationError] = []
        while let error = try sample(after: errors.last) { errors.append(error) }
        return errors
    }

    /// Three codes belong to two cases each.
    @Test func errorCodesAreUniqueSnakeCase() throws {
        let codes = try Self.errors().map(\.code)
        let counts = Dictionary(codes.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(counts.filter { $0.value > 1 } == ["invalid_image": 2, "in_use": 2])
        for code in codes { #expect(code.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(code)") }
    }

    @Test func errorDescriptionsAreUniqueSentences() throws {
        let descriptions = try Self.errors().map(\.description)
        #expect(Set(descriptions).count == descriptions.count)
        for description in descriptions {
            #expect(!description.isEmpty && !description.hasSuffix(".") && !description.contains(". "))
        }
        let clip = try BundleID("com.example.MyApp.Clip")
        for (error, description) in [
            (.tenantExists(try TenantSlug("donut-shop")), "a tenant 'donut-shop' already exists"),
            (
                .secondDefaultExperience(clip),
                "the clip com.example.MyApp.Clip has a default experience already"
            ),
            (
                .inUse("location 'restaurant_a'", by: Self.dependents),
                """
                the location 'restaurant_a' is in use by 4 experiences (advanced https://example.com/a, \
                demo https://example.com/b, …) and 1 channel (c): delete these first, or delete all by cascade
                """
            ),
            (
                .invalidHeader(reason: "'name' is missing"),
                "the first line must name the columns: 'name' is missing"
            ),
        ] as [(AdministrationError, String)] {
            #expect(error.description == description)
        }
    }
}

import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Persistence
import PostgreSQL
import PropertyTesting
import Synchronization
import Tenancy
import TestSupport
import Testing

/// Moves a tenant from one database to another.
@Suite struct TenantArchiveTests {
    /// Accepts signatures only for one tenant, because a tenant's signing key is derived from its ID.
    private struct Signatures: LocationSignatures {
        let tenant: TenantID
        func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool {
            tenant == self.tenant
        }
    }

    private static func archive(of slug: String, _ stores: Stores) async throws -> [UInt8] {
        let bytes = Mutex<[UInt8]>([])
        _ = try await stores.administration.withCatalogue(of: TenantSlug(slug)) { catalogue in
            try await catalogue.exportTenant { more in bytes.withLock { $0 += more } }
        }
        return bytes.withLock { $0 }
    }

    private static func reader(_ bytes: [UInt8]) -> TenantArchiveReader {
        let rest = Mutex<[UInt8]?>(bytes)
        return TenantArchiveReader {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }

    private static let texts = ["a", "b c", "é", "e\u{301}", "%2F", "x\"y", "\\N", "日本", "1"]
    private static let hosts = ["a.example", "b.example"]

    /// Adds clips, locations, URLs with every kind of binding, and codes, for 10,000 different lookups.
    private static func fill(_ stores: Stores, _ tenant: TenantID, _ random: inout SplitMix64) async throws {
        for (number, clip) in ["com.example.A.Clip", "com.example.B.Clip"].enumerated() {
            try await stores.createClip(clip, multiBusiness: number == 1, of: tenant)
        }
        let identifiers = texts + (0..<2_000).map { "place-\($0)" }
        var locations: [LocationRecord] = []
        for identifier in identifiers {
            locations.append(
                try .sample(
                    identifier, name: "At \(identifier)", latitude: .random(in: -90...90, using: &random),
                    longitude: .random(in: -180...180, using: &random),
                    radius: .random(in: 0.001...500, using: &random),
                    metadata: random.oneIn(3) ? [identifier: .string("\t\r\n\(identifier)")] : [:],
                    details: random.oneIn(3) ? [identifier: .string("\t\r\n\(identifier)")] : [:]))
        }
        #expect(try await stores.importLocations(locations, of: tenant) == .done(identifiers.count, 0, 0))
        var experiences = try [
            ExperienceRecord.sample(
                "https://a.example", kind: .default, clip: "com.example.A.Clip", rule: "query:l"),
            .sample(
                "https://a.example/p", clip: "com.example.A.Clip", rule: "path:1", title: "T, \"t\"",
                subtitle: "s"),
            .sample("https://b.example/h", clip: "com.example.B.Clip", rule: "hash:c"),
            .sample("https://b.example/s", clip: "com.example.B.Clip", rule: "coordinates:lat,lon,r"),
            .sample("https://b.example/u", clip: "com.example.B.Clip"),
            .sample("https://b.example/demo", kind: .demo, clip: "com.example.B.Clip", location: "a"),
        ]
        for number in 0..<500 {
            experiences.append(
                try .sample(
                    "https://\(random.pick(hosts))/bound/\(number)?q=\(number % 7)",
                    clip: "com.example.B.Clip",
                    location: random.pick(identifiers)))
        }
        #expect(try await stores.importExperiences(experiences, of: tenant) == .done(experiences.count, 0, 0))
        let codes = try (0..<300).map { number in
            try ShortCode.sample("c\(number)", "https://a.example/p/place-\(number * 7)")
        }
        #expect(try await stores.importShortCodes(codes, of: tenant) == .done(300, 0, 0))
    }

    private static func question(_ random: inout SplitMix64) -> String {
        let place =
            random.oneIn(5)
            ? random.pick(["a", "%C3%A9", "e%CC%81", "%252F"]) : "place-\(random.below(2_400))"
        return switch random.below(8) {
        case 0: "https://a.example/any?l=\(place)"
        case 1: "https://appclip.apple.com/id?p=com.example.A.Clip&l=\(place)"
        case 2: "https://a.example/p/\(place)/more"
        case 3: "https://b.example/h?c=c\(random.below(320))"
        case 4: "https://b.example/s?lat=\(random.below(100))&lon=2&r=50&sig=AA"
        case 5: "https://\(random.pick(hosts))/bound/\(random.below(520))/x?q=\(random.below(7))"
        case 6: random.pick(["https://b.example/demo", "https://b.example/demo?x", "https://b.example/u/1"])
        default: "https://\(random.pick(hosts))/\(place)"
        }
    }

    @Test func importedTenantGivesTheSameLookups() async throws {
        try await Stores.withTenant { origin, tenant in
            var random = SplitMix64(seed: 11)
            try await Self.fill(origin, tenant, &random)
            try await origin.administer(
                tenant,
                """
                INSERT INTO doorstep.domains (tenant_id, host, challenge, proved_at, method, content, pages)
                VALUES ('\(tenant)', 'a.example', 'c', now(), 'dns',
                    '{"webcredentials": {"apps": ["ABCDE12345.com.example.Bank"]}}', 'redirecting_short_codes');
                UPDATE doorstep.clips SET app_id_prefix = 'OLDPREFIX1', parent_bundle_id = 'com.example'
                WHERE bundle_id = 'com.example.A.Clip'
                """)
            let archive = try await Self.archive(of: "acme", origin)
            try await Stores.withStores { copy in
                let outcome = try await copy.administration.createTenant(
                    from: Self.reader(archive), slug: nil, keepsID: true)
                guard case .done(let imported, let counts) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(imported.id == tenant && imported.slug.text == "acme")
                #expect(
                    counts.map { "\($0.relation) \($0.count)" } == [
                        "card_images 0", "clips 2", "domains 1", "locations 2009", "experiences 506",
                        "short_codes 300",
                    ])
                #expect(
                    try await copy.administration.clips(of: tenant).map(\.appIDPrefix.text) == [
                        "OLDPREFIX1", "ABCDE12345",
                    ])
                #expect(
                    try await copy.administration.clips(of: tenant).map(\.parentBundleID.text) == [
                        "com.example", "com.example.B",
                    ])
                #expect(
                    try await copy.administration.domains(of: tenant).first?.content?.json["webcredentials"]
                        != nil)
                #expect(
                    try await copy.administration.domains(of: tenant).map(\.pages)
                        == [.redirectingShortCodes])
                // The archive contains the claim of the domain, but not its proof.
                #expect(
                    try await copy.count("SELECT count(*) FROM doorstep.domains WHERE proved_at IS NULL") == 1
                )

                let trust = LocationTrust.signed(Signatures(tenant: tenant))
                let before = try await origin.loadTable().of(tenant, trusting: trust)
                let after = try await copy.loadTable().of(tenant, trusting: trust)
                var outcomes: [String: Int] = [:]
                for _ in 0..<10_000 {
                    let url = try InvocationURL(Self.question(&random))
                    let response = before.lookUp(url)
                    #expect(response == after.lookUp(url), "\(url.canonical)")
                    outcomes["\(response)".prefix { $0 != "(" }.description, default: 0] += 1
                }
                // Each kind of result occurred often enough.
                #expect(outcomes.count == 4 && outcomes.values.allSatisfy { $0 > 200 }, "\(outcomes)")

                // Nothing is lost: exporting the copy gives the same archive.
                #expect(try await Self.archive(of: "acme", copy) == archive)
            }
        }
    }

    @Test func copyBesideTheTenantGetsAnotherSlugAndID() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a")], of: tenant)
            _ = try await stores.administration.setSuspended(true, TenantSlug("acme"))
            try await stores.administer(
                tenant, "UPDATE doorstep.tenants SET cors_origins = ARRAY['https://order.example']")
            try await stores.markAsTest(tenant)
            let archive = try await Self.archive(of: "acme", stores)
            let store = stores.administration
            let slug = try TenantSlug("acme")
            await #expect(throws: AdministrationError.tenantExists(slug)) {
                try await store.createTenant(from: Self.reader(archive), slug: nil, keepsID: false)
            }
            await #expect(throws: AdministrationError.tenantIDTaken(tenant)) {
                try await store.createTenant(
                    from: Self.reader(archive), slug: TenantSlug("copy"), keepsID: true)
            }
            #expect(AdministrationError.tenantIDTaken(tenant).code == "tenant_id_taken")
            let outcome = try await store.createTenant(
                from: Self.reader(archive), slug: TenantSlug("copy"), keepsID: false)
            guard case .done(let copy, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(copy.id != tenant && copy.slug.text == "copy" && copy.suspendedAt != nil && copy.isTest)
            #expect(copy.corsOrigins.map(\.text) == ["https://order.example"])
            for id in [tenant, copy.id] {
                #expect(
                    try await store.locations(of: id, after: nil, limit: 9).map(\.identifier.text) == ["a"])
            }
        }
    }

    /// The author of a file chooses the ID in it. With another tenant's ID, the author could use that tenant's signatures and
    /// receipts.
    @Test func freeTenantIDIsKeptOnlyOnRequest() async throws {
        try await Stores.withTenant { origin, tenant in
            let archive = try await Self.archive(of: "acme", origin)
            for keepsID in [false, true] {
                try await Stores.withStores { copy in
                    let outcome = try await copy.administration.createTenant(
                        from: Self.reader(archive), slug: nil, keepsID: keepsID)
                    guard case .done(let imported, _) = outcome else {
                        Issue.record("\(outcome)")
                        return
                    }
                    #expect((imported.id == tenant) == keepsID)
                }
            }
        }
    }

    /// Errors that only the database can find have a line, too. After any error, nothing is imported.
    @Test func archiveIsImportedWholeOrNotAtAll() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            try await stores.importExperiences(
                [.sample("https://example.com/a", location: "a"), .sample("https://example.com/b")],
                of: tenant)
            let lines = String(decoding: try await Self.archive(of: "acme", stores), as: UTF8.self)
                .split(separator: "\n").map(String.init)
            let slug = try TenantSlug("other")
            let entries = try await stores.count("SELECT count(*) FROM doorstep.audit_log")
            for (line, from, to, problems) in [
                (5, "\"b\"", "\"a\"", ["5: identifier: it is on line 4 already"]),
                (6, "\"a\"", "\"none\"", ["6: location: the tenant has no location none"]),
                (6, "MyApp", "Other", ["6: clip: the tenant has no clip com.example.Other.Clip"]),
                (7, "example.com/b", "example.com/a", ["7: url: it is on line 6 already"]),
                // A row that refers to an invalid row is not invalid itself.
                (
                    4, "\"radius\":100", "\"radius\":0",
                    ["4: radius: a radius is more than 0 and at most 500 metres"]
                ),
            ] {
                var lines = lines
                #expect(lines[line - 1].contains(from))
                lines[line - 1] = lines[line - 1].replacing(from, with: to)
                let outcome = try await stores.administration.createTenant(
                    from: Self.reader(Array(lines.joined(separator: "\n").utf8)), slug: slug,
                    keepsID: false)
                guard case .refused(let found) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(found.first.map { "\($0.line): \($0.reason)" } == problems)
                #expect(found.count == problems.count)
            }
            let cut = Array(lines.dropLast().joined(separator: "\n").utf8)
            await #expect(
                throws: AdministrationError.invalidArchive(line: 8, reason: "the archive is incomplete")
            ) {
                try await stores.administration.createTenant(
                    from: Self.reader(cut), slug: slug, keepsID: false)
            }
            #expect(try await stores.administration.tenants().map(\.slug.text) == ["acme"])
            #expect(try await stores.count("SELECT count(*) FROM doorstep.audit_log") == entries)
        }
    }

    /// Changes during an export are not part of it.
    @Test func exportIsASnapshot() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            let (locations, experiences) = try await stores.administration.withCatalogue(
                of: TenantSlug("acme")
            ) {
                catalogue in
                _ = try await catalogue.clips()
                try await stores.importLocations([.sample("b")], of: tenant)
                try await stores.importExperiences(
                    [.sample("https://example.com/b", location: "b")], of: tenant)
                var counts = (0, 0)
                try await catalogue.each(LocationRecord.self) { _ in counts.0 += 1 }
                try await catalogue.each(ExperienceRecord.self) { _ in counts.1 += 1 }
                return counts
            }
            #expect(locations == 1 && experiences == 0)
        }
    }
}

import Administration
import Foundation
import Invocation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct ExperienceTests {
    private static let clip = "com.example.MyApp.Clip"

    /// Runs the closure with a tenant that has two clips and a location.
    private static func withClips(_ body: (Stores, TenantID) async throws -> Void) async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(clip, of: tenant)
            try await stores.createClip("com.example.Other.Clip", of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            try await body(stores, tenant)
        }
    }

    private static let samples: [ExperienceRecord] = {
        let samples: [ExperienceRecord?] = [
            try? .sample("https://appclip.apple.com/id?p=\(clip)&z=1&a=2", kind: .default, title: "T"),
            try? .sample("https://example.com"),
            try? .sample("https://example.com", kind: .demo),
            try? .sample(
                "https://example.com/%E2%82%AC/a%2Fb//c?x=%22%5C&y={}&x", location: "a", subtitle: "S\\N"),
            try? .sample(
                "https://example.com/b?q=%7B%22a,b%22%7D", clip: "com.example.Other.Clip", rule: "path:2"),
            try? .sample(
                "https://example.com/c", rule: "coordinates:lat,lon,r",
                title: String(repeating: "é", count: 30)),
            try? .sample("https://example.com/d", rule: "hash:c"),
            try? .sample("https://example.com/e", rule: "query:loc%20ation"),
        ]
        return samples.compactMap(\.self)
    }()

    @Test func createdExperiencesAreReadInOrder() async throws {
        #expect(Self.samples.count == 8)
        try await Self.withClips { stores, tenant in
            for record in Self.samples.shuffled() {
                try await stores.administration.createExperience(record, of: tenant)
            }
            let stored = try await stores.administration.experiences(of: tenant)
            // Sorted by kind, then by URL.
            let names = stored.map { "\($0.experience.kind.rawValue) \($0.experience.url.canonical)" }
            #expect(names == names.sorted())
            #expect(Set(stored) == Set(Self.samples) && stored.count == Self.samples.count)
        }
    }

    @Test func importedExperiencesEqualCreatedOnes() async throws {
        try await Self.withClips { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.createClip(Self.clip, of: other)
            try await stores.createClip("com.example.Other.Clip", of: other)
            try await stores.importLocations([.sample("a")], of: other)

            #expect(try await stores.importExperiences(Self.samples, of: tenant) == .done(8, 0, 0))
            #expect(try await stores.importExperiences(Self.samples, of: tenant) == .done(0, 0, 8))
            for record in Self.samples { try await stores.administration.createExperience(record, of: other) }
            // Both tenants' rows must be equal in every column except the tenant.
            let different = try await stores.count(
                """
                SELECT count(*) FROM (
                    SELECT to_jsonb(e) - 'tenant_id' AS row FROM doorstep.experiences e
                    GROUP BY row HAVING count(*) <> 2
                ) t
                """)
            #expect(different == 0)
        }
    }

    @Test func creationErrorsAreNamed() async throws {
        try await Self.withClips { stores, tenant in
            let store = stores.administration
            try await store.createExperience(.sample("https://example.com", kind: .default), of: tenant)
            let refusals: [(ExperienceRecord, AdministrationError)] = try [
                (.sample("https://example.com", kind: .default), .experienceExists),
                (
                    .sample("https://example.com", kind: .default, clip: "com.example.Other.Clip"),
                    .experienceExists
                ),
                (
                    .sample("https://example.com/2", kind: .default),
                    .secondDefaultExperience(BundleID(Self.clip))
                ),
                (
                    .sample("https://example.com/3", clip: "com.example.None.Clip"),
                    .unknownClip(BundleID("com.example.None.Clip"))
                ),
                (
                    .sample("https://example.com/4", location: "none"),
                    .unknownLocation(LocationIdentifier("none"))
                ),
            ]
            for (record, refusal) in refusals {
                await #expect(throws: refusal) { try await store.createExperience(record, of: tenant) }
            }
            // A default experience of another clip, and another kind with the same URL, do not conflict.
            try await store.createExperience(
                .sample("https://example.com/2", kind: .default, clip: "com.example.Other.Clip"), of: tenant)
            try await store.createExperience(.sample("https://example.com", kind: .advanced), of: tenant)
            #expect(try await store.experiences(of: tenant).count == 3)
        }
    }

    @Test func anotherTenantsClipsAndLocationsAreUnknown() async throws {
        try await Self.withClips { stores, tenant in
            let other = try await stores.createTenant("other")
            let bundleID = try BundleID(Self.clip)
            await #expect(throws: AdministrationError.unknownClip(bundleID)) {
                try await stores.administration.createExperience(.sample("https://example.com"), of: other)
            }
            try await stores.createClip(of: other)
            let location = try LocationIdentifier("a")
            await #expect(throws: AdministrationError.unknownLocation(location)) {
                try await stores.administration.createExperience(
                    .sample("https://example.com", location: "a"), of: other)
            }
            let outcome = try await stores.importExperiences(
                [.sample("https://example.com", location: "a")], of: other)
            #expect(outcome.problems == ["2: location: the tenant has no location a"])
        }
    }

    @Test func importCountsAddedChangedAndUnchangedRows() async throws {
        try await Self.withClips { stores, tenant in
            let url = "https://example.com/a"
            let versions = try [
                ExperienceRecord.sample(url), .sample(url, clip: "com.example.Other.Clip"),
                .sample(url, location: "a"), .sample(url, rule: "path:1"), .sample(url, title: "T"),
                .sample(url, subtitle: "S"),
            ]
            let rest = try [ExperienceRecord.sample("https://example.com"), .sample(url, kind: .demo)]
            #expect(try await stores.importExperiences(rest + [versions[0]], of: tenant) == .done(3, 0, 0))
            for version in versions.dropFirst() {
                #expect(try await stores.importExperiences(rest + [version], of: tenant) == .done(0, 1, 2))
                #expect(try await stores.importExperiences([version] + rest, of: tenant) == .done(0, 0, 3))
                #expect(try await stores.administration.experiences(of: tenant).contains(version))
            }
        }
    }

    @Test func invalidRowsAreNamedByLineAndNothingIsImported() async throws {
        try await Self.withClips { stores, tenant in
            try await stores.administration.createExperience(
                .sample("https://example.com/default", kind: .default), of: tenant)
            let outcome = try await stores.importExperiences(
                [
                    .sample("https://example.com/1"),
                    .sample("https://example.com/1", title: "again"),
                    .sample("https://example.com/1", kind: .demo),
                    .sample("https://example.com/2", clip: "com.example.None.Clip"),
                    .sample("https://example.com/3", location: "none"),
                    .sample("https://example.com/4", kind: .default),
                    .sample("https://example.com/5", kind: .default, clip: "com.example.Other.Clip"),
                    .sample("https://example.com/6", kind: .default, clip: "com.example.Other.Clip"),
                ], of: tenant)
            #expect(
                outcome.problems == [
                    "3: url: it is on line 2 already",
                    "5: clip: the tenant has no clip com.example.None.Clip",
                    "6: location: the tenant has no location none",
                    "7: kind: the clip com.example.MyApp.Clip has a default experience already",
                    "9: kind: the clip com.example.Other.Clip has a default experience already",
                ])
            #expect(try await stores.administration.experiences(of: tenant).count == 1)
        }
    }

    @Test func rowWithSeveralProblemsIsReportedOnce() async throws {
        try await Self.withClips { stores, tenant in
            let bad = try ExperienceRecord.sample(
                "https://example.com/1", kind: .default, clip: "com.example.None.Clip", location: "none")
            let outcome = try await stores.importExperiences([bad, bad], of: tenant)
            #expect(
                outcome.problems == [
                    "2: clip: the tenant has no clip com.example.None.Clip",
                    "3: url: it is on line 2 already",
                ])
            guard case .refused(let problems) = outcome else { return }
            #expect(problems.count == 2)
        }
    }

    /// Each import creates its temporary table anew, although the connection has prepared statements for the earlier one.
    @Test func consecutiveImportsShareOneConnection() async throws {
        try await Self.withClips { stores, tenant in
            try await stores.database.withPool(as: .admin, { $0.maximumConnections = 1 }) { pool in
                let one = Stores(
                    database: stores.database, adminPool: pool, appPool: stores.appPool,
                    routerPool: stores.routerPool)
                for number in 0..<3 {
                    let url = "https://example.com/\(number)"
                    #expect(
                        try await one.importLocations([.sample("l\(number)")], of: tenant) == .done(1, 0, 0))
                    #expect(try await one.importExperiences([.sample(url)], of: tenant) == .done(1, 0, 0))
                    let refused = try await one.importExperiences([.sample(url), .sample(url)], of: tenant)
                    #expect(refused.problems?.count == 1)
                }
            }
        }
    }
}

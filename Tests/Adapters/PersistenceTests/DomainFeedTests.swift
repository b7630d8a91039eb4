import Administration
import Foundation
import Invocation
import Lookups
import Persistence
import Tenancy
import TestSupport
import Testing
import ValueFixtures

/// Servers follow changes of domains.
@Suite struct DomainFeedTests {
    @Test func serversFollowProvedDomains() async throws {
        try await DomainTests.withDomain { stores, tenant, world, verification, record in
            try await stores.createClip(of: tenant)
            try await stores.administration.createExperience(.sample("https://example.com/a"), of: tenant)
            try await stores.administration.createExperience(.sample("https://www.example.com/b"), of: tenant)
            let followed = FollowedTable(stores.routerPool)
            #expect(try await followed.refreshed().site(ofHost: "example.com") == nil)

            world.publish(record)
            _ = try await verification.verify(record.name, of: tenant, at: DomainTests.now)
            let site = try #require(try await followed.refreshed().site(ofHost: "example.com"))
            #expect(followed.events().last == "changed 1 rows, 0 relations, 0 unreadable")
            #expect(site.tenant == tenant)
            #expect(site.urls == ["https://example.com/a"])
            #expect(site.clips.map(\.teamID.text) == ["ABCDE12345"])
            #expect(site.clips.map(\.parentBundleID.text) == ["com.example.MyApp"])

            // Repeated checks that find or miss the proof do not change the index.
            _ = try await verification.verify(record.name, of: tenant, at: DomainTests.now + 1)
            world.clear()
            _ = try await verification.verify(record.name, of: tenant, at: DomainTests.now + 2)
            #expect(try await followed.refreshed().site(ofHost: "example.com") != nil)
            #expect(followed.events() == [])

            try await stores.administration.createExperience(.sample("https://example.com/c"), of: tenant)
            try await stores.administer(
                tenant,
                "UPDATE doorstep.clips SET team_id = 'ZYXWV98765', parent_bundle_id = 'com.example'")
            let changed = try #require(try await followed.refreshed().site(ofHost: "example.com"))
            #expect(changed.urls?.count == 2)
            #expect(changed.clips.map { "\($0.teamID) \($0.parentBundleID)" } == ["ZYXWV98765 com.example"])
            // An index that is loaded now has the same site.
            let fresh = try #require(try await stores.loadTable().site(ofHost: "example.com"))
            #expect(Set(fresh.urls ?? []) == ["https://example.com/a", "https://example.com/c"])

            _ = try await verification.verify(
                record.name, of: tenant, at: DomainTests.now + 8 * DomainTests.day)
            #expect(try await followed.refreshed().site(ofHost: "example.com") == nil)
        }
    }

    /// The index contains the stored content of a domain, and the App ID prefix of a clip with an older prefix.
    @Test func serversFollowAssociationFileContent() async throws {
        try await DomainTests.withDomain { stores, tenant, world, verification, record in
            let store = stores.administration
            world.publish(record)
            _ = try await verification.verify(record.name, of: tenant, at: DomainTests.now)
            try await store.createClip(
                Clip(
                    bundleID: BundleID("com.example.Old.Clip"), parentBundleID: BundleID("com.example"),
                    teamID: TeamID("ABCDE12345"),
                    appIDPrefix: AppIDPrefix("OLDPREFIX1"), isMultiBusiness: false), of: tenant)
            let followed = FollowedTable(stores.routerPool)
            let before = try #require(try await followed.refreshed().site(ofHost: "example.com"))
            #expect(before.content == nil)
            #expect(before.clips.map { "\($0.teamID) \($0.appIDPrefix)" } == ["ABCDE12345 OLDPREFIX1"])
            #expect(before.clips.map(\.parentBundleID.text) == ["com.example"])
            _ = followed.events()

            let content = try AssociationContent(parsing: #"{"é":[1.50,"\"",null]}"#.utf8)
            _ = try await store.setContent(content, ofDomain: record.name, of: tenant)
            let kept = try #require(try await followed.refreshed().site(ofHost: "example.com"))
            #expect(followed.events().last == "changed 1 rows, 0 relations, 0 unreadable")
            #expect(try AssociationContent(parsing: #require(kept.content).utf8) == content)
            #expect(
                try await stores.loadTable().site(ofHost: "example.com")?.content == kept.content)

            try await stores.administer(tenant, "UPDATE doorstep.clips SET app_id_prefix = NULL")
            _ = try await store.setContent(nil, ofDomain: record.name, of: tenant)
            let after = try #require(try await followed.refreshed().site(ofHost: "example.com"))
            #expect(after.content == nil && after.clips.map(\.appIDPrefix.text) == ["ABCDE12345"])
        }
    }

    /// One change ends the first tenant's proof and stores the second tenant's proof.
    @Test func domainThatChangesTenantIsFollowed() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            var (owner, next) = (tenant, other)
            for _ in 0..<4 {
                let record = try await stores.claim("example.com", of: owner)
                _ = try await store.changeDomain(record.name, of: owner) {
                    $0.proved(by: .dns, at: DomainTests.now)
                }
                #expect(try await followed.refreshed().site(ofHost: "example.com")?.tenant == owner)
                try await store.releaseDomain(record.name, of: owner)
                (owner, next) = (next, owner)
                let theirs = try await stores.claim("example.com", of: owner)
                _ = try await store.changeDomain(theirs.name, of: owner) {
                    $0.proved(by: .file, at: DomainTests.now)
                }
                #expect(try await followed.refreshed().site(ofHost: "example.com")?.tenant == owner)
                try await store.releaseDomain(record.name, of: owner)
            }
            #expect(try await followed.refreshed().site(ofHost: "example.com") == nil)
        }
    }
}

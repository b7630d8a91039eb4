import Administration
import Foundation
import Invocation
import Lookups
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct TenantTests {
    @Test func createdTenantsAreListedBySlug() async throws {
        try await Stores.withStores { stores in
            let store = stores.administration
            let donuts = try await store.createTenant(slug: TenantSlug("donuts"), name: DisplayName("Dönüts"))
            let bikes = try await store.createTenant(slug: TenantSlug("bikes"), name: DisplayName("Bikes"))
            #expect(try await store.tenants() == [bikes, donuts])
            #expect(try await store.tenant(TenantSlug("donuts")) == donuts)
            #expect(donuts.name.text == "Dönüts" && donuts.suspendedAt == nil)
            #expect(abs(donuts.createdAt.timeIntervalSinceNow) < 600)
        }
    }

    @Test func slugIsUnique() async throws {
        try await Stores.withTenant { stores, _ in
            let slug = try TenantSlug("acme")
            await #expect(throws: AdministrationError.tenantExists(slug)) {
                try await stores.createTenant("acme")
            }
            #expect(try await stores.administration.tenants().count == 1)
        }
    }

    @Test func unknownTenantIsNamedInError() async throws {
        try await Stores.withStores { stores in
            let slug = try TenantSlug("nobody")
            await #expect(throws: AdministrationError.unknownTenant(slug)) {
                try await stores.administration.tenant(slug)
            }
            await #expect(throws: AdministrationError.unknownTenant(slug)) {
                try await stores.administration.setSuspended(true, slug)
            }
        }
    }

    @Test func changedLimitsReachTheServer() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let slug = try #require(try await store.tenants().first).slug
            #expect(try await store.tenant(slug).limits == RequestLimits())
            let key = KeyTests.key(number: 1)
            _ = try await store.createKey(key, scopes: nil, expiresAt: nil, of: tenant)
            let followed = FollowedTable(stores.routerPool)
            _ = try await followed.refreshed()
            let both = RequestLimits(
                key: RateLimit(perSecond: 1, burst: 1_000_000),
                client: RateLimit(perSecond: 1_000_000, burst: 1),
                newInstances: RateLimit(perSecond: 2, burst: 3),
                clientNewInstances: RateLimit(perSecond: 4, burst: 5))
            for limits in [
                both, RequestLimits(client: both.client), RequestLimits(key: .off),
                RequestLimits(clientNewInstances: both.clientNewInstances), RequestLimits(),
            ] {
                #expect(try await store.changeLimits(of: slug) { $0 = limits }.limits == limits)
                #expect(try await store.tenants().map(\.limits) == [limits])
                #expect(try await followed.refreshed().holder(of: key)?.limits == limits)
            }
            let unknown = try TenantSlug("unknown")
            await #expect(throws: AdministrationError.unknownTenant(unknown)) {
                try await store.changeLimits(of: unknown) { $0 = both }
            }
        }
    }

    @Test func repeatedSuspensionKeepsTheFirstTime() async throws {
        try await Stores.withTenant { stores, _ in
            let (store, slug) = (stores.administration, try TenantSlug("acme"))
            let first = try await store.setSuspended(true, slug)
            #expect(first.suspendedAt != nil)
            #expect(try await store.setSuspended(true, slug) == first)
            let resumed = try await store.setSuspended(false, slug)
            #expect(resumed.suspendedAt == nil)
            #expect(try await store.setSuspended(false, slug) == resumed)
            #expect(try await store.tenant(slug) == resumed)
        }
    }

    @Test func clipsAreIsolatedByTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.createClip("com.example.B.Clip", multiBusiness: true, of: tenant)
            try await stores.createClip("com.example.A.Clip", of: tenant)
            try await stores.createClip("com.example.A.Clip", of: other)
            let clips = try await stores.administration.clips(of: tenant)
            #expect(clips.map(\.bundleID.text) == ["com.example.A.Clip", "com.example.B.Clip"])
            #expect(clips.map(\.isMultiBusiness) == [false, true])
            #expect(clips.map(\.parentBundleID.text) == ["com.example.A", "com.example.B"])
            let bundleID = try BundleID("com.example.A.Clip")
            await #expect(throws: AdministrationError.clipExists(bundleID)) {
                try await stores.createClip("com.example.A.Clip", of: tenant)
            }
        }
    }
}

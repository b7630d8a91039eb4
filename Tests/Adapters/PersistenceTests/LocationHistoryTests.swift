import Administration
import Formats
import Foundation
import Invocation
import Persistence
import Tenancy
import Testing

@Suite struct LocationHistoryTests {
    @Test func locationHistoryNamesActorsAndChanges() async throws {
        try await Stores.withTenant { stores, tenant in
            let (store, a) = (stores.administration, try LocationIdentifier("a"))
            let other = try await stores.createTenant("other")
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            try await stores.importLocations([.sample("a", radius: 50, metadata: ["k": "v"])], of: tenant)
            try await stores.importLocations([.sample("a", radius: 7)], of: other)
            _ = try await store.deleteLocation(a, of: tenant, cascade: false)
            let entries = try await store.history(of: a, of: tenant, limit: 9)
            #expect(entries.map(\.action) == [.delete, .update, .insert])
            #expect(entries.allSatisfy { $0.actor == "operator:alice" && $0.login == "doorstep_test_admin" })
            #expect(entries.allSatisfy { abs($0.at.timeIntervalSinceNow) < 600 })
            #expect(entries[1].changes.map(\.column) == ["metadata", "radius"])
            #expect(entries[1].before?["radius"] == 100 && entries[1].after?["radius"] == 50)
            #expect(entries[0].after == nil && entries[2].before == nil)
            #expect(entries[0].changes.map(\.column).contains("identifier"))
            #expect(!entries[0].changes.map(\.column).contains("tenant_id"))
            #expect(try await store.history(of: a, of: tenant, limit: 1) == [entries[0]])
            #expect(try await store.history(of: a, of: other, limit: 9).count == 1)
            #expect(try await store.history(of: LocationIdentifier("c"), of: tenant, limit: 9).isEmpty)
        }
    }
}

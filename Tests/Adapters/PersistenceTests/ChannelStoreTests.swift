import APNsPayload
import Foundation
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import Testing

@Suite struct ChannelStoreTests {
    @Test func channelsAreIsolatedByTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            let neighbour = try await stores.createTenant("neighbour")
            let clip = try BundleID("com.example.MyApp.Clip")
            for tenant in [tenant, neighbour] { try await stores.createClip(of: tenant) }
            let store = PostgresChannelStore(stores.appPool)
            #expect(try await store.team(of: clip, of: tenant)?.team.text == "ABCDE12345")
            #expect(try await store.team(of: try BundleID("com.example.Other.Clip"), of: tenant) == nil)
            let channels = try ["YQ==", "Yg==", "Yw=="].enumerated().map { number, id in
                BroadcastChannel(
                    id: try #require(ChannelID(id)), clip: clip,
                    environment: number == 0 ? .sandbox : .production, storesLastMessage: number == 1,
                    createdAt: Date(timeIntervalSince1970: 1_772_368_200 + Double(number)))
            }
            for channel in channels { try await store.add(channel, of: tenant) }
            try await store.add(channels[0], of: tenant)
            let sorted = [channels[1], channels[2], channels[0]]
            #expect(try await store.channels(of: tenant) == sorted)
            #expect(try await store.channel(channels[1].id, of: tenant) == channels[1])
            #expect(try await store.channels(of: neighbour) == [])
            #expect(try await store.channel(channels[1].id, of: neighbour) == nil)
            try await store.remove(channels[1], of: neighbour)
            #expect(try await store.channels(of: tenant) == sorted)
            try await store.remove(channels[1], of: tenant)
            #expect(try await store.channels(of: tenant) == [channels[2], channels[0]])
        }
    }

    @Test func closedPoolIsReportedUnavailable() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = PostgresChannelStore(stores.appPool)
            await stores.appPool.close()
            await #expect(throws: StoreUnavailable.self) {
                try await store.channels(of: tenant)
            }
        }
    }
}

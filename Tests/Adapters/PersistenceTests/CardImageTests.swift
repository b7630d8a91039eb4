import Administration
import Cards
import Formats
import Foundation
import Persistence
import PostgreSQL
import StoreSupport
import Synchronization
import Tenancy
import TestSupport
import Testing

/// Images of cards, stored in PostgreSQL.
@Suite struct CardImageTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    private static func image(_ seed: Int = 0) throws -> CardImage {
        try CardImage(file: HeaderPicture.png(seed: seed), addedAt: now)
    }

    @Test func imageIsStoredOncePerTenant() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            let items = stores.administration.items.images
            let image = try Self.image()
            for tenant in [tenant, tenant, other] {
                #expect(
                    try await TenantItems(items, of: tenant, by: "t").add(image).json == image.json)
            }
            #expect(try await TenantItems(items, of: tenant, by: "t").list().map(\.key) == [image.key])
            // The audit log has an entry for the image, without the file.
            let entries = try await stores.adminPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                return try await transaction.execute(
                    "SELECT after::text FROM doorstep.audit_log WHERE relation LIKE 'card%'"
                ).map { try $0.decode(String.self) }
            }
            #expect(entries.count == 1 && entries[0].utf8.count < 400, "\(entries)")
            _ = try await TenantItems(items, of: other, by: "t").delete(image.key)
            #expect(try await items.item(image.key, of: tenant) != nil)
            #expect(try await items.item(image.key, of: other) == nil)
        }
    }

    @Test func imageInUseIsNotDeletedWithoutCascade() async throws {
        try await Stores.withTenant { stores, tenant in
            let items = stores.administration.items
            let images = TenantItems(items.images, of: tenant, by: "t")
            let image = try await images.add(Self.image())
            let card = Card(action: .view, image: image.key)
            try await stores.importLocations(
                [.sample("a", card: card), .sample("b", card: Card(image: image.key))], of: tenant)
            let error = await #expect(throws: AdministrationError.self) { try await images.delete(image.key) }
            guard case .inUse(_, let dependents) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(dependents.map(\.first) == [["a", "b"]])
            let rows = try await images.delete(image.key, cascade: true)
            #expect(
                rows == [
                    RowCount(relation: "locations", count: 2), RowCount(relation: "card_images", count: 1),
                ])
            #expect(
                try await stores.administration.locations(of: tenant, after: nil, limit: 9)
                    == [.sample("a", card: Card(action: .view)), .sample("b")])
            await #expect(throws: AdministrationError.unknownImage(image.key)) {
                try await images.delete(image.key)
            }
        }
    }

    @Test func tenantArchiveContainsImages() async throws {
        try await Stores.withTenant { stores, tenant in
            let items = stores.administration.items
            let image = try await TenantItems(items.images, of: tenant, by: "t").add(Self.image())
            let card = Card(image: image.key)
            try await TenantItems(items.clips, of: tenant, by: "t").create(
                Clip(
                    bundleID: BundleID("com.example.MyApp.Clip"), teamID: TeamID("ABCDE12345"),
                    isMultiBusiness: true, card: card))
            try await stores.importLocations([.sample("a", card: card)], of: tenant)
            let bytes = Mutex<[UInt8]>([])
            _ = try await stores.administration.withCatalogue(of: TenantSlug("acme")) { catalogue in
                try await catalogue.exportTenant { more in bytes.withLock { $0 += more } }
            }
            let archive = bytes.withLock { $0 }
            let outcome = try await Self.create("copy", from: archive, stores)
            guard case .done(let copy, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try await items.images.item(image.key, of: copy.id)?.key == image.key)
            #expect(
                try await items.clips.item(BundleID("com.example.MyApp.Clip"), of: copy.id)?.card == card)
            #expect(
                try await stores.administration.locations(of: copy.id, after: nil, limit: 9).map(\.card)
                    == [card])

            // Archives from versions without images are accepted. An invalid image is refused with its line.
            let lines = String(decoding: archive, as: UTF8.self).split(separator: "\n").map(String.init)
            let index = try #require(lines.firstIndex { $0.contains("\"type\":\"image\"") })
            var broken = lines
            broken[index] = #"{"file":"R0lGODlh","type":"image"}"#
            let refused = try await Self.create(
                "broken", from: Array(broken.joined(separator: "\n").utf8), stores)
            guard case .refused(let problems) = refused else {
                Issue.record("\(refused)")
                return
            }
            #expect(problems.first.first?.line == index + 1)
        }
    }

    private static func create(
        _ slug: String, from archive: [UInt8], _ stores: Stores
    ) async throws -> ArchiveOutcome {
        let rest = Mutex<[UInt8]?>(archive)
        let reader = TenantArchiveReader {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
        return try await stores.administration.createTenant(
            from: reader, slug: TenantSlug(slug), keepsID: false)
    }
}

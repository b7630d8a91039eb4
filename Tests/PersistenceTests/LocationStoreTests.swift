import Administration
import Foundation
import Geodesy
import Invocation
import Locations
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct LocationStoreTests {
    private struct NoSignatures: PlaceSignatures {
        func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool { false }
    }

    @Test func findsItsOwnTenantsLocation() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.importLocations([.sample("a", name: "Mine", radius: 1)], of: tenant)
            try await stores.importLocations([.sample("a", name: "Theirs"), .sample("b")], of: other)
            let (a, b, upper) = try (
                LocationIdentifier("a"), LocationIdentifier("b"), LocationIdentifier("A")
            )
            try await stores.locations.withCatalogue(of: tenant) { catalogue in
                let found = try await catalogue.location(a)
                #expect(found?.name == "Mine" && found?.region.radius.meters == 1)
                #expect(found?.identifier == a)
                #expect(try await catalogue.location(b) == nil)
                #expect(try await catalogue.location(upper) == nil)
            }
        }
    }

    @Test func resolvesItsOwnTenantsShortCodes() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.importShortCodes([.sample("c1")], of: tenant)
            for (tenant, expected) in [(tenant, "https://example.com/long"), (other, nil)] {
                try await stores.locations.withCatalogue(of: tenant) { catalogue in
                    let url = try await catalogue.url(ofShortCode: "c1")
                    #expect(url?.canonical == expected)
                    #expect(try await catalogue.url(ofShortCode: "C1") == nil)
                }
            }
        }
    }

    @Test func aHashRuleFollowsAnImportedCode() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.importExperiences(
                [
                    .sample("https://example.com/s", rule: "hash:c"),
                    .sample("https://example.com/long", rule: "path:1"),
                ], of: tenant)
            try await stores.importShortCodes(
                [
                    .sample("k 1", "https://EXAMPLE.com/long/a/?menu=today"),
                    .sample("k2", "https://example.com/s?c=k%201"),
                ], of: tenant)
            let directory = LocationDirectory(store: stores.locations, signatures: NoSignatures())
            // A code leads to no other code, and one that nobody imported leads nowhere.
            for (query, identifier) in [("k%201", "a"), ("k2", nil), ("K%201", nil)] {
                let found = try await directory.lookUp(
                    InvocationURL("https://example.com/s?c=\(query)"), of: tenant)
                #expect(found.location?.identifier.text == identifier, "\(query)")
            }
        }
    }

    /// What is looked up in one go is of one moment, whatever an import does meanwhile.
    @Test func lendsOneState() async throws {
        try await Stores.withTenant { stores, tenant in
            let a = try LocationIdentifier("a")
            try await stores.importLocations([.sample("a", radius: 1)], of: tenant)
            try await stores.locations.withCatalogue(of: tenant) { catalogue in
                #expect(try await catalogue.location(a)?.region.radius.meters == 1)
                #expect(
                    try await stores.importLocations([.sample("a", radius: 2)], of: tenant) == .done(0, 1, 0))
                let again = try await catalogue.location(a)
                #expect(again?.region.radius.meters == 1)
            }
            let after = try await stores.locations.withCatalogue(of: tenant) { try await $0.location(a) }
            #expect(after?.region.radius.meters == 2)
        }
    }

    @Test func confirmationsAreRecordedToTheMinuteWithoutACoordinate() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.administration.addExperience(
                .sample("https://example.com/a", location: "a"), of: tenant)
            let directory = LocationDirectory(store: stores.locations, signatures: NoSignatures())
            let now = Date(timeIntervalSince1970: 1_800_000_059.999)
            let here = try Coordinate(latitude: 37.3347, longitude: -122.0089)
            let far = try Coordinate(latitude: 37.5, longitude: -122.0089)
            let cases: [(String, InvocationSource, ConfirmationRequest.Evidence, String)] = [
                ("https://example.com/a", .nfc, .coordinate(here, horizontalAccuracy: nil), "inRegion"),
                ("https://example.com/a", .qrCode, .coordinate(far, horizontalAccuracy: nil), "notInRegion"),
                ("https://example.com/a", .appClipCode, .none, "undetermined"),
                ("https://example.com/a", .safari, .none, "disallowed"),
                ("https://example.org", .nfc, .none, "doesNotMatch"),
            ]
            for (url, source, evidence, _) in cases {
                _ = try await directory.confirm(
                    ConfirmationRequest(
                        url: InvocationURL(url), source: source, access: .allowed, evidence: evidence),
                    of: tenant, at: now)
            }
            let rows = try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT outcome, source, location_identifier, minute, to_jsonb(c)::text
                        FROM doorstep.confirmations c WHERE tenant_id = \(tenant.uuid)
                        """
                    ).map { try $0.decode(String.self, String.self, String?.self, Date.self, String.self) }
                }
            }
            #expect(
                Set(rows.map { "\($0.0) \($0.1) \($0.2 ?? "-")" }) == [
                    "inRegion nfc a", "notInRegion qr_code a", "undetermined app_clip_code a",
                    "disallowed safari a", "doesNotMatch nfc -",
                ])
            #expect(rows.allSatisfy { $0.3 == Date(timeIntervalSince1970: 1_800_000_000) })
            #expect(rows.allSatisfy { !$0.4.contains("37.") && !$0.4.contains("122.") })
        }
    }

    /// The cases are written out in a CHECK, too.
    @Test func theTableTakesEverySource() async throws {
        try await Stores.withTenant { stores, tenant in
            let directory = LocationDirectory(store: stores.locations, signatures: NoSignatures())
            for source in InvocationSource.allCases {
                _ = try await directory.confirm(
                    ConfirmationRequest(
                        url: InvocationURL("https://example.com"), source: source, access: .denied,
                        evidence: .none), of: tenant, at: .now)
            }
            let count = try await stores.count("SELECT count(DISTINCT source) FROM doorstep.confirmations")
            #expect(count == InvocationSource.allCases.count)
        }
    }
}

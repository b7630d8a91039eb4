import Formats
import Foundation
import PostgreSQL
import TestSupport
import Testing

/// From an empty database to a lookup, a confirmation and a payload, with the built binary.
@Suite struct MainPathTests {
    static let order = "https://example.com/restaurants/restaurant_a/order/1234"

    @Test func commandOutputEqualsServerResponse() async throws {
        try await Installation.lend { installation in
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                let byCommand = try await installation.binary.succeed(
                    "lookup", "--tenant", Installation.tenant, Self.order)
                let lookedUp = try await server.lookUp(Self.order, key: installation.publishable)
                #expect(lookedUp.status == 200)
                #expect(try byCommand.json() == lookedUp.json)

                let confirmed = try await server.post(
                    "/v1/confirmations", key: installation.publishable,
                    [
                        "url": .string(Self.order), "source": "nfc", "locationAccess": "allowed",
                        "coordinate": [
                            "latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 12,
                        ],
                    ])
                let confirmedByCommand = try await installation.binary.succeed(
                    "confirm", "--tenant", Installation.tenant, Self.order, "--source", "nfc", "--latitude",
                    "37.33475",
                    "--longitude", "-122.0089", "--horizontal-accuracy", "12")
                #expect(confirmed["outcome"] == "inRegion")
                #expect(try confirmedByCommand.json() == confirmed.json)

                let composed = try await server.post(
                    "/v1/payloads", key: installation.secret,
                    [
                        "url": .string(Self.order),
                        "aps": [
                            "alert": [
                                "title": "Order Status", "subtitle": "Restaurant A",
                                "body": "Your order is ready.",
                            ], "category": "order_status",
                        ],
                    ])
                let composedByCommand = try await installation.binary.succeed(
                    "payload", "--tenant", Installation.tenant, Self.order, "--title", "Order Status",
                    "--subtitle",
                    "Restaurant A", "--body", "Your order is ready.", "--category", "order_status")
                // The example of "Enabling notifications in App Clips". [Apple]
                let apples = """
                    {"aps":{"alert":{"title":"Order Status","subtitle":"Restaurant A","body":"Your order is ready."},\
                    "category":"order_status","target-content-id":\
                    "https://example.com/restaurants/restaurant_a/order/1234"}}
                    """
                #expect(composed["payload"] == (try JSONValue(parsing: apples.utf8)))
                #expect(try composedByCommand.json() == composed.json)
            }
            #expect(status == 0)
        }
    }

    /// "Configuring App Clip experiences": a registered URL covers all URLs that begin with it. Of several matches, the most
    /// specific one is chosen. [Apple]
    @Test func lookupMatchesApplesURLExamples() async throws {
        try await Installation.lend { installation in
            for (url, location) in [
                ("https://shop.example", "restaurant_a"), ("https://shop.example/location1", "restaurant_b"),
            ] {
                try await installation.binary.succeed(
                    "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                    "--url", url,
                    "--location", location)
            }
            _ = try await RunningServer.lend(installation.binary) { server in
                for (path, expected) in [
                    ("", "https://shop.example"), ("/menu", "https://shop.example"),
                    ("/contact", "https://shop.example"), ("/menu/breakfast", "https://shop.example"),
                    ("/location1", "https://shop.example/location1"),
                    ("/location1/menu", "https://shop.example/location1"),
                    ("/location10", "https://shop.example"),
                ] {
                    let response = try await server.lookUp(
                        "https://shop.example" + path, key: installation.publishable)
                    #expect(response["experience"]?.objectValue?["url"] == .string(expected), "\(path)")
                }
            }
        }
    }

    /// Coordinates in a URL count only with the tenant's signature.
    @Test func positionInURLCountsOnlyIfSigned() async throws {
        try await Installation.lend { installation in
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://bikes.example/b", "--identifier-rule", "coordinates:lat,lon,r")
            let url = "https://bikes.example/b/77?lat=52.520008&lon=13.404954&r=50"
            let signed = try await installation.binary.succeed(
                "location", "sign", "--tenant", Installation.tenant, url
            ).output.trimmingCharacters(in: .whitespacesAndNewlines)
            _ = try await RunningServer.lend(installation.binary) { server in
                let found = try await server.lookUp(signed, key: installation.publishable)
                #expect(found["location"]?.objectValue?["region"]?.objectValue?["radius"] == 50)
                let moved = signed.replacing("lat=52", with: "lat=53")
                let refused = try await server.lookUp(moved, key: installation.publishable)
                #expect(refused["code"] == "unknown_identifier")
                let unsigned = try await server.lookUp(url, key: installation.publishable)
                #expect(unsigned["code"] == "no_identifier")
            }
        }
    }

    /// No table and no log contains a person's coordinates or a key. The text of a query does not contain a key either.
    @Test func personalDataIsNeitherStoredNorLogged() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_LOG_LEVEL"] = "trace"
            let (log, _) = try await RunningServer.lend(binary) { server in
                let response = try await server.post(
                    "/v1/confirmations", key: installation.publishable,
                    [
                        "url": .string(Self.order), "source": "nfc", "locationAccess": "allowed",
                        "coordinate": ["latitude": 37.33471234, "longitude": -122.00891234],
                    ])
                #expect(response["outcome"] == "inRegion")
                _ = try await server.lookUp(Self.order + "?guest=canary", key: installation.publishable)
                return server.log
            }
            let dump = try await Self.everyRow(of: installation.databaseURL)
            #expect(dump.contains("inRegion"))
            #expect(log.text.contains("answered"))
            for canary in ["37.3347", "122.0089", "canary", String(installation.publishable.dropFirst(8))] {
                #expect(!log.text.contains(canary), "\(canary)")
                // The location's own coordinates are stored. Only the person's coordinates have these digits.
                #expect(
                    !dump.contains(
                        canary == "37.3347" ? "37.33471" : canary == "122.0089" ? "122.00891" : canary))
            }
        }
    }

    /// All tables of the schema as text.
    private static func everyRow(of databaseURL: String) async throws -> String {
        let pool = ConnectionPool(
            PoolConfiguration.forBusyMachines(conninfo: databaseURL, maximumConnections: 1))
        let text = try await pool.withConnection { connection in
            var text = ""
            let tables = try await connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'doorstep' ORDER BY tablename")
            for table in tables {
                let name = try table.decode(at: 0, as: String.self)
                for row in try await connection.execute("SELECT t::text FROM doorstep.\(identifier: name) t")
                {
                    text += try "\(name) \(row.decode(at: 0, as: String.self))\n"
                }
            }
            return text
        }
        await pool.close()
        return text
    }
}

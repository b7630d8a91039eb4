import Formats
import Foundation
import TestSupport

/// A migrated database with one tenant, and the command for it.
struct Installation: Sendable {
    var binary: DoorstepBinary
    let databaseURL: String
    let publishable: String
    let secret: String

    static let tenant = "restaurants"

    /// Runs the closure with a database whose tenant has Apple's restaurants. The command creates them.
    static func lend<Result: Sendable>(
        _ body: (Installation) async throws -> Result
    ) async throws -> Result {
        try await TestServer.withDatabase { databaseURL in try await body(make(databaseURL)) }
    }

    /// Creates the same tenant in an empty database.
    static func make(_ databaseURL: String) async throws -> Installation {
        let binary = DoorstepBinary(databaseURL: databaseURL)
        try await binary.succeed("migrate")
        try await binary.succeed("tenant", "create", tenant, "--name", "Restaurants")
        try await binary.succeed(
            "clip", "create", "--tenant", tenant, "--team-id", "ABCDE12345", "--bundle-id",
            "com.example.MyApp.Clip", "--multi-business")
        try await binary.succeed(
            "location", "import", "--tenant", tenant, "-",
            input: """
                identifier,name,latitude,longitude,radius
                restaurant_a,Restaurant A,37.334722,-122.008889,100
                restaurant_b,Restaurant B,48.858370,2.294481,250
                """)
        for name in ["restaurant_a", "restaurant_b"] {
            try await binary.succeed(
                "experience", "add", "--tenant", tenant, "--clip", "com.example.MyApp.Clip", "--url",
                "https://example.com/restaurants/\(name)", "--location", name)
        }
        return Installation(
            binary: binary, databaseURL: databaseURL, publishable: try await key("publishable", binary),
            secret: try await key("secret", binary))
    }

    private static func key(_ kind: String, _ binary: DoorstepBinary) async throws -> String {
        let response = try await binary.succeed("key", "create", "--tenant", tenant, "--kind", kind).json()
        guard let key = response.objectValue?["key"]?.stringValue else {
            throw DoorstepBinary.Failed(description: "no key in the answer of key create")
        }
        return key
    }
}

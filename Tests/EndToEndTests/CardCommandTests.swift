import Crypto
import Formats
import Foundation
import StoreSupport
import TestSupport
import Testing

/// Cards, images and App Store keys, managed with the command.
@Suite struct CardCommandTests {
    private static let tenant = ["--tenant", Installation.tenant]
    private static let json = ["--format", "json"]

    /// Runs the closure with a new folder.
    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "doorstep-cards-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func cardIsSetByFileAndTable() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            try await Self.withFolder { folder in
                let picture = HeaderPicture.png()
                let (image, card) = (folder.appending(path: "a.png"), folder.appending(path: "card.json"))
                try Data(picture).write(to: image)
                let added = try await binary.succeed(["image", "add", image.path] + Self.tenant + Self.json)
                    .json()
                let digest = SHA256.hash(data: picture).map { String(format: "%02x", $0) }.joined()
                #expect(added.objectValue?["sha256"] == .string(digest))
                try Data(HeaderPicture.png(hasAlpha: true)).write(to: image)
                let refused = try await binary.run(["image", "add", image.path] + Self.tenant)
                #expect(refused.status == 1 && refused.errors.contains("transparency"), "\(refused.errors)")

                try Data(
                    #"{"action": "OPEN", "image": "\#(digest)", "texts": {"EN": {"title": "Pizza"}}}"#.utf8
                )
                .write(to: card)
                let update = ["location", "update", "restaurant_a", "--card", card.path]
                let updated = try await binary.succeed(update + Self.tenant + Self.json).json()
                let kept = try #require(updated.objectValue?["card"])
                #expect(
                    kept == [
                        "action": "OPEN", "image": .string(digest), "texts": ["EN": ["title": "Pizza"]],
                    ])
                let inUse = try await binary.run(["image", "delete", digest] + Self.tenant)
                #expect(inUse.status == 1 && inUse.errors.contains("restaurant_a"), "\(inUse.errors)")

                // A CSV file without card columns keeps the cards. Importing an export changes nothing.
                try await binary.succeed(
                    ["location", "import", "-"] + Self.tenant,
                    input:
                        "identifier,name,latitude,longitude,radius\nrestaurant_a,A,37.334722,-122.008889,90\n"
                )
                let exported = try await binary.succeed(["location", "export"] + Self.tenant).output
                #expect(
                    exported.hasPrefix("identifier,name,latitude,longitude,radius,card.action,card.image,"))
                let again = try await binary.succeed(
                    ["location", "import", "-"] + Self.tenant + Self.json, input: exported
                ).json()
                #expect(again.objectValue?["changed"] == 0 && again.objectValue?["unchanged"] == 2)

                // A merge patch removes members that are null.
                try Data(#"{"image": null, "action": null}"#.utf8).write(to: card)
                let patched = try await binary.succeed(update + Self.tenant + Self.json).json()
                #expect(patched.objectValue?["card"] == ["texts": ["EN": ["title": "Pizza"]]])
                try await binary.succeed(["image", "delete", digest] + Self.tenant)

                let clip = try await binary.succeed(
                    ["clip", "update", "com.example.MyApp.Clip", "--app-store-id", "1234567890"] + Self.tenant
                        + Self.json
                ).json()
                #expect(clip.objectValue?["appStoreID"] == "1234567890")
            }
        }
    }

    @Test func clipIsConnectedByKeyThatIsNeverShown() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let connect = [
                "appstore", "connect", "--clip", "com.example.MyApp.Clip", "--key-id", "ABCDE12345", "--key",
            ]
            try await Self.withFolder { [binary] folder in
                let file = folder.appending(path: "key.p8").path
                let pem = P256.Signing.PrivateKey().pemRepresentation
                #expect(
                    FileManager.default.createFile(
                        atPath: file, contents: Data(pem.utf8), attributes: [.posixPermissions: 0o600]))
                let unsealed = try await binary.run(connect + [file] + Self.tenant)
                #expect(unsealed.status == 1 && unsealed.errors.contains("DOORSTEP_TOKEN_SECRET"))

                var binary = binary
                binary.environment["DOORSTEP_TOKEN_SECRET"] = "a secret of the tests that is long enough too"
                let connected = try await binary.succeed(connect + [file] + Self.tenant + Self.json)
                let listed = try await binary.succeed(["appstore", "list"] + Self.tenant + Self.json)
                #expect(try listed.json().arrayValue?.first == connected.json())
                #expect(try connected.json().objectValue?["issuerID"] == .null)
                for output in [connected.output, connected.errors, listed.output] {
                    #expect(!output.contains("PRIVATE"))
                    for line in pem.split(separator: "\n") { #expect(!output.contains(line)) }
                }

                let noKey = folder.appending(path: "none.p8").path
                #expect(
                    FileManager.default.createFile(
                        atPath: noKey, contents: Data("no key".utf8), attributes: [.posixPermissions: 0o600]))
                #expect(try await binary.run(connect + [noKey] + Self.tenant).status == 1)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
                let exposed = try await binary.run(connect + [file] + Self.tenant)
                #expect(exposed.status == 1 && !exposed.errors.contains("PRIVATE"))

                let disconnect = ["appstore", "disconnect", "--clip", "com.example.MyApp.Clip"] + Self.tenant
                try await binary.succeed(disconnect)
                #expect(try await binary.run(disconnect).status == 1)
            }
        }
    }
}

import Administration
import AppStoreConnect
import AppStoreSync
import ArgumentParser
import Formats
import Foundation
import Persistence
import Tenancy

struct AppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore",
        abstract:
            "Register a tenant's experiences with App Store Connect, and detect drift.",
        discussion: """
            'connect' stores a key, 'plan' shows the changes, 'apply' makes them, and 'drift' shows changes that \
            others made at Apple. Doorstep stores keys encrypted and never shows them again; DOORSTEP_TOKEN_SECRET \
            must be set. Apple lets you download a key's file only once. An individual key with the role Marketing \
            or App Manager has the fewest rights.

            Example: doorstep appstore connect --clip com.example.MyApp.Clip --key AuthKey_KEY1234567.p8 --key-id \
            KEY1234567
            """,
        subcommands: [
            Connect.self, List.self, Disconnect.self, Plan.self, Apply.self, Drift.self,
        ])

    fileprivate static let columns = ["clip", "keyID", "issuerID", "connectedAt"]

    struct Connect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "connect",
            abstract: "Connect a clip with a key of the App Store Connect API; replaces its previous key.",
            discussion: """
                With --issuer-id the key is a team key, without it an individual key.

                Example: doorstep appstore connect --clip com.example.MyApp.Clip --key AuthKey_KEY1234567.p8 \
                --key-id KEY1234567
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Bundle ID of the clip.") var clip: BundleID
        @Option(
            name: .customLong("key"), help: "Apple's .p8 file; only its owner may be able to read it.",
            completion: .file(extensions: ["p8"]))
        var file: String
        @Option(name: .customLong("key-id"), help: "Key ID, ten characters.") var keyID: String
        @Option(
            name: .customLong("issuer-id"),
            help: "Issuer ID of the team, a UUID; omit it for an individual key.")
        var issuerID: String?

        func run() async throws {
            guard let (bytes, _) = try SecretFile(path: file).read() else {
                throw CommandError.unreadableFile(file)
            }
            let pem = String(decoding: bytes, as: UTF8.self)
            // An invalid private key is refused now, not at the first request.
            _ = try AppStoreConnectKey(id: keyID, issuer: issuerID, pem: pem)
            let credentials = StoreCredentials(keyID: keyID, issuerID: issuerID, pem: pem)
            let connection = try await tenant.withStoreConnections { connections, tenant in
                try await connections.connect(
                    clip, by: credentials, of: tenant, actor: TenantOptions.actor)
            }
            output.print(connection.json, line: "Connected clip \(clip) by key \(keyID)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the connected clips and their keys.",
            discussion: "Example: doorstep appstore list")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let connections = try await tenant.withStoreConnections { try await $0.connections(of: $1) }
            output.print(connections.map(\.json), columns: columns)
        }
    }

    struct Disconnect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disconnect",
            abstract: "Delete a clip's key; registered experiences stay at Apple.",
            discussion: "Example: doorstep appstore disconnect --clip com.example.MyApp.Clip")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Bundle ID of the clip.") var clip: BundleID

        func run() async throws {
            try await tenant.withStoreConnections {
                try await $0.disconnect(clip, of: $1, actor: TenantOptions.actor)
            }
            output.print(["disconnected": .string(clip.text)], line: "Disconnected clip \(clip)")
        }
    }
}

extension TenantOptions {
    fileprivate func withStoreConnections<Result: Sendable>(
        _ body: (PostgresStoreConnections, TenantID) async throws -> Result
    ) async throws -> Result {
        guard let keys = try TokenSecrets.sealingKeys() else { throw CommandError.noTokenSecret }
        return try await withPool { pool, _, tenant in
            try await body(PostgresStoreConnections(pool, keys: keys), tenant.id)
        }
    }
}

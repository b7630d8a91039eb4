import Administration
import AppStoreConnect
import AppStoreSync
import ArgumentParser
import Foundation
import JSON
import Persistence
import Tenancy

struct AppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore",
        abstract:
            "Register a tenant's experiences with App Store Connect, and look that they stay as they are.",
        discussion: """
            'connect' says by which key; 'plan' tells what is to be done, 'apply' does it, 'drift' tells what somebody \
            has changed at Apple. A key is stored sealed, and never shown again: DOORSTEP_TOKEN_SECRET must be set. Apple gives a key's file out \
            once; an individual key of the role Marketing or App Manager reaches the least.
            """,
        subcommands: [
            Connect.self, List.self, Disconnect.self, Plan.self, Apply.self, Drift.self,
        ])

    fileprivate static let columns = ["clip", "keyID", "issuerID", "connectedAt"]

    struct Connect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Connect a clip by a key of the App Store Connect API, in the place of the one before.",
            discussion: "With --issuer-id it is a team key, without it an individual key.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The clip's bundle ID.") var clip: BundleID
        @Option(
            name: .customLong("key"), help: "Apple's .p8 file, which nobody else may read.",
            completion: .file(extensions: ["p8"]))
        var file: String
        @Option(name: .customLong("key-id"), help: "The key's ID, ten characters.") var keyID: String
        @Option(
            name: .customLong("issuer-id"), help: "The team's issuer ID, a UUID; none for an individual key.")
        var issuerID: String?

        func run() async throws {
            guard let (bytes, _) = try SecretFile(path: file).read() else {
                throw CommandError.unreadableFile(file)
            }
            let pem = String(decoding: bytes, as: UTF8.self)
            // What cannot sign is refused now, and not when it is needed.
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
            abstract: "List the clips that are connected, and by which keys.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let connections = try await tenant.withStoreConnections { try await $0.connections(of: $1) }
            output.print(connections.map(\.json), columns: columns)
        }
    }

    struct Disconnect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget a clip's key; what is registered with Apple stays.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "The clip's bundle ID.") var clip: BundleID

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

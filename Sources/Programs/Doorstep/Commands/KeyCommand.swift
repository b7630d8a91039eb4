import Administration
import ArgumentParser
import Foundation
import JSON
import Tenancy

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Create, list, rotate and revoke a tenant's API keys.",
        subcommands: [Create.self, List.self, Rotate.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key and show it, this once.",
            discussion: """
                A publishable key may ship in an app and reaches lookups, confirmations and the registration of \
                instances; a secret key stays on servers and reaches everything of its tenant.

                Of the scopes, look_up, confirm and register are for keys of both kinds, compose and notify for \
                secret keys only.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "What the key is for.") var kind: KeyKind
        @Option(
            name: .customLong("scope"),
            help: "What the key may do, of what its kind may; can be repeated. (default: all of that)")
        var scopes: [Scope] = []
        @Option(name: .customLong("expires-in-days"), help: "After how many days the key is refused.")
        var expiresInDays: Double?

        func validate() throws {
            if let refused = scopes.first(where: { !kind.scopes.contains($0) }) {
                throw ValidationError("a \(kind.rawValue) key cannot have the scope \(refused.rawValue)")
            }
            if let expiresInDays, !(expiresInDays > 0 && expiresInDays <= 36_500) {
                throw ValidationError("--expires-in-days is more than 0 and at most 36500")
            }
        }

        func run() async throws {
            var generator = SystemRandomNumberGenerator()
            let key = APIKey.generate(kind, using: &generator)
            let record = try await tenant.withTenant { store, tenant in
                try await store.createKey(
                    key, scopes: scopes.isEmpty ? nil : Scopes(scopes.map(Scopes.init)),
                    expiresAt: expiresInDays.map { Date().addingTimeInterval($0 * 86_400) }, of: tenant.id)
            }
            key.show(record)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List a tenant's keys, without the keys themselves.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let keys = try await tenant.withTenant { store, tenant in try await store.keys(of: tenant.id) }
            let now = Date()
            output.print(
                keys.map { JSONObject($0, at: now) },
                columns: [
                    "id", "kind", "scopes", "hint", "status", "created", "expires", "revoked", "lastUsed",
                ])
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key in place of another, which stays good for a while.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The old key's ID.") var id: KeyID
        @Option(help: "For how many hours both keys are good.") var overlap = 24.0

        func validate() throws {
            guard (0...8_760).contains(overlap) else {
                throw ValidationError("--overlap is from 0 to 8760 hours")
            }
        }

        func run() async throws {
            let (key, record) = try await tenant.withTenant { store, tenant in
                try await store.rotateKey(
                    id,
                    to: { kind in
                        var generator = SystemRandomNumberGenerator()
                        return APIKey.generate(kind, using: &generator)
                    },
                    oldExpiresAt: Date().addingTimeInterval(overlap * 3_600), of: tenant.id)
            }
            key.show(record)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Refuse a key from now on.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The key's ID.") var id: KeyID

        func run() async throws {
            let record = try await tenant.withTenant { store, tenant in
                try await store.revokeKey(id, of: tenant.id)
            }
            output.print(JSONObject(record, at: Date()), line: "Revoked key \(record.id)")
        }
    }
}

extension APIKey {
    /// The only time that a key is printed, as JSON.
    fileprivate func show(_ record: KeyRecord) {
        JSONValue.object([
            "id": .string(record.id.description), "kind": .string(kind.rawValue), "key": .string(text),
        ]).printPretty()
    }
}

import Administration
import ArgumentParser
import JSON
import Persistence
import ServerClient
import Tenancy

struct AttestKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attest-key",
        abstract:
            "List and revoke the keys of App Attest by which installations of a tenant's apps are known.",
        discussion: """
            A key is of one installation: its ID says nothing of the device or the person, but is always the same. What             a clip's requests must bring, 'doorstep clip attest' says.
            """,
        subcommands: [List.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a tenant's attested keys, by ID.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "How many, at most.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more") }
        }

        func run() async throws {
            let keys = try await tenant.withAPI { try await $0.list("/v1/attest-keys", limit: limit) }
            output.print(
                keys,
                columns: [
                    "id", "clip", "environment", "category", "bundleVersion", "attestedOn", "lastUsedOn",
                    "revokedAt",
                ])
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse a key, and the tokens given for it, from now on and for good.",
            discussion: """
                Every server does so within a second. The installation can attest a new key, as one that is new can:                 what is to be kept out for longer is for a 'category' or an 'environment' of 'doorstep clip attest'.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The key's ID, as lists show it or as the app has it.") var id: AttestKeyID

        func run() async throws {
            try await tenant.withAPI { try await $0.delete("/v1/attest-keys/\(id)") }
            output.print(["id": .string(id.description)], line: "Revoked key \(id)")
        }
    }
}

import Administration
import ArgumentParser
import Formats
import Persistence
import ServerClient
import Tenancy

struct AttestKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attest-key",
        abstract:
            "List and revoke the App Attest keys of a tenant's apps.",
        discussion: """
            A key belongs to one installation of an app on one device. Its ID does not identify the device or the \
            person, but it does not change. 'doorstep clip attest' sets which clips require attestation.

            Example: doorstep attest-key list
            """,
        subcommands: [List.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List a tenant's attested keys by ID.",
            discussion: "Example: doorstep attest-key list --limit 20")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of keys.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
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
            commandName: "revoke",
            abstract: "Revoke a key and its tokens, permanently.",
            discussion: """
                Every server refuses the key within a second. The installation can attest a new key. To keep it out \
                for longer, restrict 'category' or 'environment' with 'doorstep clip attest'.

                Example: doorstep attest-key revoke KEY-ID
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Key ID, as 'attest-key list' shows it or as the app has it.") var id: AttestKeyID

        func run() async throws {
            try await tenant.withAPI { try await $0.delete("/v1/attest-keys/\(id)") }
            output.print(["id": .string(id.description)], line: "Revoked key \(id)")
        }
    }
}

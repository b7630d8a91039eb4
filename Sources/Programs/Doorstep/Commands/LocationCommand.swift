import Administration
import ArgumentParser
import Formats
import Foundation
import Invocation
import Lookups
import Persistence
import ServerClient
import Tenancy

struct LocationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LocationRecord.commandName,
        abstract: "Manage a tenant's locations, show their history, and sign URLs.",
        discussion: "Example: doorstep location list",
        subcommands: [
            Create.self, CollectionCommand<LocationRecord>.List.self,
            CollectionCommand<LocationRecord>.Show.self,
            Update.self, Delete.self, CollectionCommand<LocationRecord>.Import.self,
            CollectionCommand<LocationRecord>.Export.self, History.self, Sign.self,
        ])

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "Show a location's changes: actor, time, and values before and after.",
            discussion: """
                Reads the audit log, the newest change first; also for a deleted location.

                Example: doorstep location history store-42
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Identifier of the location.") var identifier: LocationIdentifier
        @Option(help: "Maximum number of changes.") var limit = 100

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            let entries = try await tenant.withTenant { store, tenant in
                try await store.history(of: identifier, of: tenant.id, limit: limit)
            }
            guard !entries.isEmpty else { throw AdministrationError.unknownLocation(identifier) }
            output.print(
                entries.map(\.json),
                tableRows: entries.map { entry in
                    var row = entry.json
                    row["changes"] = .string(entry.changesText)
                    return row
                }, columns: ["at", "actor", "login", "action", "changes"])
        }
    }

    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign",
            abstract: "Sign a URL that contains coordinates, for the identifier rule coordinates:….",
            discussion: """
                The tenant's key is derived from DOORSTEP_SIGNING_SECRET in the environment.

                Example: doorstep location sign 'https://appclip.example.com/at?lat=37.33&lon=-122.01'
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Invocation URL without the query item 'sig'.") var url: String

        func run() async throws {
            let signer = try LocationURLSigner.fromEnvironment()
            let url = try InvocationURL(url)
            let signed = try await tenant.withPool { pool, _, tenant in
                let signed = try signer.sign(url, of: tenant.id)
                // A printed code cannot be changed, so its URL must lead to the location.
                let table = try await pool.tenantTable(of: tenant.id, trusting: .signed(signer))
                let url = try InvocationURL(signed)
                do throws(LookupRefusal) {
                    _ = try table.lookUp(url).response(to: url)
                } catch {
                    throw CommandError.signedURLNotFound("\(error.code): \(error)")
                }
                return signed
            }
            output.print(["url": .string(signed)], line: signed)
        }
    }
}

extension AuditEntry {
    /// Each changed column, such as `radius: 100 → 250`; all columns for a row that was added or removed.
    var changesText: String {
        changes.map { column, before, after in
            "\(column): " + [before, after].compactMap { $0?.text }.joined(separator: " → ")
        }.joined(separator: ", ")
    }
}

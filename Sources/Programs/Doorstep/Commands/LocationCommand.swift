import Administration
import ArgumentParser
import Foundation
import Invocation
import JSON
import Lookups
import Persistence
import ServerClient
import Tenancy

struct LocationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "A tenant's locations, their history, and signed places.",
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Import.self, Export.self,
            History.self, Sign.self,
        ])

    static let columns = ["identifier", "name", "latitude", "longitude", "radius"]

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import locations: all rows or none.",
            discussion: """
                The first line names the columns: identifier, name, latitude, longitude, radius (metres, at most \
                500). Columns details.NAME are texts that lookups give back, at most 4,096 bytes of a location as \
                JSON, columns card.PATH say what Apple's card says; others are kept as metadata. A column that \
                the file does not have leaves its field as it is; an empty cell clears it.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var file: ImportFile

        func run() async throws {
            let outcome = try await file.reading { chunks, options in
                try await tenant.withAPI { try await $0.importLocations(chunks, options) }
            }
            try file.report(outcome, output)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a tenant's locations by identifier.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Begin after this identifier.") var after: LocationIdentifier?
        @Option(help: "How many, at most.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more") }
        }

        func run() async throws {
            let locations = try await tenant.withItems(\.locations) {
                try await $0.list(after: after, limit: limit)
            }
            output.print(locations.map(\.json), columns: columns)
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write all of a tenant's locations as CSV, which an import takes.",
            discussion: """
                By identifier: identifier, name, latitude, longitude, radius, then the columns of details, \
                metadata and cards by name. Imported and exported again, the file is the same byte by byte.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var file: ExportFile
        @OptionGroup var spreadsheet: SpreadsheetOptions

        func run() async throws {
            let count = try await tenant.export(to: file) { [spreadsheet] catalogue, sink in
                try await catalogue.exportLocations(
                    forSpreadsheets: spreadsheet.isForSpreadsheets, to: sink)
            }
            file.note(count, "location")
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tell who changed a location, when, and what it was before and after.",
            discussion: "From the audit log, the newest change first; for a location that was deleted, too.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The location's identifier.") var identifier: LocationIdentifier
        @Option(help: "How many changes, at most.") var limit = 100

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more") }
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
            abstract: "Sign a URL that holds its place in itself, for the identifier rule coordinates:….",
            discussion: "The tenant's key is derived from the environment's DOORSTEP_SIGNING_SECRET.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The invocation URL, without the query item 'sig'.") var url: String

        func run() async throws {
            let signer = try LocationURLSigner.fromEnvironment()
            let url = try InvocationURL(url)
            let signed = try await tenant.withPool { pool, _, tenant in
                let signed = try signer.sign(url, of: tenant.id)
                // A code is printed once: what would not be found must not be.
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
    /// `radius: 100 → 250`, each changed column; all of them for a row that came or went.
    var changesText: String {
        changes.map { column, before, after in
            "\(column): " + [before, after].compactMap { $0?.text }.joined(separator: " → ")
        }.joined(separator: ", ")
    }
}

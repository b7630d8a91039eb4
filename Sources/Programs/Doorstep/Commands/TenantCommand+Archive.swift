import Administration
import ArgumentParser
import Formats
import Foundation
import Persistence
import Tenancy

extension TenantCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export a tenant into one file, which another Doorstep can import.",
            discussion: """
                The file is JSON Lines: a header with the format's name and version, one record a line \
                (\(TenantArchive.types.dropLast().joined(separator: ", "))), and their number. From a database, all \
                records are of one moment; a server is read page by page. Keys, domain proofs, confirmations and the \
                audit log are not exported.

                Example: doorstep tenant export donut-shop --output donut-shop.jsonl
                """)

        @OptionGroup var tenant: TenantArgument
        @OptionGroup var file: ExportFile

        func run() async throws {
            let count = try await tenant.installation.export(tenant.named(), to: file) {
                try await $0.exportTenant(to: $1)
            }
            file.note(count, "record")
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Create a tenant from an exported file: all of it, or nothing.",
            discussion: """
                With --keep-id the tenant has the ID in the file, and so the same key for signed URLs and the same \
                audience of receipts. Use it only for a tenant that was here before or moves here. Create new keys \
                with 'doorstep key create', and prove the domains again.

                Example: doorstep tenant import donut-shop.jsonl
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "File written by 'tenant export'; - for standard input.", completion: .file())
        var file: String
        @Option(help: "Slug to use instead of the one in the file.") var slug: TenantSlug?
        @Flag(name: .customLong("keep-id"), help: "Use the tenant ID in the file, which must be free.")
        var keepsID = false

        func run() async throws {
            let outcome = try await database.withStore { store in
                try await InputFile(path: file).reading { source in
                    try await store.createTenant(
                        from: TenantArchiveReader(source), slug: slug, keepsID: keepsID)
                }
            }
            switch outcome {
            case .refused(let problems): throw problems.reported(of: file)
            case .done(let tenant, let counts):
                output.print(tenant.json, counts, verb: "Imported")
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a tenant and all its data, permanently.",
            discussion: """
                Asks you to type the slug again. The audit log stays, and has each deleted row. 'tenant export' \
                makes a copy; 'tenant suspend' can be undone.

                Example: doorstep tenant delete donut-shop
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "Slug of the tenant.") var slug: TenantSlug
        @Flag(help: "Do not ask for confirmation.") var yes = false

        func validate() throws {
            guard yes || isatty(STDIN_FILENO) == 1 else {
                throw ValidationError("there is no terminal to ask on: --yes deletes without asking")
            }
        }

        func run() async throws {
            let counts = try await database.withStore { store in
                let tenant = try await store.tenant(slug)
                if !yes { try confirm(tenant) }
                return try await store.deleteTenant(slug)
            }
            output.print(["slug": .string(slug.text)], counts, verb: "Deleted")
        }

        private func confirm(_ tenant: Tenant) throws {
            FileHandle.standardError.write(
                Data(
                    """
                    This deletes the tenant '\(slug)' (\(tenant.name)) and all that is its own, for good.
                    Type its slug to go on:\u{20}
                    """.utf8))
            guard readLine() == slug.text else { throw CommandError.notConfirmed }
        }
    }
}

extension OutputOptions {
    /// Prints the result for a tenant, with the number of rows by relation.
    fileprivate func print(_ tenant: JSONObject, _ counts: [RowCount], verb: String) {
        switch format {
        case .json:
            var rows = JSONObject()
            for count in counts { rows[count.relation] = JSONValue(count.count) }
            JSONValue.object(["tenant": .object(tenant), "rows": .object(rows)]).printPretty()
        case .table:
            Swift.print("\(verb) tenant \(tenant["slug"]?.stringValue ?? "")")
            print(counts.map(\.json), columns: ["relation", "rows"])
        }
    }
}

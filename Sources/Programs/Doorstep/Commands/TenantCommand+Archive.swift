import Administration
import ArgumentParser
import Foundation
import JSON
import Persistence
import Tenancy

extension TenantCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write all that is a tenant's into one file, which another Doorstep imports.",
            discussion: """
                JSON Lines: a header with the format's name and version, then one record a line (tenant, image, clip, domain, \
                location, experience, short_code), at the end their number. All is of one moment, but from a server, which is asked \
                for one page after another. Keys, proofs of domains, confirmations and the audit log do not travel.
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
            abstract: "Create a tenant from an exported file: all of it, or nothing.",
            discussion: """
                With --keep-id the tenant has the ID of the file, and with it the key that its places are signed with \
                and the audience of its receipts: for an archive of a tenant that was here, or is moved here, and for no \
                other. It gets new keys by 'doorstep key create', and proves its domains again.
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "A file that 'tenant export' wrote; - for standard input.", completion: .file())
        var file: String
        @Option(help: "Another slug than the one in the file.") var slug: TenantSlug?
        @Flag(name: .customLong("keep-id"), help: "Give the tenant the ID of the file, which must be free.")
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
            abstract: "Delete a tenant and all that is its own; there is no way back.",
            discussion: """
                Asks for the slug to be typed again. The audit log stays, and has each deleted row: see 'tenant export' \
                for a copy to keep, 'tenant suspend' for what can be undone.
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "The tenant's slug.") var slug: TenantSlug
        @Flag(help: "Do not ask.") var yes = false

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
    /// Prints what was done to a tenant, and to how many rows of which relations.
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

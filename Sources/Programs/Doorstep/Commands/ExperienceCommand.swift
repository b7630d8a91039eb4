import Administration
import AppStoreSync
import ArgumentParser
import Invocation
import JSON
import Lookups
import Persistence
import ServerClient
import Tenancy

struct ExperienceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "experience",
        abstract: "A tenant's App Clip experiences.",
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Import.self, Export.self, Lint.self,
        ])

    static let columns = ["url", "kind", "clip", "location", "identifierRule"]

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import experiences: all rows or none.",
            discussion: """
                The first line names the columns: clip, url; and where they are wanted kind, location or \
                identifier_rule, title, subtitle, and card.PATH for what Apple's card says. \
                A column that the file does not have leaves its field as it is; an empty cell clears it.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var file: ImportFile

        func run() async throws {
            let outcome = try await file.reading { chunks, options in
                try await tenant.withAPI { try await $0.importExperiences(chunks, options) }
            }
            try file.report(outcome, output)
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write all of a tenant's experiences as CSV, which an import takes.",
            discussion: """
                By URL, then kind: clip, url, kind, location, identifier_rule, title, subtitle, then what cards say. Imported \
                and exported again, the file is the same byte by byte.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var file: ExportFile
        @OptionGroup var spreadsheet: SpreadsheetOptions

        func run() async throws {
            let count = try await tenant.export(to: file) { [spreadsheet] catalogue, sink in
                try await catalogue.exportExperiences(
                    forSpreadsheets: spreadsheet.isForSpreadsheets, to: sink)
            }
            file.note(count, "experience")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a tenant's experiences by URL.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let records = try await tenant.experiences()
            output.print(records.map(\.json), columns: columns)
        }
    }

    struct Lint: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Point out experiences, short codes and locations that may not do what is expected; never an error.",
            discussion: """
                Findings are grouped by code. Their numbers are printed to standard error.

                With --launches each registered URL is listed instead, with the launches of Apple's table that can lead to \
                it, and those that cannot.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "How many findings of each code to print, or URLs with --launches.") var limit = 100
        @Flag(help: "List the launches that can lead to each registered URL.") var launches = false

        func run() async throws {
            if launches { try await listLaunches() } else { try await listFindings() }
        }

        private func listLaunches() async throws {
            let experiences = try await tenant.experiences()
            let rows = try experiences.prefix(max(0, limit)).map { record -> JSONObject in
                let experience = record.experience
                let url = try InvocationURL(experience.url.canonical)
                let kind = LaunchURL(url, kind: experience.kind)
                var row: JSONObject = [
                    "url": .string(url.canonical), "kind": .string(experience.kind.rawValue),
                    "parameters": .bool(kind.takesParameters),
                ]
                for launch in LaunchMethod.allCases {
                    row[launch.rawValue] = .string(kind.permits(launch, to: url).rawValue)
                }
                return row
            }
            output.print(
                rows, columns: ["url", "kind"] + LaunchMethod.allCases.map(\.rawValue) + ["parameters"])
            note(experiences.count - rows.count)
        }

        private func note(_ rest: Int) {
            if rest > 0 { output.note("\(rest) more: --limit \(limit + rest)") }
        }

        private func listFindings() async throws {
            let findings = try await tenant.withPool { pool, store, tenant in
                let table = try await pool.tenantTable(of: tenant.id, trusting: .everything)
                let unpublished = try await PostgresSyncChecks(pool).unpublished(of: tenant.id)
                return try await store.withCatalogue(of: tenant.slug) { catalogue in
                    try await CatalogueLint(catalogue, unpublished: unpublished, table: table).findings
                }
            }
            var counts: [(code: String, count: Int)] = []
            var groups: [String: [CatalogueFinding]] = [:]
            for finding in findings {
                if groups[finding.code] == nil { counts.append((finding.code, 0)) }
                groups[finding.code, default: []].append(finding)
            }
            counts = counts.map { ($0.code, groups[$0.code]?.count ?? 0) }
            let shown = counts.flatMap { (groups[$0.code] ?? []).prefix(max(0, limit)) }
            let rows = shown.map { finding -> JSONObject in
                [
                    "code": .string(finding.code), "url": finding.url.map(JSONValue.string) ?? .null,
                    "location": (finding.location?.text).map(JSONValue.string) ?? .null,
                    "shortCode": finding.shortCode.map(JSONValue.string) ?? .null,
                    "other": finding.other.map(JSONValue.string) ?? .null,
                    "detail": .string(finding.description),
                ]
            }
            output.print(rows, columns: ["code", "url", "location", "other"])
            for (code, count) in counts {
                let rest = count - max(0, limit)
                output.note("\(code): \(count)" + (rest > 0 ? ", \(rest) more: --limit \(count)" : ""))
            }
        }
    }
}

extension TenantOptions {
    /// All of the tenant's, by URL, then kind.
    fileprivate func experiences() async throws -> [ExperienceRecord] {
        let records = try await withItems(\.experiences) { try await $0.list() }
        // They come by kind, and within one by URL.
        let byURL = records.enumerated().sorted {
            let (left, right) = ($0.element.experience.url.canonical, $1.element.experience.url.canonical)
            return left == right
                ? $0.offset < $1.offset : left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return byURL.map(\.element)
    }
}

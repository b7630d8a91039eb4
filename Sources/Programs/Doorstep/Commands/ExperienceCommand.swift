import Administration
import AppStoreSync
import ArgumentParser
import Formats
import Invocation
import Lookups
import Persistence
import ServerClient
import Tenancy

struct ExperienceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ExperienceRecord.commandName,
        abstract: "Manage a tenant's App Clip experiences.",
        discussion: "Example: doorstep experience list",
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self,
            CollectionCommand<ExperienceRecord>.Import.self, CollectionCommand<ExperienceRecord>.Export.self,
            Lint.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List a tenant's experiences by URL.",
            discussion: "Example: doorstep experience list")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let records = try await tenant.experiences()
            output.print(records.map(\.json), columns: ExperienceRecord.tableColumns)
        }
    }

    struct Lint: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lint",
            abstract:
                "List experiences, short codes and locations that may not work as expected.",
            discussion: """
                Findings are grouped by code, with the counts on standard error. They are warnings, never errors.

                With --launches, the command lists each experience's URL instead. For each URL it shows which kinds \
                of launch can lead to it, such as maps or messages. The kinds are from Apple's table in 'Configuring \
                App Clip experiences'.

                Example: doorstep experience lint
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Maximum number of findings of each code, or of URLs with --launches.") var limit = 100
        @Flag(help: "List the launches that can lead to each experience's URL.") var launches = false

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
    /// All experiences of the tenant, sorted by URL, then by kind.
    fileprivate func experiences() async throws -> [ExperienceRecord] {
        let records = try await withItems(ExperienceRecord.self) { try await $0.list() }
        // The API sorts them by kind, then by URL.
        let byURL = records.enumerated().sorted {
            let (left, right) = ($0.element.experience.url.canonical, $1.element.experience.url.canonical)
            return left == right
                ? $0.offset < $1.offset : left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return byURL.map(\.element)
    }
}

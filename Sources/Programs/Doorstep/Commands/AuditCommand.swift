import Administration
import ArgumentParser
import JSON
import Persistence
import ServerClient

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List changes to a tenant's data with their actors, the newest first."
    )

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Changes of this alone, such as locations or deliveries.") var relation: String?
    @Option(help: "Changes by this actor alone, such as console:ada.") var actor: String?
    @Option(help: "Changes before this one alone, by its ID.") var before: Int?
    @Option(help: "How many changes, at most.") var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is 1 or more") }
    }

    func run() async throws {
        var filter: [String: String] = [:]
        filter["relation"] = relation
        filter["actor"] = actor
        let chosen = filter.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
        let entries = try await tenant.withAPI {
            try await $0.auditEntries(before: before, limit: limit, where: chosen)
        }
        output.print(
            entries.map(\.json),
            tableRows: entries.map { entry in
                var row = entry.json
                row["changes"] = .string(entry.changesText)
                return row
            }, columns: ["id", "at", "actor", "login", "action", "relation", "changes"])
    }
}

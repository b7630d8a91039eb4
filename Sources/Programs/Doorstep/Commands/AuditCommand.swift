import Administration
import ArgumentParser
import Formats
import Persistence
import ServerClient

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List changes to a tenant's data with their actors, the newest first.",
        discussion: "Example: doorstep audit --relation locations --limit 20"
    )

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Only changes of this relation, such as locations or deliveries.") var relation: String?
    @Option(help: "Only changes by this actor, such as console:ada.") var actor: String?
    @Option(help: "Only changes before the change with this ID.") var before: Int?
    @Option(help: "Maximum number of changes.") var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
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

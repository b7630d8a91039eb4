import Administration
import AppStoreSync
import ArgumentParser
import Formats
import Invocation
import Lookups
import OutboundHTTP
import Persistence
import PostgreSQL
import ServerClient
import Tenancy

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Diagnose which location an invocation URL leads to, and which launches open the clip.",
        discussion: """
            The first line is the verdict: the location that a lookup finds, and whether the site's association file \
            lets iPhones launch the clip there. The checks follow, failed ones first. They include the five of iOS's \
            App Clip diagnostics, and Apple's launches. With --live the command fetches the site's association file \
            and the page at the URL.

            Exit status: 1 if the URL leads to no location, or the association file prevents a launch; else 0. \
            Warnings do not change it.

            Example: doorstep diagnose https://appclip.example.com/shop/42 --live
            """)

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var outbound: OutboundOptions
    @Flag(help: "Also check the live site.") var live = false
    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp(
            "Address to connect to, instead of the site's address and port 443.", valueName: "address:port"))
    var connectTo: String?
    @Argument(help: "Invocation URL.") var url: String

    func validate() throws {
        guard let connectTo else { return }
        guard live, OutboundClient.Detour(around: "", to: connectTo) != nil else {
            throw ValidationError(
                "--connect-to requires --live, and must be an address and a port, such as 127.0.0.1:8443")
        }
    }

    func run() async throws {
        let said = try await tenant.withServer { server in
            // The server has its own rules for fetching the site.
            guard connectTo == nil else { throw CommandError.needsDatabase }
            return try await server.read("/v1/diagnosis", [("url", url), ("live", "\(live)")])
        }
        if let said { return try show(said) }
        try show(try await diagnose())
    }

    private func show(_ diagnosis: JSONObject) throws {
        switch output.format {
        case .table:
            let verdict = diagnosis["verdict"]?.objectValue?["text"]?.stringValue ?? ""
            print("\(diagnosis["url"]?.stringValue ?? url) \(verdict)")
            output.print(
                (diagnosis["checks"]?.arrayValue ?? []).compactMap(\.objectValue),
                columns: ["check", "status", "value", "ios", "detail"])
        case .json:
            JSONValue.object(diagnosis).printPretty()
        }
        // The failure was already printed.
        if diagnosis["ok"] != true { throw ExitCode.failure }
    }

    /// Diagnoses the URL with the database.
    private func diagnose() async throws -> JSONObject {
        let signatures = try LocationURLSigner.fromEnvironment()
        let question =
            try live ? Diagnosis.SiteQuestion(settings: outbound.settings(), place: connectTo) : nil
        return try await tenant.withPool { pool, store, tenant in
            let table = try await pool.tenantTable(of: tenant.id, trusting: .signed(signatures))
            return try await Diagnosis(
                of: url, in: table, asking: question,
                clip: { try await store.items.clips.item($0, of: tenant.id) },
                domain: { try await store.items.domains.item($0, of: tenant.id) },
                registration: { try await PostgresSyncChecks(pool).latest(of: $0, of: tenant.id) }
            ).json
        }
    }
}

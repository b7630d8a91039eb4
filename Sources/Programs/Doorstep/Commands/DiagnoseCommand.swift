import Administration
import ArgumentParser
import Invocation
import JSON
import OutboundHTTP
import Persistence
import PostgreSQL
import Registration
import Routing
import ServerClient
import Tenancy

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Tell point by point what becomes of an invocation URL of a tenant.",
        discussion: """
            Among the points are the five that iOS's own App Clip diagnostics tell, and which of Apple's launches can lead \
            to the URL. With --live the site is asked for its association file and for the page at the URL.

            Exit status: 0 when an invocation reaches its business, 1 when a point has failed. Warnings are about codes, \
            banners and notifications, which an invocation can do without; what only Apple knows is unknown.
            """)

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var outbound: OutboundOptions
    @Flag(help: "Ask the site, too.") var live = false
    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp(
            "Where to ask the site, instead of its own address and port 443.", valueName: "address:port"))
    var connectTo: String?
    @Argument(help: "The invocation URL.") var url: String

    func validate() throws {
        guard let connectTo else { return }
        guard live, OutboundClient.Detour(around: "", to: connectTo) != nil else {
            throw ValidationError(
                "--connect-to goes with --live, and is an address and a port, such as 127.0.0.1:8443")
        }
    }

    func run() async throws {
        let said = try await tenant.withServer { server in
            // The server asks the site by its own rules.
            guard connectTo == nil else { throw CommandError.needsDatabase }
            return try await server.read("/v1/diagnosis", [("url", url), ("live", "\(live)")])
        }
        if let said { return try show(said) }
        try show(try await diagnose())
    }

    private func show(_ diagnosis: JSONObject) throws {
        switch output.format {
        case .table:
            output.print(
                (diagnosis["checks"]?.arrayValue ?? []).compactMap(\.objectValue),
                columns: ["check", "status", "value", "ios", "detail"])
        case .json:
            JSONValue.object(diagnosis).printPretty()
        }
        // What failed has been said.
        if diagnosis["ok"] != true { throw ExitCode.failure }
    }

    /// By the database.
    private func diagnose() async throws -> JSONObject {
        let signatures = try PlaceURLSigner.fromEnvironment()
        let question =
            try live ? Diagnosis.SiteQuestion(settings: outbound.settings(), place: connectTo) : nil
        return try await tenant.withPool { pool, store, tenant in
            let table = try await pool.tenantTable(of: tenant.id, trusting: .signed(signatures))
            return try await Diagnosis(
                of: url, in: table, asking: question,
                clip: { try await store.items.clips.item($0, of: tenant.id) },
                domain: { try await store.items.domains.item($0, of: tenant.id) },
                registration: { try await PostgresRegistrationChecks(pool).latest(of: $0, of: tenant.id) }
            ).json
        }
    }
}

import Administration
import ArgumentParser
import Foundation
import Invocation
import JSON
import Locations
import Persistence
import PostgreSQL
import Tenancy

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Tell point by point what becomes of an invocation URL of a tenant.",
        discussion: """
            Exit status: 0 when an invocation reaches its business, 1 when a point has failed. Warnings are about codes \
            and notifications, which an invocation can do without.
            """)

    @OptionGroup var tenant: TenantOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The invocation URL.") var url: String

    func run() async throws {
        let signatures = try PlaceURLSigner.fromEnvironment()
        let diagnosis = try await tenant.withPool { pool, store, tenant in
            let invocation: InvocationURL
            do throws(InvocationURLError) {
                invocation = try InvocationURL(url)
            } catch {
                return Diagnosis(error)
            }
            let table = try await pool.routingTable(of: tenant.id)
            let (experiences, clips, domains) = try await store.withCatalogue(of: tenant.slug) { catalogue in
                var experiences: [Experience] = []
                try await catalogue.eachExperience { record in
                    if record.experience.matches(invocation) { experiences.append(record.experience) }
                }
                return (experiences, try await catalogue.clips(), try await catalogue.domains())
            }
            // Nothing is confirmed, so that nothing is recorded.
            let directory = LocationDirectory(signatures: signatures, recorder: ConfirmationQueue(pool))
            return Diagnosis(
                invocation, text: url,
                Diagnosis.Evidence(
                    tenant: tenant.id, table: table, experiences: experiences, clips: clips,
                    domains: domains, directory: directory))
        }
        switch output.format {
        case .table:
            output.print(diagnosis.checks.map(\.json), columns: ["check", "status", "value", "detail"])
        case .json:
            JSONValue.object([
                "url": .string(url), "ok": .bool(diagnosis.isWell),
                "checks": .array(diagnosis.checks.map { .object($0.json) }),
            ]).printPretty()
        }
        // What failed has been said.
        if !diagnosis.isWell { throw ExitCode.failure }
    }
}

import Administration
import ArgumentParser
import Formats
import Foundation
import OutboundHTTP
import Persistence
import ServerClient
import Tenancy
import TenantSites

struct DomainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "domain",
        abstract: "Manage a tenant's domains, their proofs and their association files.",
        discussion: """
            For a proved domain, the server serves /.well-known/apple-app-site-association with the tenant's App \
            Clips and, if turned on, landing pages.

            Example: doorstep domain claim shop.example.com
            """,
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Verify.self, Check.self,
            Content.self, Pages.self,
        ])

    fileprivate static let columns = [
        "host", "status", "method", "claimedAt", "provedAt", "checkedAt", "lapsedAt", "withdrawnFrom",
    ]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Claim a domain, and show how to prove it.",
            discussion:
                """
                A repeated claim keeps its challenge. Several tenants can claim the same domain.

                Example: doorstep domain claim shop.example.com
                """,
            aliases: ["claim"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Domain, such as shop.example.com.") var host: DomainName

        func run() async throws {
            let challenge = DomainRecord.makeChallenge()
            let claim = DomainRecord(name: host, challenge: challenge, claimedAt: Date())
            let record = try await tenant.withItems(DomainRecord.self) { try await $0.claim(claim) }
            let option = tenant.tenant.map { " --tenant \($0)" } ?? ""
            output.print(
                record.json,
                line: """
                    Claimed \(host). Publish one of these, then run 'doorstep domain verify\(option) \(host)':
                      a TXT record  \(record.recordName)
                      that holds    \(record.recordValue)
                    or
                      a file at     \(record.fileURL)
                      that holds    \(record.challenge)
                    """)
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify the proof of a domain, or of all proved domains.",
            discussion: """
                A missing proof lapses. If it is still missing seven days later, the proof is withdrawn, and the \
                domain is no longer served. A host that does not respond changes nothing. Exits with 0 only if every \
                proof was found. 'doorstep serve' checks proofs too: see --domain-check-interval.

                Example: doorstep domain verify shop.example.com
                """)

        @OptionGroup var database: DatabaseOptions
        @Option(Settings.server) var server: ServerURL?
        @OptionGroup var output: OutputOptions
        @OptionGroup var proof: ProofOptions
        @Option(
            help: """
                Slug of the tenant (environment: DOORSTEP_TENANT, unless --all). With --all and a database, the \
                default is every tenant.
                """)
        var tenant: TenantSlug?
        @Flag(help: "Verify every proved domain.") var all = false
        @Option(
            name: .customLong("connect-to"),
            help: ArgumentHelp(
                "Address to fetch the file from, instead of the domain's own address and port 443.",
                valueName: "address:port"))
        var connectTo: String?
        @Argument(help: "Domain.") var host: DomainName?

        private var installation: InstallationOptions {
            InstallationOptions(database: database, server: server)
        }

        func validate() throws {
            if all {
                try installation.validate()
                guard host == nil, connectTo == nil else {
                    throw ValidationError("--all excludes a domain and --connect-to")
                }
            } else {
                guard host != nil else { throw ValidationError("name a domain, or --all") }
                try installation.require(Settings.tenant.value(tenant))
            }
            guard connectTo == nil || detour != nil else {
                throw ValidationError("--connect-to must be an address and a port, such as 127.0.0.1:8443")
            }
        }

        private var detour: OutboundClient.Detour? {
            guard let host, let connectTo else { return nil }
            return OutboundClient.Detour(around: host.text, to: connectTo)
        }

        func run() async throws {
            // With --all, a daily run must not be restricted to the tenant in the environment.
            let slug = try all ? tenant : Settings.tenant.value(tenant)
            let atServer = try await installation.withServer(of: slug) { server in
                guard connectTo == nil, proof.isDefault else { throw CommandError.needsDatabase }
                let own = try await server.tenantSlug()
                let outcomes =
                    if let host { [try await server.verifyDomain(host)] } else {
                        try await server.verifyDomains()
                    }
                return outcomes.map { (own, $0) }
            }
            if let atServer { return try report(atServer) }
            try report(try await verify(slug))
        }

        /// Looks for the proofs in this process.
        private func verify(
            _ slug: TenantSlug?
        ) async throws -> [(slug: TenantSlug, outcome: DomainVerification.Outcome)] {
            let now = Date()
            return try await installation.database.withPool { pool in
                let store = PostgresAdministrationStore(pool, actor: TenantOptions.actor)
                return try await proof.withVerification(store.items.domains, detour: detour) { verification in
                    if let host {
                        let tenant = try await store.tenant(slug.named)
                        return [(tenant.slug, try await verification.verify(host, of: tenant.id, at: now))]
                    }
                    let tenants =
                        if let slug { [try await store.tenant(slug)] } else { try await store.tenants() }
                    var outcomes: [(slug: TenantSlug, outcome: DomainVerification.Outcome)] = []
                    for tenant in tenants {
                        outcomes += try await verification.verifyAll(of: tenant.id, at: now).map {
                            (tenant.slug, $0)
                        }
                    }
                    return outcomes
                }
            }
        }

        private func report(
            _ outcomes: [(slug: TenantSlug, outcome: DomainVerification.Outcome)]
        ) throws {
            let rows = outcomes.map { slug, outcome -> JSONObject in
                var row = outcome.json
                row["tenant"] = .string(slug.text)
                return row
            }
            if host == nil {
                output.print(
                    rows,
                    columns: ["tenant", "host", "status", "method", "lapsedAt", "withdrawnFrom", "detail"])
            } else if let row = rows.first, let outcome = outcomes.first?.outcome, outcome.lack == nil {
                output.print(row, line: "Proved \(outcome.record.name) by \(outcome.record.methodText)")
            }
            let lacking = outcomes.filter { $0.outcome.lack != nil }
            if let host, let lacking = lacking.first?.outcome {
                throw CommandError.domainNotProved(host, lacking)
            }
            guard lacking.isEmpty else {
                throw CommandError.domainsNotProved(lacking.count, of: outcomes.count)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List a tenant's domains by name.",
            discussion: "Example: doorstep domain list")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let domains = try await tenant.withItems(DomainRecord.self) { try await $0.list() }
            output.print(domains.map(\.json), columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a domain; with --format json also its proof and its additional content.",
            discussion: "Example: doorstep domain show shop.example.com")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Domain.") var host: DomainName

        func run() async throws {
            let record = try await tenant.withItems(DomainRecord.self) { try await $0.show(host) }
            output.print(record.json, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Set or remove a domain's additional content, as 'domain content' does.",
            discussion: "Example: doorstep domain update shop.example.com --no-content")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Domain.") var host: DomainName
        @Option(
            help: ArgumentHelp(
                "File with one JSON object of at most 32 KiB; - for standard input.", valueName: "file"),
            completion: .file())
        var content: String?
        @Flag(name: .customLong("no-content"), help: "Remove the additional content.") var keepsNothing =
            false

        func validate() throws {
            try requireChange(content != nil, keepsNothing)
            guard content == nil || !keepsNothing else {
                throw ValidationError("--content and --no-content exclude each other")
            }
        }

        func run() async throws {
            let file = content.map(InputFile.init(path:))
            let content = try await file?.associationContent()
            let record = try await tenant.withItems(DomainRecord.self) {
                try await $0.update(host) { $0.with(content) }
            }
            output.print(record.json, line: "Updated domain \(host)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a domain with its claim and its proof.",
            discussion: "Example: doorstep domain delete shop.example.com", aliases: ["release"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Domain.") var host: DomainName

        func run() async throws {
            _ = try await tenant.withItems(DomainRecord.self) { try await $0.delete(host) }
            output.printDeletion(of: "domain", host.text)
        }
    }
}

extension DomainRecord {
    fileprivate var methodText: String {
        switch proof?.method {
        case .dns: "the TXT record \(recordName)"
        case .file: "the file \(fileURL)"
        case nil: "nothing"
        }
    }
}

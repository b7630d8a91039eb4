import Administration
import AppStoreSync
import Console
import Foundation
import HTTPAPI
import Invocation
import LandingPages
import Logging
import Lookups
import Notifications
import OutboundHTTP
import Persistence
import Platform
import PostgreSQL
import ServiceLifecycle
import Tenancy
import TenantSites

/// The console with all its parts. It connects the pages to the stores.
struct ConsoleHost {
    let settings: ConsoleServer.Settings
    let poolSize: Int
    let signatures: LocationURLSigner
    /// Encrypts webhook secrets; nil if no secret is set.
    let keys: SealingKeys?
    /// The DNS servers for domain proofs; nil for the system's servers.
    let resolver: NameServer?
    let outbound: OutboundClient.Settings
    /// The number of days for which events of the console are stored; nil for ever.
    let retention: Int?
    let printsLink: Bool
    let logger: Logger

    /// Serves until SIGTERM or SIGINT.
    func run(on database: DatabaseOptions) async throws {
        try await database.withServicePool(maximumConnections: poolSize) { pool in
            let routing = IndexService(pool, trusting: .signed(signatures), file: nil, logger: logger)
            try await routing.start()
            let tokenSecrets = keys.map {
                TokenSecretService(stored: PostgresTokenSecrets(pool), keys: $0, logger: logger)
            }
            try await tokenSecrets?.start(allowingNewSecret: true)
            let sessions = PostgresConsoleSessions(pool)
            // Reads the key before the first request, so that a flood of made-up cookies causes no query.
            _ = try await sessions.makeSecret()
            let server = ConsoleServer(
                settings, dependencies(pool, routing, sessions), logger: logger,
                onListening: { [settings, logger, printsLink] port in
                    logger.notice(
                        "the console is listening", metadata: ["host": "\(settings.host)", "port": "\(port)"])
                    ServiceManager.tellReady()
                    if printsLink { await Self.printLink(sessions, settings.address(port: port), logger) }
                })
            var services: [any Service] = [
                routing, MemoryService(table: routing.table, logger: logger), server,
                HangupService(message: "SIGHUP: the console follows no files", logger: logger),
            ]
            if let tokenSecrets { services.append(tokenSecrets) }
            if let retention {
                services.append(RetentionService(sessions, retention: retention, logger: logger))
            }
            try await ServiceGroup.run(services, logger: logger)
        }
    }

    private func dependencies(
        _ pool: ConnectionPool, _ routing: IndexService, _ sessions: PostgresConsoleSessions
    ) -> ConsoleServer.Dependencies {
        let reading = PostgresAdministrationStore(pool, actor: "", isReadOnly: true)
        return ConsoleServer.Dependencies(
            sessions: sessions,
            stores: { [keys, outbound] access in
                let store = PostgresAdministrationStore(
                    pool, actor: access.actor, isReadOnly: access.isReadOnly)
                let ledger = PostgresDeliveryLedger(
                    pool, actor: access.actor, isReadOnly: access.isReadOnly)
                return ConsoleStores(
                    administration: store, confirmations: PostgresConfirmationHistory(pool),
                    deliveries: ledger,
                    traces: NotificationTracer(
                        ledger, PostgresNotificationStore(pool, isReadOnly: access.isReadOnly)),
                    syncs: PostgresSyncOverview(pool), syncChecks: PostgresSyncChecks(pool),
                    webhooks: keys.map {
                        PostgresWebhookRegistry(
                            pool, keys: $0, isReadOnly: access.isReadOnly, allowing: outbound.allowed)
                    })
            }, table: routing.table,
            findings: { tenant in
                let table = try await pool.tenantTable(of: tenant.id, trusting: .everything)
                let unpublished = try await PostgresSyncChecks(pool).unpublished(of: tenant.id)
                return try await reading.withCatalogue(of: tenant.slug) { catalogue in
                    try await CatalogueLint(catalogue, unpublished: unpublished, table: table).findings
                }
            },
            diagnose: { [outbound] url, table, asksSite in
                try await Diagnosis(
                    of: url, in: table, asking: asksSite ? .init(settings: outbound) : nil,
                    clip: { try await reading.items.clips.item($0, of: table.tenant) },
                    domain: { try await reading.items.domains.item($0, of: table.tenant) },
                    registration: {
                        try await PostgresSyncChecks(pool).latest(of: $0, of: table.tenant)
                    }
                ).json
            }, sites: sites(pool), status: { try await PostgresInstallation(pool).status() },
            servers: { try await PostgresServers(pool).all() })
    }

    private func sites(_ pool: ConnectionPool) -> ConsoleServer.Sites {
        let landing = LandingSite()
        return ConsoleServer.Sites(
            association: { SiteAssociation($0).serialized() },
            page: { landing.page(at: $0, of: $1, in: $2) },
            prove: { [outbound, resolver] name, tenant, access, now in
                let store = PostgresAdministrationStore(
                    pool, actor: access.actor, isReadOnly: access.isReadOnly)
                return try await OutboundClient.withClient(outbound) { client in
                    try await DomainVerification(
                        store: store.items.domains, by: access.actor,
                        resolver: LibresolvTextRecordResolver(server: resolver),
                        fetcher: HTTPPageFetcher(client)
                    ).verify(name, of: tenant, at: now)
                }
            },
            check: { [outbound] name in
                try await OutboundClient.withClient(outbound) { client in
                    await SiteCheck.run(SiteCheck.url(of: name), clip: nil, HTTPPageFetcher(client))
                }
            })
    }

    private static func printLink(
        _ sessions: PostgresConsoleSessions, _ address: String, _ logger: Logger
    ) async {
        do {
            let access = ConsoleAccess(name: try DisplayName(NSUserName()))
            let secret = try await sessions.addLink(for: access, lasting: SessionLength.standard.seconds)
            print("Sign in, once and within ten minutes: \(address)/login#\(secret.text)")
        } catch {
            logger.warning(
                "no sign-in link was created: run 'doorstep console link'", metadata: ["error": "\(error)"])
        }
    }
}

extension ConsoleServer.Settings {
    /// The URL with which a browser reaches the console: its first origin, or an address of this machine.
    func address(port: Int) -> String {
        origins.first.map { "\($0)" } ?? "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

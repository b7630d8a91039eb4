import Administration
import Console
import Foundation
import Logging
import Notifications
import OutboundHTTP
import Persistence
import PostgreSQL
import Routing
import ServiceLifecycle
import Tenancy
import UnixSignals

/// The console with all its parts: where its pages are tied to the stores.
struct ConsoleHost {
    let settings: ConsoleServer.Settings
    let poolSize: Int
    let signatures: PlaceURLSigner
    let outbound: OutboundClient.Settings
    let printsLink: Bool
    let logger: Logger

    /// Serves until SIGTERM or SIGINT.
    func run(on database: DatabaseOptions) async throws {
        try await database.withServicePool(maximumConnections: poolSize) { pool in
            let routing = RoutingService(pool, trusting: .signed(signatures), file: nil, logger: logger)
            try await routing.start()
            let sessions = PostgresConsoleSessions(pool)
            let server = ConsoleServer(
                settings, dependencies(pool, routing, sessions), logger: logger,
                onListening: { [settings, logger, printsLink] port in
                    logger.notice(
                        "the console is listening", metadata: ["host": "\(settings.host)", "port": "\(port)"])
                    if printsLink { await Self.printLink(sessions, settings.address(port: port), logger) }
                })
            let services: [any Service] = [routing, server]
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: services.map { .init(service: $0) },
                    gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
            try await group.run()
        }
    }

    private func dependencies(
        _ pool: ConnectionPool, _ routing: RoutingService, _ sessions: PostgresConsoleSessions
    ) -> ConsoleServer.Dependencies {
        let reading = PostgresAdministrationStore(pool, actor: "", isReadOnly: true)
        return ConsoleServer.Dependencies(
            sessions: sessions,
            stores: { access in
                let store = PostgresAdministrationStore(
                    pool, actor: access.actor, isReadOnly: access.isReadOnly)
                let ledger = PostgresDeliveryLedger(pool, isReadOnly: access.isReadOnly)
                return ConsoleStores(
                    tenants: store, items: store.items, places: store,
                    confirmations: PostgresConfirmationHistory(pool), auditLog: store.auditLog,
                    images: store.imageFiles, deliveries: ledger,
                    traces: NotificationTracer(ledger, PostgresNotificationStore(pool)),
                    registrations: PostgresRegistrationOverview(pool))
            }, table: routing.table,
            findings: { tenant in
                let table = try await pool.tenantTable(of: tenant.id, trusting: .everything)
                return try await reading.withCatalogue(of: tenant.slug) { catalogue in
                    try await CatalogueLint(catalogue, table: table).findings
                }
            },
            diagnose: { [outbound] url, table, asksSite in
                try await Diagnosis(
                    of: url, in: table, asking: asksSite ? .init(settings: outbound) : nil,
                    clip: { try await reading.items.clips.item($0, of: table.tenant) },
                    domain: { try await reading.items.domains.item($0, of: table.tenant) },
                    registrations: { try await PostgresRegistrationChecks(pool).latest(of: table.tenant) }
                ).json
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
                "no link was made: 'doorstep console link' makes one", metadata: ["error": "\(error)"])
        }
    }
}

extension ConsoleServer.Settings {
    /// How a browser reaches the console: by the first of its origins, or on this machine.
    func address(port: Int) -> String {
        origins.first.map { "\($0)" } ?? "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

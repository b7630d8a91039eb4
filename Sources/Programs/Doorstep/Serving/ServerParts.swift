import APNsClient
import Administration
import AppAttest
import AppStoreSync
import Confirmations
import Foundation
import HTTPAPI
import HTTPServer
import LandingPages
import Logging
import Lookups
import Metrics
import Notifications
import OutboundHTTP
import Persistence
import Platform
import PostgreSQL
import Receipts
import ServiceLifecycle
import Tenancy
import TenantSites
import TraceExport

/// The parts of a running server that its endpoints and its services share.
struct ServerParts {
    private let server: Server
    private let pool: ConnectionPool
    private let deliveryPool: ConnectionPool
    private let managementPool: ConnectionPool
    private let sender: APNsClient?
    private let outbound: OutboundClient.Settings
    private let tracer: OTLPTracer?
    private let routing: IndexService
    private let queues: ServerQueues
    private let tokenSecrets: TokenSecretService?
    /// Nil if push tokens cannot be sealed. Queued deliveries wait in the database for a server with a sender.
    private let delivery: Delivery?
    private let catalogue: ManagedCatalogue
    private let logger: Logger

    /// Loads the lookup index, and checks the token secrets.
    /// - Parameters:
    ///   - deliveryPool: A pool for deliveries, so that they are sent even if many requests wait for the database.
    ///   - outbound: The rules for requests to webhooks and for proofs of domains, with traces.
    init(
        of server: Server, _ pool: ConnectionPool, _ deliveryPool: ConnectionPool,
        _ managementPool: ConnectionPool, _ sender: APNsClient?, _ outbound: OutboundClient.Settings,
        _ tracer: OTLPTracer?
    ) async throws {
        let logger = server.logger
        self.server = server
        (self.pool, self.deliveryPool, self.managementPool) = (pool, deliveryPool, managementPool)
        (self.sender, self.outbound, self.tracer, self.logger) = (sender, outbound, tracer, logger)
        routing = IndexService(
            pool, trusting: .signed(server.signatures), file: server.tableFile, logger: logger)
        try await routing.start()
        tokenSecrets = server.sealingKeys.map {
            TokenSecretService(stored: PostgresTokenSecrets(pool), keys: $0, logger: logger)
        }
        try await tokenSecrets?.start(allowingNewSecret: server.allowsNewTokenSecret)
        queues = ServerQueues(pool, spool: server.tableFile?.confirmations, logger: logger)
        delivery = server.sealingKeys.map { keys in
            Delivery(
                pool, sendingBy: deliveryPool, keys: keys, sender: sender,
                timeout: server.apns?.settings.requestTimeout ?? .zero, logger: logger)
        }
        catalogue = ManagedCatalogue(managementPool, followedBy: routing.feed)
    }

    private func verifyDomain(
        _ name: DomainName, of tenant: TenantID, by actor: String, _ rivalry: DomainVerification.Rivalry,
        at now: Date
    ) async throws -> DomainVerification.Outcome {
        try await OutboundClient.withClient(outbound) { client in
            try await DomainVerification(
                store: catalogue.items.domains, by: actor,
                resolver: LibresolvTextRecordResolver(server: server.resolver),
                fetcher: HTTPPageFetcher(client)
            ).verify(name, of: tenant, rivalry: rivalry, at: now)
        }
    }

    // MARK: The HTTP API

    /// - Parameter registry: The metrics that the server shows.
    func apiServer(tellingMetricsOf registry: PrometheusRegistry) -> APIServer {
        let settings = server.limitedByOpenFiles().traced(by: tracer)
        Meter(label: "doorstep_http_connections_limit").set(settings.maximumConnections)
        return APIServer(
            settings, dependencies(registry), logger: logger,
            onListening: { [logger] listener, port in
                let (host, message): (String, Logger.Message) =
                    switch listener {
                    case .api: (settings.host, "listening")
                    case .operations: (settings.operations?.host ?? settings.host, "answering monitors")
                    }
                logger.notice(message, metadata: ["host": "\(host)", "port": "\(port)"])
                if listener == .api { ServiceManager.tellReady() }
            })
    }

    private func dependencies(_ registry: PrometheusRegistry) -> APIServer.Dependencies {
        let metrics = ServerMetrics(
            routing.table, queues.confirmations,
            pools: ["requests": pool, "deliveries": deliveryPool, "management": managementPool],
            certificate: server.api.tls)
        let (root, keys) = (server.attestationRoot, server.sealingKeys)
        let checks = PostgresSyncChecks(managing: managementPool)
        return APIServer.Dependencies(
            responses: APIResponses(
                recorder: queues.confirmations, receipts: server.receipts?.issuer,
                launches: queues.launches),
            attestation: server.attestationKeys.map {
                AppVerifier(
                    secrets: $0, root: root.root, keys: PostgresAttestedKeys(pool),
                    recordingTo: queues.attestations)
            },
            foreignAttestationRoot: root.isForeign ? root.root.fingerprint : nil,
            table: routing.table, usage: queues.keyUsage, refusals: queues.refusals,
            instances: keys.map {
                InstanceRegistrar(PostgresInstanceStore(pool, keys: $0), countingTo: queues.launches)
            },
            notifications: delivery?.intake,
            channels: sender.map { ChannelDirectory($0, PostgresChannelStore(pool)) },
            webhooks: keys.map {
                PostgresWebhookRegistry(managing: managementPool, keys: $0, allowing: outbound.allowed)
            },
            idempotency: PostgresIdempotencyStore(pool), catalogue: catalogue,
            proveDomain: { try await verifyDomain($0, of: $1, by: $2, .unknown, at: $3) },
            diagnose: { try await diagnosis(of: $0, in: $1, asksSite: $2, checks).json },
            confirmations: PostgresConfirmationHistory(managing: managementPool),
            history: PostgresNotificationHistory(managing: managementPool),
            deliveries: PostgresDeliveryLedger(managing: managementPool), appStore: checks,
            landingPages: LandingSite().response, maximumIndexAge: server.maximumIndexAge,
            writeRefusal: { routing.standby.refusal },
            metrics: {
                metrics.update()
                delivery?.updateMetrics()
                return registry.exposition()
            })
    }

    private func diagnosis(
        of url: String, in table: TenantTable, asksSite: Bool, _ checks: PostgresSyncChecks
    ) async throws -> Diagnosis {
        try await Diagnosis(
            of: url, in: table, asking: asksSite ? .init(settings: outbound) : nil,
            clip: { try await catalogue.items.clips.item($0, of: table.tenant) },
            domain: { try await catalogue.items.domains.item($0, of: table.tenant) },
            registration: { try await checks.latest(of: $0, of: table.tenant) })
    }

    // MARK: Services

    /// All services besides the HTTP API. They end in the opposite order, after it, so that the queues still accept the records of
    /// the last request.
    var services: [any Service] {
        var services: [any Service] = []
        if let tracer, let traces = server.traces {
            services.append(Traces.exporter(tracer, to: traces, by: outbound, logger: logger))
        }
        services.append(routing)
        // Ends after the services that store the records of the last requests.
        services.append(HeartbeatService(servers: PostgresServers(pool), logger: logger))
        services += retention + queues.services
        services += [
            DomainCheckService(
                checks: PostgresDomainChecks(pool),
                interval: server.domainCheckInterval > 0
                    ? .seconds(server.domainCheckInterval * 3_600) : nil,
                verify: {
                    try await verifyDomain($0.name, of: $0.tenant, by: "server", $0.rivalry, at: $1)
                }, logger: logger),
            MemoryService(table: routing.table, logger: logger),
            QuotaService(usage: PostgresQuotaUsage(pool), logger: logger),
            QueueService(installation: PostgresInstallation(pool), logger: logger),
        ]
        if let tokenSecrets { services.append(tokenSecrets) }
        if let keys = server.sealingKeys { services += sealedServices(keys) }
        if let sender { services.append(sender) }
        return services + fileServices + (delivery?.services ?? [])
    }

    private var retention: [any Service] {
        [
            RetentionService(ConfirmationDays(pool, retention: server.confirmationRetention), logger: logger),
            RetentionService(LaunchRetention(pool, retention: server.confirmationRetention), logger: logger),
            RetentionService(
                NotificationRetention(
                    pool, instanceRetention: server.instanceRetention,
                    notificationRetention: server.notificationRetention), logger: logger),
            RetentionService(AttestationRetention(pool), logger: logger),
            RetentionService(RefusedRequestRetention(pool), logger: logger),
            RetentionService(KeyRetention(pool), logger: logger),
            RetentionService(AuditLogRetention(pool, retention: server.auditRetention), logger: logger),
        ]
    }

    /// The services that open sealed secrets: webhooks and checks of App Store Connect.
    private func sealedServices(_ keys: SealingKeys) -> [any Service] {
        let webhooks = WebhookService(
            PostgresWebhookStore(deliveryPool, keys: keys), outbound: outbound, logger: logger)
        guard server.driftInterval > 0 else { return [webhooks] }
        let drift = DriftService(
            checks: PostgresSyncChecks(serving: pool),
            access: StoreAccess(serving: pool, keys: keys, service: server.appStore, outbound: outbound),
            interval: .seconds(server.driftInterval * 3_600), logger: logger)
        return [webhooks, drift]
    }

    /// The services that follow files of keys and certificates.
    private var fileServices: [any Service] {
        var services: [any Service] = [
            HangupService(message: "SIGHUP: certificate and key files are read again", logger: logger)
        ]
        if let receipts = server.receipts {
            services.append(
                KeyFileService(for: "receipts", logger: logger) { known in
                    guard let read = try receipts.keys.read(unlessVersionIs: known) else { return nil }
                    receipts.issuer.replaceKeys(by: read.keys)
                    return (read.version, read.keys.keys.map(\.id))
                })
        }
        if let sender, let keys = server.apns?.keys {
            services.append(
                KeyFileService(for: "APNs", logger: logger) { known in
                    guard let read = try keys.read(unlessVersionsAre: known) else { return nil }
                    sender.replaceKeys(read.keys)
                    return (read.versions, read.keys.map(\.id))
                })
        }
        if let identity = server.api.tls {
            services.append(CertificateService(identity: identity, logger: logger))
        }
        return services
    }
}

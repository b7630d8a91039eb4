import APNsClient
import Administration
import AppAttest
import AppStoreSync
import Attestation
import DNSClient
import DomainProof
import Foundation
import HTTPAPI
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

/// The server with all its parts. It connects adapters and use cases, as `ConsoleHost` does for the console.
struct Server {
    let api: APIServer.Settings
    /// Connections to PostgreSQL, besides those of deliveries and management.
    let poolSize: Int
    let managementPoolSize: Int
    let tableFile: TableFile?
    /// The maximum age of the lookup index at which the server is ready; nil for any age.
    let maximumIndexAge: Duration?
    /// In days, like the two settings below.
    let confirmationRetention: Int
    let instanceRetention: Int
    let notificationRetention: Int
    /// Nil to store the audit log for ever.
    let auditRetention: Int?
    let signatures: LocationURLSigner
    /// Nil if push tokens cannot be sealed.
    let sealingKeys: SealingKeys?
    /// Whether the server starts although its secrets open none of the sealed data in the database.
    let allowsNewTokenSecret: Bool
    /// Nil if challenges and tokens cannot be made.
    let attestationKeys: AttestationKeys?
    let attestationRoot: (root: AttestationRoot, isForeign: Bool)
    /// Nil if the server sends no notifications.
    let apns: (settings: APNsClient.Settings, keys: APNsKeyList)?
    /// Nil if responses have no receipts.
    let receipts: (issuer: ReceiptIssuer, keys: ReceiptKeyFile)?
    /// The address of App Store Connect; nil for Apple's.
    let appStore: String?
    /// The interval of the checks of App Store Connect in hours; 0 for no checks.
    let driftInterval: Int
    /// The interval of the checks of proofs in hours; 0 to check contested domains only.
    let domainCheckInterval: Int
    /// The rules for requests to webhooks, and for proofs of domains.
    let outbound: OutboundClient.Settings
    /// The DNS server for domain proofs, instead of those of /etc/resolv.conf.
    let resolver: NameServer?
    /// Nil for a server without traces.
    let traces: TraceDestination?
    let logger: Logger

    /// One connection finds and leases due deliveries, one stores their results, and one is for webhooks.
    static let deliveryConnections = 3

    /// Serves until SIGTERM or SIGINT, then finishes running requests.
    func run(on database: DatabaseOptions) async throws {
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        tellWhatIsOff()
        let tracer = traces.map(Traces.tracer)
        let sender = try apns.map {
            var settings = $0.settings
            settings.tracer = tracer
            return try APNsClient(settings, keys: $0.keys.keys(), logger: logger)
        }
        let outbound = outbound.traced(by: tracer)
        // A separate pool, so that accepted deliveries are sent even if many requests wait for the database.
        try await database.withPools(
            maximumConnections: (poolSize, sender == nil ? 1 : Self.deliveryConnections, managementPoolSize),
            trapsSignals: false,
            onUnprepared: { [logger] in
                logger.notice("the database is behind a pooler: prepared statements are turned off")
            },
            observer: tracer.map(Traces.observer)
        ) { pool, deliveryPool, managementPool in
            let routing = IndexService(
                pool, trusting: .signed(signatures), file: tableFile, logger: logger)
            try await routing.start()
            if database.embeddedPostgres == nil { await warnOfSuperuser(pool) }
            let tokenSecrets = sealingKeys.map {
                TokenSecretService(stored: PostgresTokenSecrets(pool), keys: $0, logger: logger)
            }
            try await tokenSecrets?.start(allowingNewSecret: allowsNewTokenSecret)
            let confirmations = ConfirmationQueue(pool, spool: tableFile?.confirmations) { [logger] error in
                logger.warning(
                    "confirmations cannot be recorded: trying again", metadata: ["error": "\(error)"])
            }
            let usage = KeyUsageQueue(pool) { [logger] error in
                logger.info(
                    "the last use of keys cannot be stored: trying again", metadata: ["error": "\(error)"])
            }
            let attestations = AttestationCountQueue(pool) { [logger] error in
                logger.info("attestations cannot be counted: trying again", metadata: ["error": "\(error)"])
            }
            let launches = LaunchCountQueue(pool) { [logger] error in
                logger.info("launches cannot be counted: trying again", metadata: ["error": "\(error)"])
            }
            let refusals = RefusedRequestQueue(pool) { [logger] error in
                logger.info(
                    "refused requests cannot be recorded: trying again", metadata: ["error": "\(error)"])
            }
            let metrics = ServerMetrics(
                routing.table, confirmations,
                pools: ["requests": pool, "deliveries": deliveryPool, "management": managementPool],
                certificate: api.tls)
            // Queued deliveries wait in the database for a server with a sender.
            let delivery = sealingKeys.map { keys in
                Delivery(
                    pool, sendingBy: deliveryPool, keys: keys, sender: sender,
                    timeout: apns?.settings.requestTimeout ?? .zero, logger: logger)
            }
            let settings = limitedByOpenFiles().traced(by: tracer)
            Meter(label: "doorstep_http_connections_limit").set(settings.maximumConnections)
            let catalogue = ManagedCatalogue(managementPool, followedBy: routing.feed)
            let checks = PostgresSyncChecks(managing: managementPool)
            let verifyDomain: VerifyDomain = { [outbound, resolver] name, tenant, actor, rivalry, now in
                try await OutboundClient.withClient(outbound) { client in
                    try await DomainVerification(
                        store: catalogue.items.domains, by: actor,
                        resolver: LibresolvTextRecordResolver(server: resolver),
                        fetcher: HTTPPageFetcher(client)
                    ).verify(name, of: tenant, rivalry: rivalry, at: now)
                }
            }
            let server = APIServer(
                settings,
                APIServer.Dependencies(
                    responses: APIResponses(
                        recorder: confirmations, receipts: receipts?.issuer, launches: launches),
                    attestation: attestationKeys.map {
                        AppVerifier(
                            secrets: $0, root: attestationRoot.root, keys: PostgresAttestedKeys(pool),
                            recordingTo: attestations)
                    },
                    foreignAttestationRoot:
                        attestationRoot.isForeign ? attestationRoot.root.fingerprint : nil,
                    table: routing.table, usage: usage, refusals: refusals,
                    instances: sealingKeys.map {
                        InstanceRegistrar(PostgresInstanceStore(pool, keys: $0), countingTo: launches)
                    },
                    notifications: delivery?.intake,
                    channels: sender.map { ChannelDirectory($0, PostgresChannelStore(pool)) },
                    webhooks: sealingKeys.map {
                        PostgresWebhookRegistry(
                            managing: managementPool, keys: $0, allowing: outbound.allowed)
                    },
                    idempotency: PostgresIdempotencyStore(pool), catalogue: catalogue,
                    proveDomain: { try await verifyDomain($0, $1, $2, .unknown, $3) },
                    diagnose: { [outbound] url, table, asksSite in
                        try await Diagnosis(
                            of: url, in: table, asking: asksSite ? .init(settings: outbound) : nil,
                            clip: { try await catalogue.items.clips.item($0, of: table.tenant) },
                            domain: { try await catalogue.items.domains.item($0, of: table.tenant) },
                            registration: { try await checks.latest(of: $0, of: table.tenant) }
                        ).json
                    },
                    confirmations: PostgresConfirmationHistory(managing: managementPool),
                    history: PostgresNotificationHistory(managing: managementPool),
                    deliveries: PostgresDeliveryLedger(managing: managementPool),
                    appStore: checks,
                    landingPages: LandingSite().response,
                    maximumIndexAge: maximumIndexAge, writeRefusal: { routing.standby.refusal },
                    metrics: {
                        metrics.update()
                        delivery?.updateMetrics()
                        return registry.exposition()
                    }), logger: logger,
                onListening: { [logger] listener, port in
                    let (host, message): (String, Logger.Message) =
                        switch listener {
                        case .api: (settings.host, "listening")
                        case .operations: (settings.operations?.host ?? settings.host, "answering monitors")
                        }
                    logger.notice(message, metadata: ["host": "\(host)", "port": "\(port)"])
                    if listener == .api { ServiceManager.tellReady() }
                })
            // Services end in the opposite order, so that the queue still accepts the confirmation of the last request.
            var services: [any Service] = []
            if let tracer, let traces {
                services.append(Traces.exporter(tracer, to: traces, by: outbound, logger: logger))
            }
            services += [
                routing,
                RetentionService(ConfirmationDays(pool, retention: confirmationRetention), logger: logger),
                RetentionService(LaunchRetention(pool, retention: confirmationRetention), logger: logger),
                RetentionService(
                    NotificationRetention(
                        pool, instanceRetention: instanceRetention,
                        notificationRetention: notificationRetention), logger: logger),
                RetentionService(AttestationRetention(pool), logger: logger),
                RetentionService(RefusedRequestRetention(pool), logger: logger),
                RetentionService(KeyRetention(pool), logger: logger),
                RetentionService(AuditLogRetention(pool, retention: auditRetention), logger: logger),
                RecordingService(confirmations, logger: logger), GatheringService(usage),
                GatheringService(attestations), GatheringService(launches), GatheringService(refusals),
            ]
            services.append(
                DomainCheckService(
                    checks: PostgresDomainChecks(pool),
                    interval: domainCheckInterval > 0 ? .seconds(domainCheckInterval * 3_600) : nil,
                    verify: { try await verifyDomain($0.name, $0.tenant, "server", $0.rivalry, $1) },
                    logger: logger))
            services.append(MemoryService(table: routing.table, logger: logger))
            services.append(QuotaService(usage: PostgresQuotaUsage(pool), logger: logger))
            services.append(QueueService(installation: PostgresInstallation(pool), logger: logger))
            if let tokenSecrets { services.append(tokenSecrets) }
            if let receipts {
                services.append(
                    KeyFileService(for: "receipts", logger: logger) { known in
                        guard let read = try receipts.keys.read(unlessVersionIs: known) else { return nil }
                        receipts.issuer.replaceKeys(by: read.keys)
                        return (read.version, read.keys.keys.map(\.id))
                    })
            }
            if let sealingKeys {
                services.append(
                    WebhookService(
                        PostgresWebhookStore(deliveryPool, keys: sealingKeys), outbound: outbound,
                        logger: logger))
                if driftInterval > 0 {
                    services.append(
                        DriftService(
                            checks: PostgresSyncChecks(serving: pool),
                            access: StoreAccess(
                                serving: pool, keys: sealingKeys, service: appStore, outbound: outbound),
                            interval: .seconds(driftInterval * 3_600), logger: logger))
                }
            }
            if let sender, let keys = apns?.keys {
                services += [
                    sender,
                    KeyFileService(for: "APNs", logger: logger) { known in
                        guard let read = try keys.read(unlessVersionsAre: known) else { return nil }
                        sender.replaceKeys(read.keys)
                        return (read.versions, read.keys.map(\.id))
                    },
                ]
            }
            services.append(
                HangupService(message: "SIGHUP: certificate and key files are read again", logger: logger))
            if let identity = api.tls {
                services.append(CertificateService(identity: identity, logger: logger))
            }
            services += delivery?.services ?? []
            services.append(server)
            try await ServiceGroup.run(services, logger: logger)
            logger.notice("doorstep serve has ended")
        }
    }

    private typealias VerifyDomain =
        @Sendable (
            DomainName, TenantID, _ actor: String, DomainVerification.Rivalry, Date
        ) async throws -> DomainVerification.Outcome

    /// A superuser bypasses row-level security. If the database does not respond, the check is made at the next start.
    private func warnOfSuperuser(_ pool: ConnectionPool) async {
        guard let condition = try? await DatabaseCondition(pool), condition.isSuperuser else { return }
        logger.warning("\(ServerAdvice.superuser.rawValue)")
    }

    private func tellWhatIsOff() {
        if signatures.isEmpty { logger.notice("\(ServerAdvice.noSigningSecret.rawValue)") }
        if attestationRoot.isForeign {
            logger.warning(
                "\(ServerAdvice.foreignRoot.rawValue)",
                metadata: ["root": "\(attestationRoot.root.fingerprint)"])
        }
        if sealingKeys == nil { logger.notice("\(ServerAdvice.noTokenSecret.rawValue)") }
        if apns == nil { logger.notice("\(ServerAdvice.noAPNsKeys.rawValue)") }
    }

    /// The limit of open files must cover these connections and others: to PostgreSQL, to APNs, to receivers of webhooks, and
    /// files.
    private func limitedByOpenFiles() -> APIServer.Settings {
        var settings = api
        let (allowed, limit) = Self.connections(atMost: settings.maximumConnections)
        guard allowed < settings.maximumConnections else { return settings }
        settings.maximumConnections = allowed
        logger.notice(
            "fewer connections than --max-connections: the limit of open files is too low (ulimit -n)",
            metadata: ["connections": "\(settings.maximumConnections)", "files": "\(limit)"])
        return settings
    }

    /// The number of connections that the limit of open files allows. The limit is raised first, as far as the system allows it.
    static func connections(atMost maximum: Int) -> (allowed: Int, limit: Int) {
        let limit = OpenFileLimit.raise(to: maximum + otherFiles)
        return (min(maximum, max(limit - otherFiles, limit / 2)), limit)
    }

    static let otherFiles = 512
}

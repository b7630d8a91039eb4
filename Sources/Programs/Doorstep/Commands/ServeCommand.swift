import APNsClient
import ArgumentParser
import Foundation
import HTTPAPI
import Locations
import Logging
import Metrics
import Notifications
import Persistence
import Platform
import PostgreSQL
import Receipts
import Routing
import ServiceLifecycle
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the HTTP API until SIGTERM or SIGINT.",
        discussion: """
            Answers come from memory: what all tenants have registered is read at the start and follows the database \
            within a second. While the database does not answer, the server goes on with what it knows. Requests under \
            way are answered before it ends. The database must be migrated; DATABASE_URL's login needs to be a member \
            of doorstep_app and doorstep_router and nothing more.

            DOORSTEP_SIGNING_SECRET, in the environment alone, is what signed places in URLs are checked with: 32 bytes \
            or more; several, separated by commas, while one is replaced. DOORSTEP_TOKEN_SECRET, of the same kind, is \
            what push tokens are sealed with in the database: without it no instances are registered and nothing is sent.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var receipts: ReceiptOptions
    @Option(help: "The address to listen on. (environment: DOORSTEP_HOST, default: 127.0.0.1)") var host:
        String?
    @Option(help: "The port to listen on, 0 for any. (environment: DOORSTEP_PORT, default: 8080)") var port:
        Int?
    @Option(
        name: .customLong("tls-certificate"),
        help: "A certificate chain in PEM; with --tls-key. (environment: DOORSTEP_TLS_CERTIFICATE)")
    var tlsCertificate: String?
    @Option(
        name: .customLong("tls-key"), help: "The certificate's key in PEM. (environment: DOORSTEP_TLS_KEY)")
    var tlsKey: String?
    @Option(
        name: .customLong("pool-size"),
        help: "Connections to PostgreSQL, at most. (environment: DOORSTEP_POOL_SIZE, default: 4)")
    var poolSize: Int?
    @Option(
        name: .customLong("table-file"),
        help: """
            Keep what answers are given from in this file, so that the server can start while the database does not \
            answer. (environment: DOORSTEP_TABLE_FILE)
            """)
    var tableFile: String?
    @Option(
        name: .customLong("table-max-age"),
        help: ArgumentHelp(
            """
            How many hours ago the table in that file may have been the database's, 1 to 8760; or 'off'. \
            (environment: DOORSTEP_TABLE_MAX_AGE, default: 24)
            """, valueName: "hours"))
    var tableMaxAge: TableAge?
    @Option(
        name: .customLong("confirmation-retention"),
        help: """
            For how many days confirmations are kept, 1 to 730. (environment: DOORSTEP_CONFIRMATION_RETENTION, \
            default: 90)
            """)
    var confirmationRetention: Int?
    @OptionGroup var retention: NotificationRetention
    @Option(
        name: .customLong("log-level"),
        help:
            "trace, debug, info, notice, warning, error or critical. (environment: DOORSTEP_LOG_LEVEL, default: info)"
    )
    var logLevel: String?
    @OptionGroup(title: "Limits") var limits: LimitSettings
    @OptionGroup(title: "Notifications") var apns: APNsOptions
    @OptionGroup(title: "Webhooks") var webhookAuthorities: AuthorityOptions

    /// One that finds and takes what is due, one that writes down what became of it, and one for webhooks.
    private static let deliveryConnections = 3

    func run() async throws {
        var settings = try settings()
        let logger = try logger()
        Self.limitConnections(&settings, logger)
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        let poolSize = try poolSize ?? Environment.value("DOORSTEP_POOL_SIZE", as: Int.self) ?? 4
        guard (1...1_000).contains(poolSize) else { throw ValidationError("--pool-size is from 1 to 1000") }
        let retention =
            try confirmationRetention ?? Environment.value("DOORSTEP_CONFIRMATION_RETENTION", as: Int.self)
            ?? 90
        guard ConfirmationDays.retentions.contains(retention) else {
            throw ValidationError("--confirmation-retention is from 1 to 730 days")
        }
        let signatures = try PlaceURLSigner.fromEnvironment()
        if signatures.isEmpty {
            logger.notice("DOORSTEP_SIGNING_SECRET is not set: places signed in URLs are refused")
        }
        let keys = try TokenSecrets.sealingKeys()
        if keys == nil {
            logger.notice("DOORSTEP_TOKEN_SECRET is not set: no instances are registered")
        }
        let apns = try self.apns.makeClient(logger: logger)
        if apns == nil {
            logger.notice("DOORSTEP_APNS_KEYS is not set: no notifications are delivered from here")
        }
        let apnsTimeout = Duration.seconds(try self.apns.requestTimeout())
        let notificationRetention = try self.retention.checked()
        let issuer = try receipts.makeIssuer()
        let tableAge =
            try tableMaxAge ?? Environment.value("DOORSTEP_TABLE_MAX_AGE", as: TableAge.self) ?? .standard
        let file = (tableFile ?? Environment.text("DOORSTEP_TABLE_FILE")).map {
            TableFile(path: $0, maximumAge: tableAge.maximum)
        }
        // However many requests wait for the database, what has been accepted is sent.
        try await database.withPools(
            maximumConnections: (poolSize, apns == nil ? 1 : Self.deliveryConnections), trapsSignals: false,
            onUnprepared: {
                logger.notice("the database is behind a pooler: statements are not prepared any more")
            }
        ) { [settings] pool, deliveryPool in
            let routing = RoutingService(pool, trusting: .signed(signatures), file: file, logger: logger)
            try await routing.start()
            let confirmations = ConfirmationQueue(pool) { error in
                logger.warning("confirmations are not recorded yet", metadata: ["error": "\(error)"])
            }
            let usage = KeyUsageQueue(pool) { error in
                logger.info("the use of keys is not written down yet", metadata: ["error": "\(error)"])
            }
            let figures = ServerFigures(routing.table, confirmations)
            // What is queued waits in the database for a server that has a sender.
            let delivery = keys.map {
                Delivery(
                    pool, sendingBy: deliveryPool, keys: $0, sender: apns, timeout: apnsTimeout,
                    logger: logger)
            }
            let server = APIServer(
                settings,
                APIServer.Dependencies(
                    answers: APIAnswers(recorder: confirmations, receipts: issuer),
                    table: routing.table, usage: usage,
                    instances: keys.map { InstanceRegistrar(PostgresInstanceStore(pool, keys: $0)) },
                    notifications: delivery?.intake,
                    channels: apns.map { ChannelDirectory($0, PostgresChannelStore(pool)) },
                    metrics: {
                        figures.update()
                        delivery?.updateFigures()
                        return registry.exposition()
                    }), logger: logger,
                onListening: { port in
                    logger.notice("listening", metadata: ["host": "\(settings.host)", "port": "\(port)"])
                })
            // Ended in the opposite order: the last request's confirmation finds its queue still at work.
            var services: [any Service] = [
                routing,
                UpkeepService(ConfirmationDays(pool, retention: retention), logger: logger),
                UpkeepService(
                    NotificationUpkeep(
                        pool, instanceRetention: notificationRetention.instances,
                        notificationRetention: notificationRetention.notifications), logger: logger),
                RecordingService(confirmations, logger: logger), KeyUsageService(usage),
            ]
            if let issuer, let keys = receipts.keys.file {
                services.append(
                    KeyFileService(for: "receipts", logger: logger) { known in
                        guard let read = try keys.read(unlessVersionIs: known) else { return nil }
                        issuer.replaceKeys(by: read.keys)
                        return (read.version, read.keys.keys.map(\.id))
                    })
            }
            if let keys {
                services.append(
                    WebhookService(
                        PostgresWebhookStore(deliveryPool, keys: keys),
                        authorities: try webhookAuthorities.path(),
                        logger: logger))
            }
            if let apns, let list = self.apns.keyList {
                services += [
                    apns,
                    KeyFileService(for: "APNs", logger: logger) { known in
                        guard let read = try list.read(unlessVersionsAre: known) else { return nil }
                        apns.replaceKeys(read.keys)
                        return (read.versions, read.keys.map(\.id))
                    },
                ]
            }
            services += delivery?.services ?? []
            services.append(server)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: services.map { .init(service: $0) },
                    gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
            try await group.run()
        }
    }

    private func settings() throws -> APIServer.Settings {
        var settings = APIServer.Settings()
        settings.host = host ?? Environment.text("DOORSTEP_HOST") ?? settings.host
        settings.port = try port ?? Environment.value("DOORSTEP_PORT", as: Int.self) ?? settings.port
        guard (0...65_535).contains(settings.port) else { throw ValidationError("--port is from 0 to 65535") }
        try limits.apply(to: &settings)
        switch (
            tlsCertificate ?? Environment.text("DOORSTEP_TLS_CERTIFICATE"),
            tlsKey ?? Environment.text("DOORSTEP_TLS_KEY")
        ) {
        case (nil, nil): break
        case (let certificate?, let key?):
            // NIO reads it; this says whether others could.
            _ = try SecretFile(path: key).bytes()
            settings.tls = (certificate, key)
        default: throw ValidationError("--tls-certificate and --tls-key go together")
        }
        return settings
    }

    /// What the process may have open must do for the connections and for what it needs besides: each connection to
    /// PostgreSQL, to APNs and to receivers of webhooks, and files.
    private static func limitConnections(_ settings: inout APIServer.Settings, _ logger: Logger) {
        let limit = OpenFileLimit.raise(to: settings.maximumConnections + otherFiles)
        guard limit < settings.maximumConnections + otherFiles else { return }
        settings.maximumConnections = max(limit - otherFiles, limit / 2)
        logger.notice(
            "fewer connections than --max-connections: the process may not have so many files open (ulimit -n)",
            metadata: ["connections": "\(settings.maximumConnections)", "files": "\(limit)"])
    }

    private static let otherFiles = 512

    private func logger() throws -> Logger {
        let name = logLevel ?? Environment.text("DOORSTEP_LOG_LEVEL") ?? "info"
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError(
                "--log-level is one of trace, debug, info, notice, warning, error, critical")
        }
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        return Logger(label: "doorstep")
    }
}

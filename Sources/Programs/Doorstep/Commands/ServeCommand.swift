import ArgumentParser
import Formats
import HTTPAPI
import Logging
import Persistence
import Platform

/// Serves the API. `doorstep doctor` takes the same settings.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the HTTP API until SIGTERM or SIGINT.",
        discussion: """
            The server responds to lookups from memory. It reads all tenants' catalogues at the start and follows \
            the database within a second. While the database is unavailable, it uses its last data. It finishes \
            current requests before it ends. The database must be migrated; DATABASE_URL's login must be a member of \
            doorstep_app, doorstep_router and doorstep_manager, and of nothing more.

            Run 'doorstep settings' for all settings. Two are in the environment only: DOORSTEP_SIGNING_SECRET, for \
            signed URLs and App Attest's tokens, and DOORSTEP_TOKEN_SECRET, which encrypts push tokens in the \
            database.

            Example: doorstep serve --database-url service=doorstep
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var databaseOnly: DatabaseOnly
    @OptionGroup(title: "Listening") var listening: ListenOptions
    @Option(Settings.poolSize) var poolSize: Int?
    @Option(Settings.managementPoolSize) var managementPoolSize: Int?
    @Option(Settings.tableFile) var tableFile: String?
    @Option(Settings.tableMaximumAge) var tableMaximumAge: TableAge?
    @Option(Settings.confirmationRetention) var confirmationRetention: Int?
    @Option(Settings.instanceRetention) var instanceRetention: Int?
    @Option(Settings.notificationRetention) var notificationRetention: Int?
    @Option(Settings.auditRetention) var auditRetention: Int?
    @Option(Settings.logLevel) var logLevel: Logger.Level?
    @Option(Settings.logFormat) var logFormat: LogFormat?
    @Option(Settings.accessLog) var accessLog: AccessLogMode?
    @OptionGroup(title: "Traces") var traces: TraceOptions
    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup(title: "App Attest") var attestation: AttestationOptions
    @OptionGroup(title: "Limits") var limits: LimitOptions
    @OptionGroup(title: "Notifications") var apns: APNsOptions
    @Option(Settings.driftInterval) var driftInterval: Int?
    @Option(Settings.appStore) var appStore: StoreURL?
    @Option(Settings.domainCheckInterval) var domainCheckInterval: Int?
    @OptionGroup(title: "Webhooks and proofs of domains") var proof: ProofOptions
    @Flag(
        help: """
            Start although DOORSTEP_TOKEN_SECRET opens nothing that is sealed in the database: that secret is lost, and \
            its data with it.
            """)
    var allowNewTokenSecret = false

    func run() async throws {
        let log = try self.log()
        StandardErrorLog.bootstrap(log.level, log.format)
        let logger = Logger(label: "doorstep")
        // Invalid settings cause an error message before the log begins.
        let server = try self.server(logger: logger)
        logger.notice("doorstep serve starts", metadata: BuildInfo.current.metadata)
        UnknownSettings().warn(logger)
        try await server.run(on: database)
    }

    func log() throws -> (level: Logger.Level, format: LogFormat?) {
        (try Settings.logLevel.value(logLevel), try Settings.logFormat.value(logFormat))
    }

    /// The file of `--table-file`; nil without one.
    func table() throws -> TableFile? {
        let age = try Settings.tableMaximumAge.value(tableMaximumAge)
        return try Settings.tableFile.value(tableFile).map { TableFile(path: $0, maximumAge: age.maximum) }
    }

    /// The maximum number of connections to PostgreSQL, including the one for notifications of changes.
    func connectionCount() throws -> Int {
        try Settings.poolSize.value(poolSize) + Settings.managementPoolSize.value(managementPoolSize)
            + (try apns.sending() == nil ? 1 : Server.deliveryConnections) + 1
    }

    func server(logger: Logger) throws -> Server {
        var api = try listening.settings()
        api.limits = try limits.limits()
        api.accessLog = try Settings.accessLog.value(accessLog).log
        return Server(
            api: api, poolSize: try Settings.poolSize.value(poolSize),
            managementPoolSize: try Settings.managementPoolSize.value(managementPoolSize),
            tableFile: try table(),
            maximumIndexAge: try Settings.tableMaximumAge.value(tableMaximumAge).maximum,
            confirmationRetention: try Settings.confirmationRetention.value(confirmationRetention),
            instanceRetention: try Settings.instanceRetention.value(instanceRetention),
            notificationRetention: try Settings.notificationRetention.value(notificationRetention),
            auditRetention: try Settings.auditRetention.value(auditRetention),
            signatures: try LocationURLSigner.fromEnvironment(), sealingKeys: try TokenSecrets.sealingKeys(),
            allowsNewTokenSecret: allowNewTokenSecret,
            attestationKeys: try AttestationOptions.keys(), attestationRoot: try attestation.root(),
            apns: try apns.sending(), receipts: try receipts.signing(),
            appStore: try Settings.appStore.value(appStore)?.text,
            driftInterval: try Settings.driftInterval.value(driftInterval),
            domainCheckInterval: try Settings.domainCheckInterval.value(domainCheckInterval),
            outbound: try proof.outbound.settings(), resolver: try proof.resolver(),
            traces: try traces.destination(), logger: logger)
    }
}

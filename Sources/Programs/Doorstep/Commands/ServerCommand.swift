import ArgumentParser
import Formats
import HTTPAPI
import Logging
import Persistence

/// A command with the settings of a server.
///
/// `serve` and `doctor` share the settings as generic code, not as a group of options: in debug builds, ArgumentParser validates each
/// group four times within the group around it.
struct ServerCommand<Action: ServerAction>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Action.configuration }

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
    @OptionGroup var action: Action

    func run() async throws { try await action.run(self) }

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

    func server(logger: Logger, allowsNewTokenSecret: Bool = false) throws -> Server {
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
            allowsNewTokenSecret: allowsNewTokenSecret,
            attestationKeys: try AttestationOptions.keys(), attestationRoot: try attestation.root(),
            apns: try apns.sending(), receipts: try receipts.signing(),
            appStore: try Settings.appStore.value(appStore)?.text,
            driftInterval: try Settings.driftInterval.value(driftInterval),
            domainCheckInterval: try Settings.domainCheckInterval.value(domainCheckInterval),
            outbound: try proof.outbound.settings(), resolver: try proof.resolver(),
            traces: try traces.destination(), logger: logger)
    }
}

/// What a command does with the settings of a server, and its own options.
protocol ServerAction: ParsableArguments {
    static var configuration: CommandConfiguration { get }

    func run(_ command: ServerCommand<Self>) async throws
}

import APNsClient
import AppAttest
import Confirmations
import Foundation
import HTTPAPI
import Logging
import Metrics
import OutboundHTTP
import Persistence
import Platform
import PostgreSQL
import Receipts
import ServiceLifecycle
import TenantSites

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
            let parts = try await ServerParts(
                of: self, pool, deliveryPool, managementPool, sender, outbound, tracer)
            if database.embeddedPostgres == nil { await warnOfSuperuser(pool) }
            let server = parts.apiServer(tellingMetricsOf: registry)
            try await ServiceGroup.run(parts.services + [server], logger: logger)
            logger.notice("doorstep serve has ended")
        }
    }

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
    func limitedByOpenFiles() -> APIServer.Settings {
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

public import Administration
public import AppStoreSync
public import Confirmations
public import Formats
public import Foundation
package import HTTPServer
public import HTTPTypes
public import Logging
public import Lookups
import Metrics
public import Notifications
public import ServiceLifecycle
public import Tenancy
public import Tracing

/// The HTTP API as a service: it listens until its service group shuts it down gracefully.
public struct APIServer: Service {
    private let settings: Settings
    private let dependencies: Dependencies
    private let logger: Logger

    /// Addresses, limits and timeouts.
    public struct Settings: Sendable {
        public var host = "127.0.0.1"
        /// 0 means any free port, which `onListening` reports.
        public var port = 8080
        /// The address for monitors. Their endpoints are then not at the port above. It always uses plain HTTP.
        public var operations: (host: String, port: Int)?
        /// The certificate and key. With them the server uses TLS, with HTTP/2 and HTTP/1.1.
        package var tls: TLSIdentity?
        /// The longest silence of a connection.
        public var idleTimeout = Duration.seconds(60)
        /// The longest time of a TLS handshake.
        public var handshakeTimeout = Duration.seconds(10)
        /// The longest time for which a client may read nothing of a response. [ours]
        public var responseTimeout = Duration.seconds(30)
        /// The maximum number of open connections. One client may have a tenth of them. A few more can be open for a moment, because
        /// the server accepts several at a time. If nearly all are open, the server closes idle ones to make room for new ones.
        public var maximumConnections = 10_000
        /// The longest time for running requests at shutdown. Then the remaining connections are closed.
        public var shutdownTimeout = Duration.seconds(25)
        /// The time at shutdown in which the server still accepts connections, while `/readyz` returns 503.
        public var shutdownDelay = Duration.zero
        /// The longest time in which a request's head may arrive, and then its body.
        public var bodyTimeout = Duration.seconds(10)
        /// The limits of tenants without their own limits. [ours]
        public var limits = RequestLimits(
            key: RateLimit(perSecond: 5_000, burst: 20_000), client: RateLimit(perSecond: 50, burst: 1_000),
            newInstances: RateLimit(perSecond: 50, burst: 20_000),
            clientNewInstances: RateLimit(perSecond: 1, burst: 2_000),
            newAttestKeys: RateLimit(perSecond: 50, burst: 20_000),
            clientNewAttestKeys: RateLimit(perSecond: 1, burst: 2_000))
        /// The proxies whose `X-Forwarded-For` the server trusts.
        public var trustedProxies: [AddressRange] = []
        /// The maximum number of requests of a tenant that wait for their bodies or the database at the same time.
        public var tenantConcurrency = 1_000
        /// Nil if the server logs only at its logger's level.
        public var accessLog: AccessLog?
        /// Records a span for each request; nil for none.
        public var tracer: (any Tracer)?

        public init() {}
    }

    /// The dependencies of the API.
    public struct Dependencies: Sendable {
        public var responses: APIResponses
        /// Nil if the server has no secret for challenges and tokens.
        public var attestation: AppVerifier?
        /// The fingerprint of the root certificate of attestations, if it is not Apple's.
        public var foreignAttestationRoot: String?
        /// The lookup index.
        public var table: LiveLookupIndex
        /// Records the use of keys.
        public var usage: any KeyUsageRecorder
        /// Records refused and failed requests of keys; nil if they are not recorded.
        public var refusals: (any RefusedRequestRecorder)?
        /// Nil if push tokens cannot be sealed.
        public var instances: InstanceRegistrar?
        /// Nil if push tokens cannot be opened.
        public var notifications: NotificationIntake?
        /// Creates and deletes broadcast channels; nil if the server has no keys for APNs.
        public var channels: ChannelDirectory?
        /// Nil if webhooks' secrets cannot be sealed.
        public var webhooks: (any WebhookRegistry)?
        /// Stores the responses to requests with an `Idempotency-Key`.
        public var idempotency: any IdempotencyStore
        /// The resources that keys manage.
        public var catalogue: ManagedCatalogue
        /// Looks for the proof of a claim, within a time limit. The actor is the key's name in the audit log.
        public var proveDomain:
            @Sendable (DomainName, TenantID, _ actor: String, Date) async throws -> DomainVerification.Outcome
        /// Diagnoses an invocation URL.
        public var diagnose: Diagnose
        /// The recorded confirmations.
        public var confirmations: any ConfirmationHistory
        /// The accepted notifications and their deliveries.
        public var history: any NotificationHistory
        /// The deliveries, which keys list and retry.
        public var deliveries: any DeliveryLedger
        /// The results of the last checks at App Store Connect.
        public var appStore: any LatestChecks
        /// The landing pages of proved hosts; nil if the server has none.
        public var landingPages: LandingPages?
        /// The maximum age of the lookup index at which the server is ready; nil for any age.
        public var maximumIndexAge: Duration?
        /// Returns the reason why the database refuses writes; nil if it accepts them.
        public var writeRefusal: @Sendable () -> String?
        /// Returns the metrics in Prometheus' text format.
        public var metrics: @Sendable () -> String
        /// Whether the server wants new clients.
        let readiness = Readiness()

        /// Responds to GET or HEAD at a host with landing pages, from memory.
        public typealias LandingPages =
            @Sendable (HTTPRequest, LookupIndex.ProvedHost, LiveLookupIndex.State) -> (
                response: HTTPResponse, body: [UInt8]
            )

        /// Returns the points of a diagnosis by a tenant's table. If `asksSite`, it also requests the site, within a time limit.
        public typealias Diagnose =
            @Sendable (_ url: String, TenantTable, _ asksSite: Bool) async throws -> JSONObject

        public init(
            responses: APIResponses, attestation: AppVerifier? = nil, foreignAttestationRoot: String? = nil,
            table: LiveLookupIndex, usage: any KeyUsageRecorder,
            refusals: (any RefusedRequestRecorder)? = nil,
            instances: InstanceRegistrar? = nil, notifications: NotificationIntake? = nil,
            channels: ChannelDirectory? = nil, webhooks: (any WebhookRegistry)? = nil,
            idempotency: any IdempotencyStore, catalogue: ManagedCatalogue,
            proveDomain:
                @escaping @Sendable (DomainName, TenantID, _ actor: String, Date) async throws ->
                DomainVerification.Outcome,
            diagnose: @escaping Diagnose, confirmations: any ConfirmationHistory,
            history: any NotificationHistory, deliveries: any DeliveryLedger, appStore: any LatestChecks,
            landingPages: LandingPages? = nil, maximumIndexAge: Duration? = nil,
            writeRefusal: @escaping @Sendable () -> String? = { nil },
            metrics: @escaping @Sendable () -> String
        ) {
            self.responses = responses
            self.attestation = attestation
            self.foreignAttestationRoot = foreignAttestationRoot
            self.table = table
            self.usage = usage
            self.refusals = refusals
            self.instances = instances
            self.notifications = notifications
            self.channels = channels
            self.webhooks = webhooks
            self.idempotency = idempotency
            self.catalogue = catalogue
            self.proveDomain = proveDomain
            self.diagnose = diagnose
            self.confirmations = confirmations
            self.history = history
            self.deliveries = deliveries
            self.appStore = appStore
            self.landingPages = landingPages
            self.maximumIndexAge = maximumIndexAge
            self.writeRefusal = writeRefusal
            self.metrics = metrics
        }
    }

    /// The folders in which uploads are stored while they arrive: the first one that can be written.
    public static var uploadFolders: [String] { SpooledBody.directories }

    /// The ports of the server.
    public enum Listener: Sendable {
        case api
        /// The port for monitors. Without it, their endpoints are at the API's port.
        case operations
    }

    private let onListening: @Sendable (Listener, Int) async -> Void

    /// - Parameter onListening: Called with each port once connections are accepted there.
    public init(
        _ settings: Settings, _ dependencies: Dependencies, logger: Logger,
        onListening: @escaping @Sendable (Listener, Int) async -> Void = { _, _ in }
    ) {
        self.settings = settings
        self.dependencies = dependencies
        self.logger = logger
        self.onListening = onListening
    }

    /// Listens until graceful shutdown. Then the server accepts no new connections, and finishes the running requests.
    /// - Throws: If an address, certificate or key cannot be used.
    public func run() async throws {
        let observer = RequestObserver(settings.accessLog)
        let listeners = listeners(observer)
        var servers: [RunningServer] = []
        do {
            for listener in listeners {
                servers.append(
                    try await RunningServer.start(listener.settings, listener.responder, logger: logger))
            }
        } catch {
            for server in servers { await server.stop() }
            throw error
        }
        for (listener, server) in zip(listeners, servers) { await onListening(listener.name, server.port) }
        // The task ends with the servers.
        async let _: Void = observer.tellOfRefusals(to: logger)
        try? await gracefulShutdown()
        dependencies.readiness.end()
        logger.notice(
            "shutdown begins: /readyz returns 503 (--shutdown-delay)",
            metadata: ["delay": "\(settings.shutdownDelay.components.seconds)"])
        try? await Task.sleep(for: settings.shutdownDelay)
        await drain(servers)
        logger.notice("all connections have ended")
    }

    private func drain(_ servers: [RunningServer]) async {
        let limit = settings.shutdownTimeout
        let count = await withTaskGroup(of: Int.self) { group in
            for server in servers { group.addTask { await server.drain(within: limit) } }
            return await group.reduce(0, +)
        }
        guard count > 0 else { return }
        logger.warning(
            "open connections were cut at the end of the shutdown (--shutdown-timeout)",
            metadata: ["connections": "\(count)"])
    }

    /// The maximum number of open connections of monitors. [ours]
    private static let maximumMonitors = 64

    private func listeners(
        _ observer: RequestObserver
    ) -> [(name: Listener, settings: ServerSettings, responder: APIResponder)] {
        let responder = APIResponder(settings, dependencies, observer, logger: logger)
        var api = ServerSettings(settings)
        let connections = Meter(label: "doorstep_http_connections")
        api.onConnectionCount = {
            [readiness = dependencies.readiness, maximum = settings.maximumConnections] in
            connections.set($0)
            readiness.set(connections: $0, of: maximum)
        }
        guard let place = settings.operations else { return [(.api, api, responder)] }
        var plain = settings
        (plain.host, plain.port, plain.tls) = (place.host, place.port, nil)
        // Monitors have separate connections, which clients cannot exhaust. All monitors may have one address.
        plain.maximumConnections = Self.maximumMonitors
        var operations = ServerSettings(plain)
        operations.maximumConnectionsOfClient = Self.maximumMonitors
        let monitors = APIResponder(
            OperationsEndpoints(dependencies, isPublic: false).endpoints + ProblemPages.endpoints,
            responder.access, observer, plain, logger: logger, limitingReaders: false)
        return [(.api, api, responder), (.operations, operations, monitors)]
    }

    /// All endpoints of the API's port. It leaves out the endpoints of monitors if they have their own port.
    static func endpoints(
        _ access: AccessControl, _ settings: Settings, _ dependencies: Dependencies
    ) -> [Endpoint] {
        let attestation = AttestationControl(
            verifier: dependencies.attestation, counters: dependencies.responses.attestationCounters)
        let downloads = ImageDownloads(dependencies.catalogue.items.images, dependencies.catalogue.imageFiles)
        let endpoints =
            LocationEndpoints(responses: dependencies.responses, attestation: attestation).endpoints
            + AttestationEndpoints(control: attestation, limiter: access.limiter.newAttestKeys).endpoints
            + InstanceEndpoints(
                dependencies.instances, dependencies.responses, access.limiter, attestation
            ).endpoints
            + NotificationEndpoints(dependencies.notifications).endpoints
            + ChannelEndpoints(directory: dependencies.channels).endpoints
            + managementEndpoints(dependencies.management)
            + [ImageEndpoints(dependencies.catalogue.items.images, downloads).fileEndpoint]
            + DiagnosisEndpoints(by: dependencies.diagnose).endpoints
            + AppStoreEndpoints(checks: dependencies.appStore).endpoints
            + SiteAssociationEndpoints(table: dependencies.table).endpoints
            + CardImageEndpoints(access, downloads).endpoints
            + (settings.operations == nil ? OperationsEndpoints(dependencies, isPublic: true).endpoints : [])
            + [OpenAPIDocument.endpoint, ServiceIndex.endpoint]
            + ProblemPages.endpoints
            + ReceiptEndpoints(issuer: dependencies.responses.receipts).endpoints
        return endpoints.map { $0.storingResponses(in: dependencies.idempotency) }
    }

    /// The endpoints that manage a tenant. A server offers them to keys, ``LocalAPI`` to operators.
    static func managementEndpoints(
        _ parts: ManagementParts, limits: CollectionLimits = CollectionLimits()
    ) -> [Endpoint] {
        let items = parts.catalogue.items
        let plainCollections = items.plainCollections.flatMap { store in endpoints(of: store, limits) }
        return NotificationHistoryEndpoints(history: parts.history).endpoints
            + DeliveryEndpoints(ledger: parts.deliveries).endpoints
            + CatalogueEndpoints<LocationRecord>(
                "identifier", items.locations, unknown: .unknownLocation, writing: [.unknownImage],
                hasDependents: true
            ).endpoints
            + CatalogueEndpoints(
                "bundleID", items.clips, unknown: .unknownClip,
                writing: [.unknownImage, .monitoredTooLittle], hasDependents: true
            ).endpoints
            + ImageEndpoints(items.images, ImageDownloads(items.images, parts.catalogue.imageFiles)).endpoints
            + CatalogueEndpoints<ExperienceRecord>(
                "id", items.experiences, namesItself: true, unknown: .unknownExperience,
                writing: [.unknownClip, .unknownLocation, .unknownImage, .secondDefaultExperience]
            ).endpoints
            + CollectionEndpoints(store: items.locations, limits: limits).endpoints
            + CollectionEndpoints(store: items.experiences, limits: limits).endpoints
            + plainCollections
            + DomainEndpoints(items.domains, provingBy: parts.proveDomain).endpoints
            + TenantEndpoints(store: parts.catalogue.tenant).endpoints
            + KeyEndpoints(store: parts.catalogue.keys).endpoints
            + AttestKeyEndpoints(store: parts.catalogue.attestKeys).endpoints
            + WebhookEndpoints(registry: parts.webhooks).endpoints
            + EventEndpoints(parts.webhooks, parts.readiness).endpoints
            + ConfirmationEndpoints(history: parts.confirmations).endpoints
            + StatisticsEndpoints(history: parts.confirmations).endpoints
            + AuditLogEndpoints(log: parts.catalogue.auditLog).endpoints
            + RequestLogEndpoints(log: parts.catalogue.auditLog).endpoints
    }

    private static func endpoints<Store: CollectionStore>(
        of store: Store, _ limits: CollectionLimits
    ) -> [Endpoint] {
        CatalogueEndpoints<Store.Item>(
            Store.Item.keyField?.name ?? "id", store, unknown: .unknownItem(of: Store.Item.self),
            writing: Store.Item.fields.compactMap { field in
                field.references.flatMap { ProblemType.byCode["unknown_\($0)"] }
            }
        ).endpoints + CollectionEndpoints<Store.Item>(store: store, limits: limits).endpoints
    }
}

extension ServerSettings {
    init(_ settings: APIServer.Settings) {
        self.init()
        host = settings.host
        port = settings.port
        tls = settings.tls
        name = "Doorstep"
        headTimeout = settings.bodyTimeout
        idleTimeout = settings.idleTimeout
        handshakeTimeout = settings.handshakeTimeout
        responseTimeout = settings.responseTimeout
        maximumConnections = settings.maximumConnections
        let proxies = TrustedProxies(settings.trustedProxies)
        isProxy = { proxies.contains($0) }
    }
}

extension APIResponder {
    /// The responder for all endpoints of the API's port.
    convenience init(
        _ settings: APIServer.Settings, _ dependencies: APIServer.Dependencies, _ observer: RequestObserver,
        logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async -> Void = Pause.sleep
    ) {
        let access = AccessControl(
            table: dependencies.table,
            limiter: RequestLimiter(defaults: settings.limits, now: now, sleep: sleep),
            usage: dependencies.usage, verifier: dependencies.attestation)
        self.init(
            APIServer.endpoints(access, settings, dependencies), access, observer, settings, logger: logger,
            hiding: OperationsEndpoints(dependencies, isPublic: true).endpoints.map(\.path),
            showing: dependencies.landingPages, recordingRefusalsTo: dependencies.refusals)
    }
}

public import Administration
public import AppStoreSync
public import Attestation
public import Foundation
package import HTTPServer
public import HTTPTypes
public import IPAddresses
public import JSON
public import Locations
public import Logging
public import Lookups
import Metrics
public import Notifications
public import RateLimiting
public import ServiceLifecycle
public import Tenancy

/// The HTTP API as a service: it listens until its service group shuts it down gracefully.
public struct APIServer: Service {
    private let settings: Settings
    private let dependencies: Dependencies
    private let logger: Logger

    /// Where to listen, and how long to wait.
    public struct Settings: Sendable {
        public var host = "127.0.0.1"
        /// 0 takes any free port; ``APIServer/init(_:_:logger:onListening:)`` tells which.
        public var port = 8080
        /// Where the server tells how it does, instead of the port above: in plain HTTP, whatever `tls` says.
        public var operations: (host: String, port: Int)?
        /// With it the server speaks TLS, HTTP/2 and HTTP/1.1.
        package var tls: TLSIdentity?
        /// How long a connection may be silent.
        public var idleTimeout = Duration.seconds(60)
        /// How long the two sides may take to agree on TLS.
        public var handshakeTimeout = Duration.seconds(10)
        /// How long a client may take nothing of an answer. [ours]
        public var responseTimeout = Duration.seconds(30)
        /// How many connections are open at once, a tenth of them of one client; a few more for a moment, because several are
        /// accepted at a time. When nearly all are open, idle ones are closed for new ones.
        public var maximumConnections = 10_000
        /// How long requests under way may take when the server ends; what is not over then is cut.
        public var shutdownTimeout = Duration.seconds(25)
        /// How long the server goes on accepting connections when it ends, while `/readyz` returns 503.
        public var shutdownDelay = Duration.zero
        /// How long a request's head may take to arrive, and then its body.
        public var bodyTimeout = Duration.seconds(10)
        /// What tenants without limits of their own are held to [ours].
        public var limits = RequestLimits(
            key: RateLimit(perSecond: 5_000, burst: 20_000), client: RateLimit(perSecond: 50, burst: 1_000),
            newInstances: RateLimit(perSecond: 50, burst: 20_000),
            clientNewInstances: RateLimit(perSecond: 1, burst: 2_000),
            newAttestKeys: RateLimit(perSecond: 50, burst: 20_000),
            clientNewAttestKeys: RateLimit(perSecond: 1, burst: 2_000))
        /// The proxies whose `X-Forwarded-For` is believed.
        public var trustedProxies: [AddressRange] = []
        /// How many requests of one tenant may wait for their bodies or the database at once.
        public var tenantConcurrency = 1_000

        public init() {}
    }

    /// What the API stands on.
    public struct Dependencies: Sendable {
        public var responses: APIResponses
        /// Nil for a server without a secret for challenges and tokens.
        public var attestation: AppVerifier?
        /// The fingerprint of the root that attestations are traced back to, where it is not Apple's.
        public var foreignAttestationRoot: String?
        /// What is answered from.
        public var table: LiveLookupIndex
        /// Learns which keys are used.
        public var usage: any KeyUsageRecorder
        /// Nil where push tokens cannot be sealed.
        public var instances: InstanceRegistrar?
        /// Nil where push tokens cannot be opened.
        public var notifications: NotificationIntake?
        /// Has broadcast channels made; nil where APNs cannot be reached.
        public var channels: ChannelDirectory?
        /// Nil where webhooks' secrets cannot be sealed.
        public var webhooks: (any WebhookRegistry)?
        /// Stores the responses to requests with an `Idempotency-Key`.
        public var idempotency: any IdempotencyStore
        /// What keys manage.
        public var catalogue: ManagedCatalogue
        /// Looks for the proof of a claim, for a key by its name in the audit log; bounded in time.
        public var proveDomain:
            @Sendable (DomainName, TenantID, _ actor: String, Date) async throws -> DomainVerification.Outcome
        /// Tells what becomes of an invocation URL.
        public var diagnose: Diagnose
        /// What keys read of confirmations.
        public var confirmations: any ConfirmationHistory
        /// What keys read of notifications, instances and channels.
        public var history: any NotificationHistory
        /// What keys read and retry of deliveries.
        public var deliveries: any DeliveryLedger
        /// What keys read of what App Store Connect has.
        public var appStore: any LatestChecks
        /// Shows people what is at a proved host; nil for a server that has no pages.
        public var landingPages: LandingPages?
        /// Metrics in Prometheus' text format.
        public var metrics: @Sendable () -> String
        /// Whether the server wants new clients.
        let readiness = Readiness()

        /// Answers a GET or HEAD of a host at which pages are shown, from memory.
        public typealias LandingPages =
            @Sendable (HTTPRequest, LookupIndex.ProvedHost, LiveLookupIndex.State) -> (
                response: HTTPResponse, body: [UInt8]
            )

        /// Gives the points of a diagnosis by what a table says; where the site is to be asked, bounded in time.
        public typealias Diagnose =
            @Sendable (_ url: String, TenantTable, _ asksSite: Bool) async throws -> JSONObject

        public init(
            responses: APIResponses, attestation: AppVerifier? = nil, foreignAttestationRoot: String? = nil,
            table: LiveLookupIndex, usage: any KeyUsageRecorder,
            instances: InstanceRegistrar? = nil, notifications: NotificationIntake? = nil,
            channels: ChannelDirectory? = nil, webhooks: (any WebhookRegistry)? = nil,
            idempotency: any IdempotencyStore, catalogue: ManagedCatalogue,
            proveDomain:
                @escaping @Sendable (DomainName, TenantID, _ actor: String, Date) async throws ->
                DomainVerification.Outcome,
            diagnose: @escaping Diagnose, confirmations: any ConfirmationHistory,
            history: any NotificationHistory, deliveries: any DeliveryLedger, appStore: any LatestChecks,
            landingPages: LandingPages? = nil,
            metrics: @escaping @Sendable () -> String
        ) {
            self.responses = responses
            self.attestation = attestation
            self.foreignAttestationRoot = foreignAttestationRoot
            self.table = table
            self.usage = usage
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
            self.metrics = metrics
        }
    }

    /// Where requests come in.
    public enum Listener: Sendable {
        case api
        /// For monitors; without one they ask at the other.
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

    /// Listens until graceful shutdown. No new connections are accepted then, and requests under way are answered.
    /// - Throws: If an address, certificate or key cannot be used.
    public func run() async throws {
        let observer = RequestObserver()
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
        // Ends with the servers.
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

    /// How many connections monitors have at once. [ours]
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
        // Monitors neither wait for clients nor count as they do. They may all have one address.
        plain.maximumConnections = Self.maximumMonitors
        var operations = ServerSettings(plain)
        operations.maximumConnectionsOfClient = Self.maximumMonitors
        let monitors = APIResponder(
            OperationsEndpoints(dependencies, isPublic: false).endpoints + ProblemPages.endpoints,
            responder.access, observer, plain, logger: logger, limitingReaders: false)
        return [(.api, api, responder), (.operations, operations, monitors)]
    }

    /// All that the server answers; what monitors ask is left out where they have a port of their own.
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
            + [OpenAPIDocument.endpoint]
            + ProblemPages.endpoints
            + ReceiptEndpoints(issuer: dependencies.responses.receipts).endpoints
        return endpoints.map { $0.storingResponses(in: dependencies.idempotency) }
    }

    /// The endpoints by which a tenant is managed: of a server for keys, of ``LocalAPI`` for operators.
    static func managementEndpoints(
        _ parts: ManagementParts, limits: CollectionLimits = CollectionLimits()
    ) -> [Endpoint] {
        let (items, collections) = (parts.catalogue.items, parts.catalogue.collections)
        return NotificationHistoryEndpoints(history: parts.history).endpoints
            + DeliveryEndpoints(ledger: parts.deliveries).endpoints
            + CatalogueEndpoints(
                "identifier", items.locations, unknown: .unknownLocation, writing: [.unknownImage],
                hasDependents: true
            ).endpoints
            + CatalogueEndpoints(
                "bundleID", items.clips, unknown: .unknownClip,
                writing: [.unknownImage, .monitoredTooLittle], hasDependents: true
            ).endpoints
            + ImageEndpoints(items.images, ImageDownloads(items.images, parts.catalogue.imageFiles)).endpoints
            + CatalogueEndpoints(
                "id", items.experiences, namesItself: true, unknown: .unknownExperience,
                writing: [.unknownClip, .unknownLocation, .unknownImage, .secondDefaultExperience]
            ).endpoints
            + CatalogueEndpoints("code", items.shortCodes, unknown: .unknownShortCode).endpoints
            + CollectionEndpoints(store: collections.locations, limits: limits).endpoints
            + CollectionEndpoints(store: collections.experiences, limits: limits).endpoints
            + CollectionEndpoints(store: collections.shortCodes, limits: limits).endpoints
            + DomainEndpoints(items.domains, provingBy: parts.proveDomain).endpoints
            + TenantEndpoints(store: parts.catalogue.tenant).endpoints
            + KeyEndpoints(store: parts.catalogue.keys).endpoints
            + AttestKeyEndpoints(store: parts.catalogue.attestKeys).endpoints
            + WebhookEndpoints(registry: parts.webhooks).endpoints
            + ConfirmationEndpoints(history: parts.confirmations).endpoints
            + AuditLogEndpoints(log: parts.catalogue.auditLog).endpoints
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
    /// What answers everything that the server does.
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
            showing: dependencies.landingPages)
    }
}

public import Administration
import HTTPTypes
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOSSL
public import Notifications
public import RateLimiting
public import Routing
public import ServiceLifecycle

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
        /// PEM files of a certificate chain and its key; with them the server speaks TLS, HTTP/2 and HTTP/1.1.
        public var tls: (certificate: String, key: String)?
        /// How long a connection may be silent.
        public var idleTimeout = Duration.seconds(60)
        /// How long the two sides may take to agree on TLS.
        public var handshakeTimeout = Duration.seconds(10)
        /// How long a client may take nothing of an answer. [ours]
        public var answerTimeout = Duration.seconds(30)
        /// How many connections are open at once, half of them of one client; a few more for a moment, since several are
        /// accepted at a time.
        public var maximumConnections = 10_000
        /// How long requests under way may take when the server ends; what is not over then is cut.
        public var shutdownTimeout = Duration.seconds(25)
        /// How long a request's body may take to arrive.
        public var bodyTimeout = Duration.seconds(10)
        /// What tenants without limits of their own are held to [ours].
        public var limits = RequestLimits(
            key: RateLimit(perSecond: 5_000, burst: 20_000), client: RateLimit(perSecond: 50, burst: 1_000),
            newInstances: RateLimit(perSecond: 50, burst: 20_000),
            clientNewInstances: RateLimit(perSecond: 1, burst: 2_000))
        /// The proxies whose `X-Forwarded-For` is believed.
        public var trustedProxies: [AddressRange] = []
        /// How many requests of one tenant may wait for their bodies at once.
        public var tenantConcurrency = 1_000

        public init() {}
    }

    /// What the API stands on.
    public struct Dependencies: Sendable {
        public var answers: APIAnswers
        /// What is answered from.
        public var table: LiveRoutingTable
        /// Learns which keys are used.
        public var usage: any KeyUsageRecorder
        /// Nil where push tokens cannot be sealed.
        public var instances: InstanceRegistrar?
        /// Nil where push tokens cannot be opened.
        public var notifications: NotificationIntake?
        /// Has broadcast channels made; nil where APNs cannot be reached.
        public var channels: ChannelDirectory?
        /// Metrics in Prometheus' text format.
        public var metrics: @Sendable () -> String

        public init(
            answers: APIAnswers, table: LiveRoutingTable, usage: any KeyUsageRecorder,
            instances: InstanceRegistrar? = nil, notifications: NotificationIntake? = nil,
            channels: ChannelDirectory? = nil, metrics: @escaping @Sendable () -> String
        ) {
            self.answers = answers
            self.table = table
            self.usage = usage
            self.instances = instances
            self.notifications = notifications
            self.channels = channels
            self.metrics = metrics
        }
    }

    private let onListening: @Sendable (Int) async -> Void

    /// - Parameter onListening: Called with the port once connections are accepted.
    public init(
        _ settings: Settings, _ dependencies: Dependencies, logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.settings = settings
        self.dependencies = dependencies
        self.logger = logger
        self.onListening = onListening
    }

    /// Listens until graceful shutdown: no new connections then, requests under way are answered.
    /// - Throws: When address, certificate or key cannot be used.
    public func run() async throws {
        let observer = RequestObserver()
        let service = AnswerService(settings, dependencies)
        let connections = OpenConnections(
            maximum: settings.maximumConnections, proxies: TrustedProxies(settings.trustedProxies),
            logger: logger)
        let application = Application(
            responder: Self.routes(settings, dependencies, service, observer).buildResponder(),
            server: try Self.builder(
                ExchangeService(service, observer, settings, logger: logger), settings, connections),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port), serverName: Self.name, backlog: 1024,
                availableConnectionsDelegate: connections),
            onServerRunning: { [onListening] channel in await onListening(channel.localAddress?.port ?? 0) },
            logger: logger)
        // Both end with the application.
        async let _: Void = observer.tellOfRefusals(to: logger)
        async let _: Void = cutAtShutdown(connections)
        try await application.run()
    }

    /// What has not ended by itself some time after the server was asked to.
    private func cutAtShutdown(_ connections: OpenConnections) async {
        guard (try? await gracefulShutdown()) != nil,
            (try? await Task.sleep(for: settings.shutdownTimeout)) != nil
        else { return }
        let count = connections.cutAll()
        logger.warning(
            "connections were cut that had not ended when the server did (--shutdown-timeout)",
            metadata: ["connections": "\(count)"])
    }

    static let name = "Doorstep"

    /// What builds the server, with the router behind the exchanges.
    static func builder(
        _ exchanges: ExchangeService, _ settings: Settings, _ connections: OpenConnections
    ) throws -> HTTPServerBuilder {
        let timeouts = ConnectionTimeouts(
            idle: TimeAmount(settings.idleTimeout), handshake: TimeAmount(settings.handshakeTimeout),
            answer: TimeAmount(settings.answerTimeout))
        guard let tls = settings.tls else {
            return HTTPServerBuilder { responder in
                KnownChannel(
                    library: HTTP1Connection(exchanges, timeouts, responder), connections: connections)
            }
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        return HTTPServerBuilder { [configuration] responder in
            KnownChannel(
                library: try TLSConnection(configuration, exchanges, timeouts, responder),
                connections: connections)
        }
    }

    static func routes(
        _ settings: Settings, _ dependencies: Dependencies, _ service: AnswerService,
        _ observer: RequestObserver
    ) -> Router<APIContext> {
        let proxies = TrustedProxies(settings.trustedProxies)
        let answers = AnswerRoutes(
            service: service, proxies: proxies,
            concurrency: TenantConcurrency(maximum: settings.tenantConcurrency),
            bodyTimeout: settings.bodyTimeout)
        let operations = OperationsRoutes(table: dependencies.table, metrics: dependencies.metrics)
        let receipts = ReceiptRoutes(issuer: dependencies.answers.receipts)
        let associations = SiteAssociationRoutes(table: dependencies.table)
        return Route.router(
            AnswerRoute.allCases.map { Route($0.method, $0.path, answers.handler(of: $0)) }
                + storedRoutes(dependencies, service.limiter).map {
                    Route($0.method, $0.path, answers.handler(of: $0))
                } + [
                    Route(.get, SiteAssociationRoutes.path, associations.association),
                    Route(.get, "/livez", operations.livez),
                    Route(.get, "/readyz", operations.readyz),
                    Route(.get, "/metrics", operations.metrics),
                    Route(.get, "/openapi.json", operations.openAPI),
                    Route(.get, "/.well-known/jwks.json", receipts.publishedKeys),
                ], observer, service.limiter, proxies)
    }

    /// The routes that wait for the database.
    private static func storedRoutes(
        _ dependencies: Dependencies, _ limiter: RequestLimiter
    ) -> [StoredRoute] {
        InstanceRoutes(dependencies.instances, dependencies.answers, limiter).routes
            + NotificationRoutes(dependencies.notifications).routes
            + ChannelRoutes(directory: dependencies.channels).routes
    }
}

extension AnswerService {
    init(
        _ settings: APIServer.Settings, _ dependencies: APIServer.Dependencies,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async -> Void = Pause.sleep
    ) {
        self.init(
            answers: dependencies.answers, table: dependencies.table,
            limiter: RequestLimiter(defaults: settings.limits, now: now, sleep: sleep),
            usage: dependencies.usage)
    }
}

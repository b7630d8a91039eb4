public import Administration
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
public import Logging
import NIOCore
import NIOSSL
public import ServiceLifecycle
import Tenancy

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
        /// How long a request's body may take to arrive.
        public var bodyTimeout = Duration.seconds(10)

        public init() {}
    }

    /// What the API stands on.
    public struct Dependencies: Sendable {
        public var answers: APIAnswers
        public var authenticator: any KeyAuthenticator
        /// Whether the stores answer.
        public var isReady: @Sendable () async -> Bool
        /// Metrics in Prometheus' text format.
        public var metrics: @Sendable () -> String
        /// Whether an error of a store says that it did not answer, rather than that the request was wrong.
        public var isTransient: @Sendable (any Error) -> Bool

        public init(
            answers: APIAnswers, authenticator: any KeyAuthenticator,
            isReady: @escaping @Sendable () async -> Bool,
            metrics: @escaping @Sendable () -> String, isTransient: @escaping @Sendable (any Error) -> Bool
        ) {
            self.answers = answers
            self.authenticator = authenticator
            self.isReady = isReady
            self.metrics = metrics
            self.isTransient = isTransient
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
        let application = Application(
            responder: Self.routes(settings, dependencies).buildResponder(),
            server: try server(),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port), serverName: "Doorstep", backlog: 1024),
            onServerRunning: { [onListening] channel in await onListening(channel.localAddress?.port ?? 0) },
            logger: logger)
        try await application.run()
    }

    private func server() throws -> HTTPServerBuilder {
        var connection = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ExchangeHandler()],
            idleTimeout: TimeAmount(settings.idleTimeout))
        connection.httpDecoder = .init(
            maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)
        guard let tls = settings.tls else { return .http1(configuration: connection) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        return try .http2Upgrade(
            tlsConfiguration: configuration,
            configuration: .init(idleTimeout: settings.idleTimeout, streamConfiguration: connection))
    }

    static func routes(_ settings: Settings, _ dependencies: Dependencies) -> Router<APIContext> {
        let answers = AnswerRoutes(answers: dependencies.answers, bodyTimeout: settings.bodyTimeout)
        let operations = OperationsRoutes(isReady: dependencies.isReady, metrics: dependencies.metrics)
        return Route.router(
            [
                Route(.get, "/v1/locations", scope: .lookUp, answers.lookUp),
                Route(.post, "/v1/confirmations", scope: .confirm, answers.confirm),
                Route(.post, "/v1/payloads", scope: .composePayload, answers.compose),
                Route(.get, "/livez", operations.livez),
                Route(.get, "/readyz", operations.readyz),
                Route(.get, "/metrics", operations.metrics),
                Route(.get, "/openapi.json", operations.openAPI),
            ], dependencies)
    }
}

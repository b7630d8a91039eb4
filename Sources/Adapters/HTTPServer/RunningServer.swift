package import Formats
import Foundation
package import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
package import NIOPosix
import NIOSSL
import NIOTLS

/// The address and the limits of a server.
package struct ServerSettings: Sendable {
    package var host = "127.0.0.1"
    /// 0 takes any free port: ``RunningServer/port``.
    package var port = 0
    /// With an identity, the server uses TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1.
    package var tls: TLSIdentity?
    /// The `Server` field of all responses; nil for none.
    package var name: String?
    /// How long a request's head may take to arrive after its first byte.
    package var headTimeout = Duration.seconds(10)
    /// How long a connection may be silent.
    package var idleTimeout = Duration.seconds(60)
    /// The longest time of a TLS handshake.
    package var handshakeTimeout = Duration.seconds(10)
    /// How long a client may read nothing of a response.
    package var responseTimeout = Duration.seconds(30)
    /// The maximum number of open connections. If nearly all are open, the server closes idle ones to make room for new ones.
    package var maximumConnections = 10_000
    /// The maximum number of connections of one client; nil for a tenth of `maximumConnections`.
    package var maximumConnectionsOfClient: Int?
    /// Whether a peer is a trusted proxy, whose connections carry other clients' requests.
    package var isProxy: @Sendable (IPAddress?) -> Bool = { _ in false }
    /// Called with the number of open connections whenever it changes.
    package var onConnectionCount: (@Sendable (Int) -> Void)?

    package init() {}
}

/// The settings of a server that matter to each of its connections.
struct ConnectionSettings: Sendable {
    var server: String?
    var headTimeout = TimeAmount.seconds(10)
    var idleTimeout = TimeAmount.seconds(60)
    /// Returns the current idle timeout, never longer than `idleTimeout`; nil if it never changes.
    var idleTimeoutNow: (@Sendable () -> TimeAmount)?
    var handshakeTimeout = TimeAmount.seconds(10)
    var responseTimeout = TimeAmount.seconds(30)
    let tasks = RunningTasks()
}

/// A server of HTTP/1.1, and of HTTP/2 over TLS, that accepts connections until it is drained or stopped.
package final class RunningServer: Sendable {
    private let channel: any Channel
    private let connections: OpenConnections
    private let tasks: RunningTasks

    package var port: Int { channel.localAddress?.port ?? 0 }

    private init(_ channel: any Channel, _ connections: OpenConnections, _ tasks: RunningTasks) {
        self.channel = channel
        self.connections = connections
        self.tasks = tasks
    }

    /// How many bytes the server reads from a connection at once. [ours]
    ///
    /// The server decodes these bytes at once, and a decoded request needs many times its bytes. A client that sends hundreds of
    /// small requests and reads no response must not use that much memory.
    private static var readLength: Int { 4_096 }

    /// The limits of a header: of one field, of all together, and the number of fields.
    private static let headerLimits = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16_384
        limits.maxHeaderListSize = 32_768
        limits.maxHeaderFieldCount = 100
        return limits
    }()

    /// Starts a server.
    /// - Throws: ``ListenFailure`` if the address cannot be used.
    package static func start(
        _ settings: ServerSettings, _ responder: any ServerResponder,
        logger: Logger = Logger(label: "http-server") { _ in SwiftLogNoOpLogHandler() },
        on group: MultiThreadedEventLoopGroup = .singleton
    ) async throws -> RunningServer {
        let connections = OpenConnections(
            maximum: settings.maximumConnections, share: settings.maximumConnectionsOfClient,
            isProxy: settings.isProxy, logger: logger, onCount: settings.onConnectionCount)
        let usual = TimeAmount(settings.idleTimeout)
        let connectionSettings = ConnectionSettings(
            server: settings.name, headTimeout: TimeAmount(settings.headTimeout), idleTimeout: usual,
            idleTimeoutNow: { connections.idleTime(of: usual) },
            handshakeTimeout: TimeAmount(settings.handshakeTimeout),
            responseTimeout: TimeAmount(settings.responseTimeout))
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptHandler(connections))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readLength))
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let known = connections.add(channel) else {
                        // Not at once: a closed connection cannot be set up.
                        return channel.eventLoop.execute { channel.close(promise: nil) }
                    }
                    try channel.pipeline.syncOperations.addHandler(ReadTimeHandler(known))
                    if let tls = settings.tls {
                        try configure(tls: tls.context, channel, responder, connectionSettings)
                    } else {
                        try configureHTTP1(channel, responder, connectionSettings)
                    }
                }
            }
        do {
            let channel = try await bootstrap.bind(host: settings.host, port: settings.port).get()
            return RunningServer(channel, connections, connectionSettings.tasks)
        } catch {
            throw ListenFailure(host: settings.host, port: settings.port, error)
        }
    }

    static func configure(
        tls: NIOSSLContext, _ channel: any Channel, _ responder: any ServerResponder,
        _ settings: ConnectionSettings
    ) throws {
        try channel.pipeline.syncOperations.addHandlers(
            NIOSSLServerHandler(context: tls), TLSDeadlineHandler(settings.handshakeTimeout),
            ApplicationProtocolNegotiationHandler { result, channel in
                channel.eventLoop.makeCompletedFuture {
                    if case .negotiated("h2") = result {
                        try configureHTTP2(channel, responder, settings)
                    } else {
                        try configureHTTP1(channel, responder, settings)
                    }
                }
            })
    }

    static func configureHTTP1(
        _ channel: any Channel, _ responder: any ServerResponder, _ settings: ConnectionSettings
    ) throws {
        let connection = HTTP1Connection(responder, settings)
        let decoder = HTTPRequestDecoder(limitConfiguration: headerLimits)
        try channel.pipeline.syncOperations.addHandlers(
            ReadThrottle(of: connection), ByteToMessageHandler(decoder), connection)
    }

    static func configureHTTP2(
        _ channel: any Channel, _ responder: any ServerResponder, _ settings: ConnectionSettings
    ) throws {
        try channel.pipeline.syncOperations.addHandlers(
            NIOHTTP2Handler(mode: .server, initialSettings: HTTP2Connection.initialSettings),
            HTTP2Connection(responder, settings))
    }

    // MARK: Ends

    /// How long tasks may continue after their connections were cut. [ours]
    private static let taskTime = Duration.seconds(5)

    /// Accepts no more connections, closes each open connection after its requests, and waits for all tasks, also for tasks
    /// whose clients have left.
    /// - Parameter limit: The longest time for this. Connections that are still open then are cut.
    /// - Returns: The number of connections that were cut.
    package func drain(within limit: Duration) async -> Int {
        try? await channel.close()
        connections.drainAll()
        let end = ContinuousClock.now + limit
        await wait(until: end) { connections.isEmpty && tasks.isEmpty }
        let cut = connections.cutAll()
        await wait(until: .now + Self.taskTime) { tasks.isEmpty }
        return cut
    }

    private func wait(until end: ContinuousClock.Instant, _ isOver: () -> Bool) async {
        while !isOver(), ContinuousClock.now < end, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Accepts no more connections, and cuts the open ones.
    package func stop() async {
        try? await channel.close()
        _ = connections.cutAll()
    }
}

/// Why a server cannot listen. It names the address.
package struct ListenFailure: Error, CustomStringConvertible {
    package let description: String

    init(host: String, port: Int, _ error: any Error) {
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        description = "cannot listen on \(host) port \(port): \(reason)"
    }
}

/// Accepts connections while there is room for them.
private final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private let connections: OpenConnections
    private var isWaiting = false

    init(_ connections: OpenConnections) {
        self.connections = connections
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        connections.connectionOpened()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (handler, context) = bound.value
            handler.connections.connectionClosed()
            guard handler.isWaiting, handler.connections.isAcceptingNewConnections() else { return }
            handler.isWaiting = false
            context.read()
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard connections.isAcceptingNewConnections() else { return isWaiting = true }
        context.read()
    }
}

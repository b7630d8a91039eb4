import Foundation
import HTTPServer
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A simulator of APNs for the development and tests of providers. It accepts the requests that APNs accepts, refuses others with
/// the same reasons, and can fail in all ways that were observed with APNs.
///
/// It delivers nothing, and stores the requests. Notifications, broadcasts and the management of channels share one port.
public final class APNsSimulator: Sendable {
    /// The port for HTTP/2 over TLS.
    public let port: Int
    /// The port for control over plain HTTP on the loopback address; nil without control.
    public let controlPort: Int?
    /// The PEM of the certificate that clients must trust; nil if the options contain certificate files.
    public let authority: String?
    private let state: SimulatorState
    let server: any Channel
    private let control: RunningServer?
    private let group: MultiThreadedEventLoopGroup

    private init(
        state: SimulatorState, server: any Channel, control: RunningServer?,
        group: MultiThreadedEventLoopGroup, authority: String?
    ) {
        self.state = state
        self.server = server
        self.control = control
        controlPort = control?.port
        self.group = group
        self.authority = authority
        port = server.localAddress?.port ?? 0
    }

    /// Runs the closure with a simulator.
    public static func withSimulator<Result>(
        _ options: Options, _ body: (APNsSimulator) async throws -> Result
    ) async throws -> Result {
        let simulator = try await start(options)
        do {
            let result = try await body(simulator)
            try await simulator.stop()
            return result
        } catch {
            try? await simulator.stop()
            throw error
        }
    }

    /// Starts a simulator. Call `stop` at its end.
    /// - Throws: If keys or certificates cannot be read, or the port is not free.
    public static func start(_ options: Options) async throws -> APNsSimulator {
        let state = try SimulatorState(options)
        let certificate =
            if let files = options.certificateFiles {
                try ServerCertificate(chainFile: files.chain, keyFile: files.key)
            } else { try ServerCertificate(now: Date()) }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificate.chain, privateKey: certificate.key)
        tls.applicationProtocols = ["h2"]
        tls.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: tls)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let server = try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in initialize(channel, tls: context, state: state) }
                .bind(host: options.host, port: options.port).get()
            let control = try await control(options, state, group)
            return APNsSimulator(
                state: state, server: server, control: control, group: group,
                authority: certificate.authority)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private static func control(
        _ options: Options, _ state: SimulatorState, _ group: MultiThreadedEventLoopGroup
    ) async throws -> RunningServer? {
        guard let port = options.controlPort else { return nil }
        var settings = ServerSettings()
        settings.port = port
        // No limit per client, because all clients have one address.
        settings.maximumConnectionsOfClient = settings.maximumConnections
        return try await RunningServer.start(
            settings, SimulatorControl(SimulatorActions(state: state)), on: group)
    }

    private static func initialize(
        _ channel: any Channel, tls: NIOSSLContext, state: SimulatorState
    ) -> EventLoopFuture<Void> {
        let rule = state.ruleForConnection()
        if case .refuseTLS? = rule?.effect { return channel.close() }
        let delay = rule.map { TimeAmount($0.delay) } ?? .zero
        // Nothing is read from the connection before this.
        return channel.eventLoop.scheduleTask(in: delay) {}.futureResult.flatMapThrowing {
            var connection = NIOHTTP2Handler.ConnectionConfiguration()
            connection.initialSettings = SimulatedConnection.initialSettings(state.options)
            // High limits, because the tested provider may reset streams and send pings.
            connection.controlFrameRateLimit.maximumCount = 100_000
            // Frames of streams that a GOAWAY excludes still arrive, and are not an error.
            connection.maximumRecentlyResetStreams = 100_000
            connection.maximumConnectionGlitches = 100_000
            var stream = NIOHTTP2Handler.StreamConfiguration()
            stream.streamResetFrameRateLimit.maximumCount = 100_000
            stream.streamErrorRateLimit.maximumCount = 100_000
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: tls))
            try pipeline.addHandler(
                NIOHTTP2Handler(
                    mode: .server, connectionConfiguration: connection, streamConfiguration: stream))
            try pipeline.addHandler(SimulatedConnection(state))
        }
    }

    /// Closes all connections immediately, and the port.
    public func stop() async throws {
        try? await server.close()
        await control?.stop()
        cutConnections()
        try await group.shutdownGracefully()
    }

    // MARK: Faults

    /// The remaining rules, in their order.
    public var rules: [Rule] { state.rules }

    public func setRules(_ rules: [Rule]) {
        state.rules = rules
    }

    /// Adds a rule after the existing ones.
    public func add(_ rule: Rule) {
        state.append(rule)
    }

    /// Closes all connections without GOAWAY.
    public func cutConnections() {
        fire(.cut)
    }

    /// Sends GOAWAY on all connections. Requests that have arrived get their responses.
    public func goAway(reason: String) {
        fire(.goAway(reason: reason))
    }

    /// Changes the maximum number of streams of every connection.
    public func setStreams(_ count: Int) {
        fire(.streams(count))
    }

    private func fire(_ event: SimulatorEvent) {
        SimulatorActions(state: state).fire(event)
    }

    // MARK: Received requests

    public var counters: SimulatorCounters { state.counters }

    /// The judged requests in their order, up to the limit in the options.
    public var received: [ReceivedRequest] { state.received }

    public func forgetReceived() {
        state.forgetReceived()
    }

    /// Returns when the counters satisfy the condition, or when the task is cancelled.
    public func wait(until isSatisfied: @escaping @Sendable (SimulatorCounters) -> Bool) async {
        await state.wait(until: isSatisfied)
    }
}

import APNsPayload
import CoreMetrics
import Logging
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import Notifications
import Tenancy

/// The connections of one team to one environment, and the requests that wait for them.
///
/// It does what ``PoolState`` and ``TeamBreakers`` decide. Belongs to its event loop.
final class ConnectionPool {
    private let eventLoop: any EventLoop
    private let address: APNsClient.Address
    private let settings: APNsClient.Settings
    private let tls: NIOSSLContext
    private let metrics: PoolMetrics
    private let tokens: ProviderTokens
    private let place: ProviderTokens.Place
    private let logger: Logger

    private var state: PoolState
    private var breakers: TeamBreakers
    private var connections: [Int: APNsConnection] = [:]
    /// Connections that are not made yet, and what ends the wait for each.
    private var connecting: [Int: Scheduled<Void>] = [:]
    private var waiting = CircularBuffer<Exchange>()
    private var lastFailed = false
    private var isFlushScheduled = false
    private var pause: Scheduled<Void>?
    private var tick: Scheduled<Void>?
    private var whenDrained: [EventLoopPromise<Void>] = []
    private var isShuttingDown = false

    init(
        address: APNsClient.Address, settings: APNsClient.Settings, tls: NIOSSLContext, metrics: PoolMetrics,
        tokens: ProviderTokens, place: ProviderTokens.Place, logger: Logger, eventLoop: any EventLoop
    ) {
        self.address = address
        self.settings = settings
        self.tls = tls
        self.metrics = metrics
        self.tokens = tokens
        self.place = place
        self.logger = logger
        self.eventLoop = eventLoop
        state = PoolState(
            PoolState.Limits(
                connections: settings.connections, streams: settings.streams,
                firstPause: TimeAmount(settings.firstPause), longestPause: TimeAmount(settings.longestPause)))
        breakers = TeamBreakers(settings.breaker)
    }

    // MARK: For the client

    /// - Parameter tenant: The notification's tenant; nil for requests without a tenant's token.
    func send(
        _ request: OutgoingRequest, of tenant: TenantID?, deadline: NIODeadline,
        _ continuation: CheckedContinuation<ExchangeOutcome, Never>
    ) {
        let now = NIODeadline.now()
        if isShuttingDown { return continuation.resume(returning: .notSent(.shuttingDown)) }
        if waiting.count >= settings.waiting { return continuation.resume(returning: .notSent(.noRoom)) }
        guard let probes = breakers.admission(of: tenant, at: now) else {
            return continuation.resume(returning: .notSent(.circuitOpen))
        }
        waiting.append(
            Exchange(
                request, of: tenant, startedAt: now, deadline: deadline, probes: probes,
                continuation: continuation))
        metrics.waiting.increment()
        scheduleTick()
        writeWaiting()
    }

    /// Uses the connection for nothing more.
    func leave(_ connection: Int) {
        connections[connection]?.leave()
    }

    /// Uses the connections with this provider token for nothing more.
    func leave(showing token: ProviderToken) {
        for connection in Array(connections.values) where connection.token == token { connection.leave() }
    }

    /// Sends no further requests on the existing connections.
    func leaveAll() {
        for connection in Array(connections.values) { connection.leave() }
    }

    /// Closes the connections after their responses.
    /// - Parameter promise: Succeeds when no connection is left.
    func shutDown(_ promise: EventLoopPromise<Void>) {
        isShuttingDown = true
        pause?.cancel()
        whenDrained.append(promise)
        finishWaiting(.notSent(.shuttingDown))
        leaveAll()
        finishWhenDrained()
    }

    var waitingCount: Int { waiting.count }

    // MARK: Writing

    private func writeWaiting() {
        if !waiting.isEmpty {
            let now = tokens.now
            for connection in Array(connections.values) { connection.prepare(at: now) }
        }
        while let exchange = waiting.first, let id = state.takeStream() {
            waiting.removeFirst()
            metrics.waiting.decrement()
            metrics.inFlight.increment()
            connections[id]?.write(exchange)
        }
        if !isFlushScheduled {
            // Everything that the event loop has ready is flushed together.
            isFlushScheduled = true
            eventLoop.assumeIsolated().execute { [self] in
                isFlushScheduled = false
                for connection in connections.values { connection.flush() }
            }
        }
        if !waiting.isEmpty { connectIfNeeded() }
    }

    private func finishWaiting(_ outcome: ExchangeOutcome) {
        finishWaiting(outcome) { _ in true }
    }

    private func finishWaiting(_ outcome: ExchangeOutcome, where isMeant: (Exchange) -> Bool) {
        let exchanges = waiting.filter(isMeant)
        guard !exchanges.isEmpty else { return }
        waiting.removeAll(where: isMeant)
        for exchange in exchanges {
            metrics.waiting.decrement()
            finish(exchange, outcome)
        }
    }

    private func finish(_ exchange: Exchange, _ outcome: ExchangeOutcome) {
        if case .answered = outcome {
        } else {
            breakers.probesWereLost(exchange.probes, of: exchange.tenant, at: .now())
        }
        exchange.finish(outcome)
    }

    // MARK: Connecting

    private func connectIfNeeded() {
        guard !isShuttingDown else { return }
        switch state.need(at: .now()) {
        case .nothing: break
        case .connect(let id): connect(id)
        case .pause(let until):
            guard pause == nil else { return }
            pause = eventLoop.assumeIsolated().scheduleTask(deadline: until) { [self] in
                pause = nil
                if !waiting.isEmpty { connectIfNeeded() }
            }
        }
    }

    private func connect(_ id: Int) {
        logger.debug("Connecting to APNs", metadata: ["connection": "\(id)"])
        let connection = APNsConnection(
            id: id, pool: self, idleTime: TimeAmount(settings.idleTime),
            pingTimeout: TimeAmount(settings.pingTimeout), silence: settings.silence, logger: logger,
            clock: tokens)
        connections[id] = connection
        state.hold(id, for: .token)
        fetchToken(for: connection)
        let timeout = TimeAmount(settings.connectTimeout)
        connecting[id] = eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
            connecting[id] = nil
            logger.info("APNs did not answer in time", metadata: ["connection": "\(id)"])
            connection.cut()
        }
        let host = address.host
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let bound = NIOLoopBound(connection, eventLoop: eventLoop)
        let tls = self.tls
        ClientBootstrap(group: eventLoop)
            .resolver(settings.resolver)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                // Runs for each address that is tried, several at a time (RFC 8305). State of the connection itself is below,
                // where its frames are written.
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
                    try pipeline.addHandler(Self.frames(to: bound.value))
                }
            }
            .connect(host: host, port: address.port)
            .assumeIsolated()
            .flatMapThrowing { channel in
                // Nothing has been read yet: a channel is connected before it is active, and active before it reads.
                try channel.pipeline.syncOperations.addHandler(connection)
            }
            .whenFailure { [self] error in
                logger.info("No connection to APNs", metadata: ["error": "\(type(of: error))"])
                logger.debug("No connection to APNs", metadata: ["error": "\(error)"])
                connectionClosed(id, losing: [])
            }
    }

    /// Reads and writes the frames of a connection.
    private static func frames(to connection: APNsConnection) -> NIOHTTP2Handler {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
        ]
        // APNs changes its settings with its load; this is not an attack.
        configuration.controlFrameRateLimit.maximumCount = 10_000
        // Responses to ended requests, and to streams that a GOAWAY excludes, may still arrive.
        configuration.maximumRecentlyResetStreams = 100_000
        configuration.maximumConnectionGlitches = 100_000
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 100_000
        stream.streamErrorRateLimit.maximumCount = 100_000
        return NIOHTTP2Handler(
            mode: .client, frameDelegate: connection, connectionConfiguration: configuration,
            streamConfiguration: stream)
    }

    // MARK: For the connections

    /// Gets the connection its first provider token, or a new one.
    func fetchToken(for connection: APNsConnection) {
        let bound = NIOLoopBound(connection, eventLoop: eventLoop)
        let pool = NIOLoopBound(self, eventLoop: eventLoop)
        Task { [tokens, place, eventLoop] in
            let token = await tokens.token(at: place)
            eventLoop.execute { pool.value.tokenCame(token, for: bound.value) }
        }
    }

    private func tokenCame(_ token: ProviderToken?, for connection: APNsConnection) {
        connection.tokenCame(token)
        if token == nil {
            connection.leave()
            finishWaiting(.notSent(.noKey))
        } else {
            state.release(connection.id, from: .token)
            writeWaiting()
        }
    }

    /// The connection gets no more requests until the response that it waits for has come.
    func hold(_ id: Int, for awaited: PoolState.Awaited) {
        state.hold(id, for: awaited)
    }

    /// The connection has answered a PING.
    func isAlive(_ id: Int) {
        state.release(id, from: .ping)
        writeWaiting()
    }

    /// The first settings of APNs have come: the connection can be used.
    func connected(_ id: Int, streams: Int?) {
        connecting.removeValue(forKey: id)?.cancel()
        metrics.connections.increment()
        lastFailed = false
        logger.debug(
            "Connected to APNs",
            metadata: ["connection": "\(id)", "streams": "\(streams.map(String.init) ?? "unlimited")"])
        settingsCame(for: id, streams: streams)
    }

    func settingsCame(for id: Int, streams: Int?) {
        state.settingsCame(for: id, streams: streams)
        writeWaiting()
    }

    func answered(_ exchange: Exchange, _ response: Response) {
        let now = NIODeadline.now()
        state.giveBackStream(of: response.connection)
        // If APNs processed a request beyond its provider token, the token is valid.
        if response.status != 403, response.reason != APNsReason.tooManyProviderTokenUpdates {
            state.trusted(response.connection)
        }
        metrics.inFlight.decrement()
        metrics.duration.recordNanoseconds((now - exchange.startedAt).nanoseconds)
        let isBad = response.status == 400 && response.reason == APNsReason.badDeviceToken
        exchange.finish(.answered(response))
        switch breakers.note(isBad: isBad, of: exchange.tenant, as: exchange.probes, at: now) {
        case .tenant(let pause):
            logger.error(
                "Sending for a tenant is paused: too many bad device tokens",
                metadata: [
                    "seconds": "\(pause.nanoseconds / 1_000_000_000)",
                    "tenant": "\(exchange.tenant.map { "\($0)" } ?? "-")",
                ])
            finishWaiting(.notSent(.circuitOpen)) { $0.tenant == exchange.tenant }
        case .team(let pause):
            logger.error(
                "Sending is paused: too many bad device tokens",
                metadata: ["seconds": "\(pause.nanoseconds / 1_000_000_000)"])
            finishWaiting(.notSent(.circuitOpen))
        case nil: break
        }
        writeWaiting()
    }

    func lost(_ exchange: Exchange, _ outcome: ExchangeOutcome, on id: Int) {
        state.giveBackStream(of: id)
        metrics.inFlight.decrement()
        finish(exchange, outcome)
        writeWaiting()
    }

    /// After this number of returned requests, the connection counts as failed.
    private static let maximumReturns = 5

    /// Takes back requests that a connection did not accept. The first time, a request goes before all others. After that, it goes
    /// behind them, because the request itself may be the reason why APNs closes connections.
    func returned(_ exchanges: [Exchange]) {
        var first: [Exchange] = []
        for exchange in exchanges {
            metrics.inFlight.decrement()
            exchange.returns += 1
            if isShuttingDown {
                finish(exchange, .notSent(.shuttingDown))
            } else if exchange.returns >= Self.maximumReturns {
                finish(exchange, .notSent(.connectionClosed))
            } else {
                metrics.waiting.increment()
                if exchange.returns == 1 { first.append(exchange) } else { waiting.append(exchange) }
            }
        }
        for exchange in first.reversed() { waiting.prepend(exchange) }
        if !waiting.isEmpty {
            scheduleTick()
            writeWaiting()
        }
    }

    func connectionIsLeaving(_ id: Int) {
        state.leave(id)
    }

    /// The connection has failed, although it is not closed. The others may have failed too: they are tested.
    /// - Parameter since: The time since when it returned no response.
    func connectionFailed(_ id: Int, since: NIODeadline) {
        state.failed(id, at: .now(), random: .random(in: 0...1))
        for connection in Array(connections.values) where connection.id != id {
            connection.test(unlessHeardSince: since)
        }
    }

    /// - Parameter exchanges: The lost requests with their results.
    func connectionClosed(_ id: Int, losing exchanges: [(Exchange, ExchangeOutcome)]) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        connecting.removeValue(forKey: id)?.cancel()
        if connection.isOpen { metrics.connections.decrement() } else { lastFailed = true }
        logger.debug(
            "APNs connection closed",
            metadata: ["connection": "\(id)", "unanswered": "\(exchanges.count)"])
        state.closed(id, at: .now(), random: .random(in: 0...1))
        for (exchange, outcome) in exchanges {
            metrics.inFlight.decrement()
            finish(exchange, outcome)
        }
        if !waiting.isEmpty { connectIfNeeded() }
        finishWhenDrained()
    }

    private func finishWhenDrained() {
        guard isShuttingDown, connections.isEmpty else { return }
        tick?.cancel()
        for promise in whenDrained { promise.succeed() }
        whenDrained = []
    }

    // MARK: Deadlines

    /// One timer for all requests: setting and cancelling one for each would cost more than checking them periodically.
    private func scheduleTick() {
        guard tick == nil else { return }
        let interval = TimeAmount.nanoseconds(max(1, TimeAmount(settings.requestTimeout).nanoseconds / 10))
        tick = eventLoop.assumeIsolated().scheduleTask(in: interval) { [self] in
            tick = nil
            expire(at: .now())
            if !waiting.isEmpty || connections.values.contains(where: { !$0.isEmpty }) { scheduleTick() }
        }
    }

    func expire(at now: NIODeadline) {
        // Waiting requests are not sorted by deadline: a returned request keeps its deadline.
        let expired = waiting.filter { $0.deadline <= now }
        if !expired.isEmpty { waiting.removeAll { $0.deadline <= now } }
        for exchange in expired {
            metrics.waiting.decrement()
            finish(exchange, .notSent(lastFailed ? .notConnected : .timedOut))
        }
        for connection in Array(connections.values) { connection.expire(at: now) }
    }
}

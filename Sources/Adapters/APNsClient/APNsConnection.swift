import Formats
import Foundation
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL
import NIOTLS
import Notifications

/// One connection to APNs, on the frames of HTTP/2 themselves: a stream is an entry in a dictionary, not a channel.
///
/// A request is one header block and at most five kilobytes, and so is its response. Child channels (flow control of long
/// bodies, a pipeline each) are not needed, and would cost more than the request.
///
/// Belongs to its channel's event loop, which is its pool's.
final class APNsConnection: ChannelDuplexHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = HTTP2Frame
    typealias OutboundIn = Never
    typealias OutboundOut = HTTP2Frame

    let id: Int
    private let pool: ConnectionPool
    private let logger: Logger
    private let idleTime: TimeAmount
    private let pingTimeout: TimeAmount
    private let silence: Duration
    private let clock: ProviderTokens

    private var context: ChannelHandlerContext?
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var nextStream: Int = 1
    /// Whether the settings of APNs have come.
    private(set) var isOpen = false
    private var isCut = false
    private var isLeaving = false
    private var hasWritten = false
    /// The bytes that APNs may still send in all response bodies together.
    private var window = APNsConnection.fullWindow
    private var lastRead = NIODeadline.now()
    /// The same on the clock of provider tokens.
    private var lastReadUptime: ContinuousClock.Instant
    /// The provider token of the connection's requests. Each connection has its own, because APNs counts tokens for each
    /// connection. [Apple]
    private(set) var token: ProviderToken?
    /// When a request showed it first.
    private var tokenShownAt: ContinuousClock.Instant?
    private var isTokenComing = true
    /// The beginning of the last response.
    private var lastResponse: NIODeadline?
    private var idleCheck: Scheduled<Void>?
    private var pingDeadline: Scheduled<Void>?

    fileprivate struct Stream {
        let exchange: Exchange
        let token: ProviderToken
        let startedAt = NIODeadline.now()
        var progress = Progress.kept
        var status = 0
        var headers = HPACKHeaders()
        var body: [UInt8] = []
    }

    /// How much of a request was passed to the socket. HTTP/2 holds data that a window or a full socket does not admit; for
    /// data beyond that, it is unknown how much APNs received.
    fileprivate enum Progress {
        case kept, begun, whole
    }

    /// The maximum stored part of a response body; APNs' errors, and the longest list of channels, are shorter.
    private static let maximumBody = 1 << 20
    /// RFC 9113 §6.9.2. It is filled up again before APNs has to wait, when a quarter of it is used.
    private static let fullWindow = 65_535
    private static let windowStep = 16_384

    init(
        id: Int, pool: ConnectionPool, idleTime: TimeAmount, pingTimeout: TimeAmount, silence: Duration,
        logger: Logger, clock: ProviderTokens
    ) {
        self.id = id
        self.pool = pool
        self.idleTime = idleTime
        self.pingTimeout = pingTimeout
        self.silence = silence
        self.logger = logger
        self.clock = clock
        lastReadUptime = clock.now.uptime
    }

    // MARK: For the pool

    var isEmpty: Bool { streams.isEmpty }

    /// Sees to it that a request can be written: after a long silence the path is tested, and a token that is too old is
    /// replaced.
    func prepare(at now: ProviderTokens.Time) {
        guard isOpen, !isLeaving else { return }
        if now.uptime - lastReadUptime >= silence { test() }
        prepareToken(at: now)
    }

    private func prepareToken(at now: ProviderTokens.Time) {
        guard let token else { return }
        let age = now.age(of: token)
        if isTokenComing {
            // APNs refuses the old token if it becomes too old before the new one comes.
            if age.map({ $0 >= ProviderTokens.maximumAge }) ?? true { pool.hold(id, for: .token) }
            return
        }
        let isUsable: Bool
        if let tokenShownAt {
            if let age, age < token.renewalAge { return }
            // APNs would refuse another on this connection. [Apple]
            if now.uptime - tokenShownAt < .seconds(ProviderTokens.minimumAge) { return leave() }
            isUsable = age.map { $0 < ProviderTokens.maximumAge } ?? false
        } else {
            // Shown now, it would be renewed too soon after.
            if let age, age < ProviderTokens.minimumAge { return }
            isUsable = false
        }
        if !isUsable { pool.hold(id, for: .token) }
        isTokenComing = true
        pool.fetchToken(for: self)
    }

    /// - Parameter new: Nil if the key no longer exists.
    func tokenCame(_ new: ProviderToken?) {
        isTokenComing = false
        if new != token { tokenShownAt = nil }
        token = new
    }

    /// Holds requests until the connection has answered a PING, if nothing has come from APNs since then.
    func test(unlessHeardSince time: NIODeadline) {
        guard isOpen, !isLeaving, lastRead < time else { return }
        test()
        flush()
    }

    private func test() {
        pool.hold(id, for: .ping)
        ping()
    }

    /// Writes a request, without flushing.
    func write(_ exchange: Exchange) {
        // The pool writes to none without a token.
        guard let token else { return pool.lost(exchange, .notSent(.noKey), on: id) }
        if tokenShownAt == nil { tokenShownAt = clock.now.uptime }
        let stream = HTTP2StreamID(nextStream)
        nextStream += 2
        streams[stream] = Stream(exchange: exchange, token: token)
        let request = exchange.request
        var headers = request.headers
        if request.needsToken { headers.add(name: "authorization", value: token.authorization) }
        write(.headers(.init(headers: headers, endStream: request.body == nil)), on: stream)
        if let body = request.body {
            write(.data(.init(data: .byteBuffer(body), endStream: true)), on: stream)
        }
        // Numbers are not used again (RFC 9113 §5.1.1).
        if nextStream >= Int(Int32.max) - 1 { leave() }
    }

    func flush() {
        guard hasWritten else { return }
        hasWritten = false
        context?.flush()
    }

    /// Ends the requests that have timed out, and sends a PING if there were any.
    ///
    ///
    /// If the connection has returned no response at all since such a request was sent, the connection is abandoned: some hosts
    /// keep answering pings, but no requests. [observed]
    func expire(at now: NIODeadline) {
        let expired = streams.filter { $0.value.exchange.deadline <= now }
        if expired.isEmpty { return }
        for id in expired.keys {
            streams[id] = nil
            write(.rstStream(.cancel), on: id)
        }
        ping()
        flush()
        let oldest = expired.values.filter { $0.progress == .whole }.map(\.startedAt).min()
        // A request that had no time left when it was sent proves nothing.
        if let oldest, now - oldest >= pingTimeout, !isLeaving, lastResponse.map({ $0 < oldest }) ?? true {
            logger.info("APNs connection has unanswered requests", metadata: ["connection": "\(id)"])
            pool.connectionFailed(id, since: oldest)
            leave()
        }
        for stream in expired.values { lose(stream, .timedOut) }
        closeWhenDone()
    }

    /// Writes no more requests; when all have their responses, closes the connection.
    func leave() {
        guard !isLeaving else { return }
        isLeaving = true
        pool.connectionIsLeaving(id)
        closeWhenDone()
    }

    /// Closes the connection at once, below TLS, because TLS would wait for a response to its closure.
    func cut() {
        isCut = true
        guard let context else { return }
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        (tls ?? context).close(promise: nil)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // The lookup of the host took longer than every request waited.
        if isCut || isLeaving { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // A channel that was closed before it was active does not become inactive.
        end()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        idleCheck?.cancel()
        pingDeadline?.cancel()
        isLeaving = true
        pool.connectionIsLeaving(id)
        let left = streams.values
        streams = [:]
        for stream in left where stream.isTaken { lose(stream, .connectionClosed) }
        pool.connectionClosed(
            id, losing: left.filter { !$0.isTaken }.map { ($0.exchange, $0.outcome(.connectionClosed)) })
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? NIOHTTP2WindowUpdatedEvent {
            if event.streamID == .rootStream, let size = event.inboundWindowSize { window = size }
            return
        }
        if case TLSUserEvent.handshakeCompleted(let negotiated) = event, negotiated != "h2" {
            logger.error("APNs did not agree to HTTP/2")
            cut()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOHTTP2Errors.StreamError {
            if let stream = streams.removeValue(forKey: error.streamID) {
                lose(stream, .streamReset)
                closeWhenDone()
            }
            return
        }
        // After the last response on a connection that is being closed, errors do not matter.
        if isLeaving, streams.isEmpty { return cut() }
        logger.info("APNs connection failed", metadata: ["error": "\(type(of: error))"])
        logger.debug("APNs connection failed", metadata: ["error": "\(error)"])
        cut()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        lastRead = .now()
        lastReadUptime = clock.now.uptime
        switch frame.payload {
        case .headers(let headers): receive(headers, on: frame.streamID)
        case .data(let piece): receive(piece, on: frame.streamID)
        case .rstStream(let code):
            guard let stream = streams.removeValue(forKey: frame.streamID) else { return }
            // "Prior to any processing having occurred" (RFC 9113 §8.7).
            if code == .refusedStream, !stream.isTaken {
                pool.lost(stream.exchange, .notSent(.streamReset), on: id)
            } else {
                lose(stream, .streamReset)
            }
            closeWhenDone()
        case .settings(.settings(let settings)):
            let limit = settings.last { $0.parameter == .maxConcurrentStreams }?.value
            if isOpen {
                pool.settingsCame(for: id, streams: limit)
            } else {
                isOpen = true
                scheduleIdleCheck(in: idleTime)
                pool.connected(id, streams: limit)
            }
        case .goAway(let last, let code, let debug):
            receiveGoAway(last: last, code: code, debug: debug)
        case .ping(_, ack: true):
            pingDeadline?.cancel()
            pingDeadline = nil
            pool.isAlive(id)
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if window <= Self.fullWindow - Self.windowStep {
            write(.windowUpdate(windowSizeIncrement: Self.fullWindow - window), on: .rootStream)
        }
        flush()
        context.fireChannelReadComplete()
    }

    // MARK: Answers

    private func receive(_ headers: HTTP2Frame.FramePayload.Headers, on id: HTTP2StreamID) {
        lastResponse = lastRead
        guard var stream = streams.removeValue(forKey: id) else { return }
        if stream.status == 0 {
            let status = headers.headers.first(name: ":status").flatMap { Int($0) } ?? 0
            // Any number of informational responses may precede the final one (RFC 9113 §8.1). An invalid status (RFC 9110 §15)
            // is an invalid response.
            if (200...599).contains(status) {
                stream.status = status
                stream.headers = headers.headers
            }
        }
        headers.endStream ? finish(stream) : (streams[id] = stream)
    }

    private func receive(_ piece: HTTP2Frame.FramePayload.Data, on id: HTTP2StreamID) {
        guard case .byteBuffer(let bytes) = piece.data else { return }
        guard var stream = streams.removeValue(forKey: id) else { return }
        stream.body += bytes.readableBytesView.prefix(Self.maximumBody - stream.body.count)
        if piece.endStream { return finish(stream) }
        streams[id] = stream
        if !bytes.readableBytesView.isEmpty {
            write(.windowUpdate(windowSizeIncrement: bytes.readableBytes), on: id)
        }
    }

    private func finish(_ stream: Stream) {
        if stream.status > 0 {
            pool.answered(stream.exchange, stream.response(on: id))
        } else {
            lose(stream, .streamReset)
        }
        closeWhenDone()
    }

    /// Ends a request without a complete response.
    private func lose(_ stream: Stream, _ failure: PushFailure) {
        if stream.isTaken {
            pool.answered(stream.exchange, stream.response(on: id))
        } else {
            pool.lost(stream.exchange, stream.outcome(failure), on: id)
        }
    }

    /// Requests that APNs did not accept are sent again on another connection; accepted ones still get their responses (RFC
    /// 9113 §6.8).
    private func receiveGoAway(last: HTTP2StreamID, code: HTTP2ErrorCode, debug: ByteBuffer?) {
        let object = debug.flatMap { try? JSONValue(parsing: $0.readableBytesView) }?.objectValue
        logger.info(
            "APNs asked to close the connection",
            metadata: [
                "reason": "\(object?["reason"]?.stringValue.map(Self.loggable) ?? "none")",
                "code": "\(code.networkCode)", "connection": "\(id)",
            ])
        // Includes streams that have not begun, with any number: HTTP/2 begins no stream after a GOAWAY.
        let unaccepted = streams.filter { $0.key > last || $0.value.progress == .kept }.sorted {
            $0.key < $1.key
        }
        for (id, stream) in unaccepted {
            streams[id] = nil
            // Otherwise its frames would be written when there is room, which is an error of the whole connection. Streams that
            // have begun are closed already, and must not be reset.
            if stream.progress == .kept { write(.rstStream(.cancel), on: id) }
        }
        isLeaving = true
        pool.connectionIsLeaving(id)
        pool.returned(unaccepted.map(\.value.exchange))
        closeWhenDone()
    }

    /// The beginning of a text that the other side chose, in ASCII on one line.
    static func loggable(_ text: String) -> String {
        text.unicodeScalars.prefix(100).map { $0.escaped(asASCII: true) }.joined()
    }

    // MARK: Signs of life

    private func scheduleIdleCheck(in delay: TimeAmount) {
        guard let context else { return }
        idleCheck = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
            let idle = NIODeadline.now() - lastRead
            if idle >= idleTime {
                ping()
                flush()
                scheduleIdleCheck(in: idleTime)
            } else {
                scheduleIdleCheck(in: idleTime - idle)
            }
        }
    }

    private func ping() {
        guard pingDeadline == nil, let context else { return }
        write(.ping(HTTP2PingData(), ack: false), on: .rootStream)
        pingDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: pingTimeout) { [self] in
            logger.info("APNs connection did not answer a ping", metadata: ["connection": "\(id)"])
            cut()
        }
    }

    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .headers(let headers): streams[frame.streamID]?.progress = headers.endStream ? .whole : .begun
        case .data(let piece) where piece.endStream: streams[frame.streamID]?.progress = .whole
        default: break
        }
    }

    private func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) {
        hasWritten = true
        context?.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    private func closeWhenDone() {
        guard isLeaving, streams.isEmpty else { return }
        flush()
        context?.close(promise: nil)
    }
}

extension APNsConnection.Stream {
    /// Whether APNs has accepted the request, even if its result is still unknown.
    fileprivate var isTaken: Bool { status == 200 }

    fileprivate func response(on connection: Int) -> Response {
        Response(status: status, headers: headers, body: body, connection: connection, token: token)
    }

    /// The result of a request without a response: APNs has not processed a request that was not written completely.
    fileprivate func outcome(_ failure: PushFailure) -> ExchangeOutcome {
        progress == .whole ? .unanswered(failure) : .notSent(failure)
    }
}

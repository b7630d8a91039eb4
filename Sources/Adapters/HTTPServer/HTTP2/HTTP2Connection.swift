import HTTPSyntax
import HTTPTypes
import IPAddresses
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The requests of a connection of HTTP/2. Each stream is an entry in a table, without a channel of its own.
///
/// `NIOHTTP2Handler`, the handler before this one, checks frames against RFC 9113, keeps outbound DATA within the client's windows
/// and limits RST_STREAM, PING, SETTINGS, CONTINUATION and empty DATA frames. This handler manages the inbound windows, time limits,
/// and the end of the connection.
///
/// - If the client sends nothing of a request's body, or reads nothing of a response, for too long, the stream is reset.
/// - If a connection has no streams, or the client reads no bytes at all, for too long, the connection is closed.
/// - While the client reads nothing, the server reads nothing from it.
/// - While large responses wait for a client's windows, the client's further requests wait, too.
final class HTTP2Connection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = Never
    typealias OutboundIn = Never
    typealias OutboundOut = HTTP2Frame

    private final class Stream {
        let request: ServerRequest
        /// Nil if a task responds.
        let respond: ((ByteBuffer) -> ServerResponse)?
        let maximumBodyLength: Int
        var body = ByteBuffer()
        var source: BodySource?
        /// The body for the task that starts when there is room for its response.
        var bodyOfWaiting: ServerRequestBody?
        /// Whether a task responds, or the event loop after a delay.
        var isHandled = false
        /// Whether the request has arrived.
        var isReceived = false
        var hasBegunResponse = false
        var isAnswered = false
        /// Whether the whole response has left, although the request's body has not arrived.
        var hasLeft = false
        var awaitsContinue = false
        /// The size of the inbound window, as the client knows it.
        var window = HTTP2Connection.windowSize
        var discarded = 0
        /// The length of its complete response, in bytes.
        var heldBytes = 0
        /// The number of pieces of a streamed response that have not left yet.
        var pendingPieces = 0
        /// When bytes of its body last arrived, a piece of its response left, or the client waited for the server.
        var lastProgress: NIODeadline

        init(
            _ request: ServerRequest, respond: ((ByteBuffer) -> ServerResponse)?, maximumBodyLength: Int,
            _ now: NIODeadline
        ) {
            self.request = request
            self.respond = respond
            self.maximumBodyLength = maximumBodyLength
            lastProgress = now
        }
    }

    private let responder: any ServerResponder
    private let settings: ConnectionSettings
    private var streams: [HTTP2StreamID: Stream] = [:]
    /// The streams whose requests are arriving.
    private var arriving: [HTTP2StreamID] = []
    /// The streams whose requests wait until the client has read other responses.
    private var waiting = CircularBuffer<HTTP2StreamID>(initialCapacity: 1)
    /// The length of all complete responses whose streams are open, in bytes.
    private var heldBytes = 0
    private var lastStream = HTTP2StreamID.rootStream
    private let idleTimeout: ReadTimeout
    private var isUnflushed = false
    private var isReadDelayed = false
    /// When the client stopped reading.
    private var unwritableSince: NIODeadline?
    private var look: Scheduled<Void>?
    /// Whether GOAWAY was sent.
    private var isDraining = false
    private var isOver = false
    private var memory = ConnectionMemory(peer: nil)
    private var context: ChannelHandlerContext?
    /// Starts the task that responds to a request. Tests replace it.
    var start: ((ServerRequest, ServerRequestBody, HTTP2StreamID) -> Void)?

    /// The inbound window of a stream, and of the connection, in bytes: the initial one of HTTP/2.
    private static var windowSize: Int { 65_535 }
    /// The longest body that is collected for a task, if it arrives together with the head. [ours]
    private static var collectedLength: Int { 8_192 }
    /// If pending responses have this number of bytes, further requests wait. [ours]
    static var heldLength: Int { 1_048_576 }
    /// The maximum number of bytes of pending responses, including responses of tasks that began before the limit above was
    /// reached. A single response may be longer. [ours]
    static var maximumHeldLength: Int { 16_777_216 }

    /// The server announces 100 concurrent streams, and 16 KiB of header fields.
    static let initialSettings: HTTP2Settings = nioDefaultSettings

    init(_ responder: any ServerResponder, _ settings: ConnectionSettings) {
        self.responder = responder
        self.settings = settings
        idleTimeout = ReadTimeout(settings.idleTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        memory = ConnectionMemory(peer: context.channel.remoteAddress.flatMap(IPAddress.init))
        idleTimeout.begin(on: context.eventLoop, now: settings.idleTimeoutNow.map { now in { now() } }) {
            [unowned self] in
            if streams.isEmpty, let context = self.context { end(context) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        idleTimeout.end()
        look?.cancel()
        start = nil
        self.context = nil
    }

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers): receive(headers, frame.streamID, context)
        case .data(let data): receive(data, frame.streamID, context)
        default: break
        }
    }

    private func receive(
        _ headers: HTTP2Frame.FramePayload.Headers, _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        if let stream = streams[id] {
            // Trailers. Their fields are not used.
            if headers.endStream { endOfRequest(stream, id, context) }
            return
        }
        lastStream = max(lastStream, id)
        let head = HTTP2RequestHead(headers.headers, from: memory.peer)
        let reply: ServerReply =
            head.defect != nil || head.expectsContinue
            ? .later : responder.reply(to: head.request, on: memory)
        let stream =
            switch reply {
            case .atOnce(let length, let respond):
                Stream(head.request, respond: respond, maximumBodyLength: length, context.eventLoop.now)
            case .later:
                Stream(
                    head.request, respond: nil, maximumBodyLength: Self.collectedLength,
                    context.eventLoop.now)
            }
        streams[id] = stream
        lookLater(context)
        if let defect = head.defect {
            stream.isHandled = true
            stream.isReceived = headers.endStream
            return write(responder.refusal(of: defect), stream, id, context)
        }
        if headers.endStream { return endOfRequest(stream, id, context) }
        if head.expectsContinue {
            stream.awaitsContinue = true
            handle(stream, id, context)
        } else {
            arriving.append(id)
        }
    }

    private func receive(
        _ data: HTTP2Frame.FramePayload.Data, _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        guard let stream = streams[id], case .byteBuffer(let bytes) = data.data else { return }
        stream.lastProgress = context.eventLoop.now
        stream.awaitsContinue = false
        if stream.isAnswered {
            stream.discarded += bytes.readableBytes
            guard stream.discarded <= HTTP1Connection.discardedLength else {
                return reset(id, .cancel, context)
            }
        } else if let source = stream.source {
            if bytes.readableBytes > 0 { source.add(bytes) }
        } else if !stream.isHandled {
            stream.body.writeImmutableBuffer(bytes)
            if stream.body.readableBytes > stream.maximumBodyLength { handle(stream, id, context) }
        }
        if data.endStream { endOfRequest(stream, id, context) }
    }

    private func endOfRequest(
        _ stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        stream.isReceived = true
        stream.awaitsContinue = false
        stream.lastProgress = context.eventLoop.now
        if let source = stream.source {
            source.finish()
            stream.source = nil
        } else if !stream.isHandled {
            stream.isHandled = true
            if stream.respond == nil {
                startTask(stream, id, ServerRequestBody(stream.body), context)
            } else {
                respondAtOnce(stream, id, context)
            }
        }
    }

    private func respondAtOnce(_ stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard heldBytes < Self.heldLength else { return waiting.append(id) }
        guard let respond = stream.respond else { return }
        write(respond(stream.body), delaying: stream, id, context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !arriving.isEmpty {
            let ids = arriving
            arriving.removeAll(keepingCapacity: true)
            for id in ids {
                // The rest of the body is still to come: a task waits for it.
                if let stream = streams[id], !stream.isHandled { handle(stream, id, context) }
            }
        }
        if isUnflushed { flush(context) }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as StreamClosedEvent: closed(event.streamID, context)
        case let event as NIOHTTP2WindowUpdatedEvent: windowChanges(event, context)
        case is NIOHTTP2StreamCreatedEvent: break
        case is RoomIsWanted: if streams.values.allSatisfy(\.hasLeft) { end(context) }
        case is ChannelShouldQuiesceEvent: beginDrain(context)
        case let event as ChannelEvent where event == .inputClosed: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        // Ends a stream, which is reset already, and not the connection.
        case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.NoSuchStream, is NIOHTTP2Errors.StreamClosed:
            break
        // The library has sent the reason to the client.
        default: context.channel.cutOnceWritten(within: settings.responseTimeout)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            unwritableSince = nil
            readIfDelayed(context)
        } else {
            unwritableSince = context.eventLoop.now
            lookLater(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        let open = streams
        streams.removeAll()
        for stream in open.values { Self.abandon(stream) }
        context.fireChannelInactive()
    }

    /// A client that does not read its responses waits.
    func read(context: ChannelHandlerContext) {
        if context.channel.isWritable { context.read() } else { isReadDelayed = true }
    }

    private func readIfDelayed(_ context: ChannelHandlerContext) {
        guard isReadDelayed else { return }
        isReadDelayed = false
        context.read()
    }

    // MARK: Windows

    private func windowChanges(_ event: NIOHTTP2WindowUpdatedEvent, _ context: ChannelHandlerContext) {
        guard let size = event.inboundWindowSize else { return }
        if event.streamID == .rootStream {
            if size <= Self.windowSize / 2 { open(.rootStream, by: Self.windowSize - size, context) }
        } else if let stream = streams[event.streamID], size != stream.window {
            stream.window = size
            openWindow(of: stream, event.streamID, context)
        }
    }

    /// Lets the client send more of a body once half of the window is used, unless the reader is behind.
    private func openWindow(
        of stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        guard !stream.isReceived, stream.source?.isFull != true, stream.window <= Self.windowSize / 2 else {
            return
        }
        let increment = Self.windowSize - stream.window
        stream.window = Self.windowSize
        open(id, by: increment, context)
    }

    private func open(_ id: HTTP2StreamID, by increment: Int, _ context: ChannelHandlerContext) {
        write(id, .windowUpdate(windowSizeIncrement: increment), nil, context)
    }

    // MARK: Tasks

    private func handle(_ stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        stream.isHandled = true
        let loop = context.eventLoop
        let connection = NIOLoopBound(self, eventLoop: loop)
        let source = BodySource(
            want: { loop.execute { connection.value.wantBody(id) } },
            resume: { loop.execute { connection.value.bodyResumes(id) } })
        stream.source = source
        if stream.body.readableBytes > 0 { source.add(stream.body) }
        stream.body = ByteBuffer()
        startTask(stream, id, source.body, context)
    }

    private func startTask(
        _ stream: Stream, _ id: HTTP2StreamID, _ body: ServerRequestBody, _ context: ChannelHandlerContext
    ) {
        guard heldBytes < Self.heldLength else {
            stream.bodyOfWaiting = body
            return waiting.append(id)
        }
        if let start { return start(stream.request, body, id) }
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        let exchange = Exchange(
            loop: context.eventLoop,
            begin: { connection.value.respond(with: $0, id) },
            write: { connection.value.write($0, $1, id) },
            end: { connection.value.endResponse(id, isComplete: $0) })
        exchange.run(responder, stream.request, body, counting: settings.tasks)
    }

    /// Responds to requests that have waited, as far as there is room.
    private func respondToWaiting(_ context: ChannelHandlerContext) {
        guard !waiting.isEmpty else { return }
        while heldBytes < Self.heldLength, let id = waiting.popFirst() {
            guard let stream = streams[id] else { continue }
            if let body = stream.bodyOfWaiting.take() {
                startTask(stream, id, body, context)
            } else {
                respondAtOnce(stream, id, context)
            }
        }
        if isUnflushed { flush(context) }
    }

    /// Fails the request body of a stream that has ended.
    private static func abandon(_ stream: Stream) {
        stream.source?.fail(ChannelError.inputClosed)
    }

    private func wantBody(_ id: HTTP2StreamID) {
        guard let stream = streams[id], stream.awaitsContinue, let context else { return }
        stream.awaitsContinue = false
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: "100")
        write(id, .headers(.init(headers: headers)), nil, context)
        flush(context)
    }

    private func bodyResumes(_ id: HTTP2StreamID) {
        guard let stream = streams[id], let source = stream.source, source.isFull, let context else { return }
        source.resumed()
        stream.lastProgress = context.eventLoop.now
        openWindow(of: stream, id, context)
        if isUnflushed { flush(context) }
    }

    /// Writes the response of a task, or the head of a streamed response.
    func respond(with response: ServerResponse, _ id: HTTP2StreamID) {
        guard let stream = streams[id], !stream.hasBegunResponse, let context else { return }
        write(response, stream, id, context)
        flush(context)
    }

    func write(_ piece: ByteBuffer, _ promise: EventLoopPromise<Void>, _ id: HTTP2StreamID) {
        guard let stream = streams[id], let context else {
            return promise.fail(ChannelError.ioOnClosedChannel)
        }
        if stream.pendingPieces == 0 { stream.lastProgress = context.eventLoop.now }
        stream.pendingPieces += 1
        promise.futureResult.assumeIsolated().whenComplete { _ in stream.pendingPieces -= 1 }
        write(piece, isEnd: false, promise, stream, id, context)
        flush(context)
    }

    private func endResponse(_ id: HTTP2StreamID, isComplete: Bool) {
        guard let stream = streams[id], let context else { return }
        guard isComplete else { return reset(id, .internalError, context) }
        write(
            id, .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)), leaving(stream, context),
            context)
        answered(stream, id, context)
        flush(context)
    }

    // MARK: Responses

    private func write(
        _ response: ServerResponse, delaying stream: Stream, _ id: HTTP2StreamID,
        _ context: ChannelHandlerContext
    ) {
        guard let delay = response.delay else { return write(response, stream, id, context) }
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay.duration)) { [weak self] in
            // The permit is held for as long as the response is.
            defer { withExtendedLifetime(delay) {} }
            guard let self, let context = self.context, let stream = self.streams[id] else { return }
            self.write(response, stream, id, context)
            self.flush(context)
        }
    }

    /// Writes a response, or the head of a streamed response.
    private func write(
        _ response: ServerResponse, _ stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        if case .cut = response.body { return reset(id, .internalError, context) }
        let mayHaveBody = response.status.mayHaveBody
        let hasBody = mayHaveBody && response.body.length != 0 && stream.request.method != "HEAD"
        if hasBody, !hold(response.body, stream) { return reset(id, .enhanceYourCalm, context) }
        stream.hasBegunResponse = true
        stream.lastProgress = context.eventLoop.now
        var fields = FieldWriter(headers: HPACKHeaders())
        fields.headers?.reserveCapacity(12)
        fields.headers?.add(name: ":status", value: response.status.codeText)
        if mayHaveBody, let length = response.body.length {
            fields.headers?.add(name: "content-length", value: String(length), indexing: .nonIndexable)
        }
        response.write(to: &fields, server: settings.server)
        write(
            id, .headers(.init(headers: fields.headers ?? [:], endStream: !hasBody)),
            hasBody ? nil : leaving(stream, context), context)
        guard hasBody else { return answered(stream, id, context) }
        switch response.body {
        case .bytes(let bytes):
            write(ByteBuffer(bytes: bytes), isEnd: true, leaving(stream, context), stream, id, context)
        case .buffer(let bytes): write(bytes, isEnd: true, leaving(stream, context), stream, id, context)
        // The task writes the body.
        case .stream, .empty, .cut: return
        }
        answered(stream, id, context)
    }

    /// Counts the bytes of a complete body until its stream is closed.
    /// - Returns: False if too many bytes are pending already.
    private func hold(_ body: ServerResponse.Body, _ stream: Stream) -> Bool {
        if case .stream = body { return true }
        let length = body.length ?? 0
        guard heldBytes == 0 || heldBytes + length <= Self.maximumHeldLength else { return false }
        stream.heldBytes = length
        heldBytes += length
        return true
    }

    /// Writes bytes of a body. A long body is written in pieces, so that the server notices how much of it the client reads.
    private func write(
        _ bytes: ByteBuffer, isEnd: Bool, _ promise: EventLoopPromise<Void>?, _ stream: Stream,
        _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        var rest = bytes
        while rest.readableBytes > ByteBuffer.pieceLength, let piece = rest.readPiece() {
            write(
                id, .data(.init(data: .byteBuffer(piece))), progress(of: stream, nil, context), context)
        }
        let promise = promise == nil ? nil : progress(of: stream, promise, context)
        write(id, .data(.init(data: .byteBuffer(rest), endStream: isEnd)), promise, context)
    }

    private func progress(
        of stream: Stream, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        let promise = promise ?? context.eventLoop.makePromise()
        let loop = context.eventLoop
        promise.futureResult.assumeIsolated().whenSuccess { stream.lastProgress = loop.now }
        return promise
    }

    /// A promise for the end of a response. Nil if the request has arrived, because the end of the response then closes the stream.
    private func leaving(_ stream: Stream, _ context: ChannelHandlerContext) -> EventLoopPromise<Void>? {
        guard !stream.isReceived else { return nil }
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenSuccess { stream.hasLeft = true }
        return promise
    }

    /// The whole response is written, and leaves as the client's windows allow.
    private func answered(_ stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        stream.isAnswered = true
        stream.source = nil
        guard !stream.isReceived else { return }
        // The client may send the rest of the body for a short time, so that it can read the response (RFC 9113 §8.1).
        context.eventLoop.assumeIsolated().scheduleTask(in: HTTP1Connection.discardingTime) { [weak self] in
            guard let self, let context = self.context, self.streams[id] === stream else { return }
            self.reset(id, .noError, context)
        }
    }

    private func write(
        _ id: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        isUnflushed = true
        context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: promise)
    }

    private func flush(_ context: ChannelHandlerContext) {
        isUnflushed = false
        context.flush()
    }

    private func reset(_ id: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode, _ context: ChannelHandlerContext)
    {
        write(id, .rstStream(code), nil, context)
        flush(context)
    }

    // MARK: Ends

    private func closed(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        Self.abandon(stream)
        heldBytes -= stream.heldBytes
        idleTimeout.hasRead(at: context.eventLoop.now)
        respondToWaiting(context)
        if isDraining, streams.isEmpty { end(context, lingers: true) }
    }

    /// Resets streams without progress, as long as there are streams.
    private func lookLater(_ context: ChannelHandlerContext) {
        guard look == nil else { return }
        let interval = min(settings.responseTimeout, settings.idleTimeout).nanoseconds / 4
        look = context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(interval)) { [weak self] in
            guard let self, let context = self.context else { return }
            self.look = nil
            self.resetSilent(context)
        }
    }

    private func resetSilent(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if let unwritableSince, now - unwritableSince >= settings.responseTimeout {
            return context.channel.cut()
        }
        for (id, stream) in streams {
            // A slow responder, or a task that reads the body slowly, is not the client's fault.
            let limit: TimeAmount? =
                if stream.isAnswered || stream.pendingPieces > 0 {
                    settings.responseTimeout
                } else if !stream.isReceived, stream.source?.isFull != true {
                    settings.idleTimeout
                } else { nil }
            if let limit, now - stream.lastProgress >= limit { write(id, .rstStream(.cancel), nil, context) }
        }
        if isUnflushed { flush(context) }
        if !streams.isEmpty || unwritableSince != nil { lookLater(context) }
    }

    /// Ends the connection after its streams. The library refuses further streams, and clients may repeat their requests on another
    /// connection (RFC 9113 §6.8, §8.7).
    private func beginDrain(_ context: ChannelHandlerContext) {
        // The client may have sent further requests. It must read GOAWAY, to repeat them on another connection.
        guard !streams.isEmpty else { return end(context, lingers: true) }
        sayGoodbye(context)
    }

    /// - Parameter lingers: Whether only the output is closed at first. If the client still sends, closing both directions at once
    ///   would discard bytes that the client has not read yet.
    private func end(_ context: ChannelHandlerContext, lingers: Bool = false) {
        guard !isOver else { return }
        isOver = true
        sayGoodbye(context)
        // Not at once: the library may be in the middle of writing the last frames of a response.
        context.eventLoop.assumeIsolated().execute { [weak self] in
            guard let self, let context = self.context else { return }
            self.flush(context)
            guard lingers else {
                return context.channel.cutOnceWritten(within: self.settings.responseTimeout)
            }
            context.close(mode: .output, promise: nil)
            context.eventLoop.assumeIsolated().scheduleTask(in: HTTP1Connection.discardingTime) {
                [weak self] in
                self?.context?.channel.cut()
            }
        }
    }

    private func sayGoodbye(_ context: ChannelHandlerContext) {
        guard !isDraining else { return }
        isDraining = true
        write(
            .rootStream, .goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil), nil, context
        )
        flush(context)
    }
}

/// The head of a request of HTTP/2.
private struct HTTP2RequestHead {
    let request: ServerRequest
    let expectsContinue: Bool
    let defect: RequestDefect?

    init(_ headers: HPACKHeaders, from peer: IPAddress?) {
        var (method, target, authority) = ("", "", String?.none)
        var host: String?
        var expectsContinue = false
        var isMalformed = false
        for (name, value, _) in headers {
            isMalformed = isMalformed || !value.utf8.span.isFieldValue
            switch name {
            case ":method": method = value
            case ":path": target = value
            case ":authority": authority = value
            case "host":
                isMalformed = isMalformed || host != nil
                host = value
            case "expect": expectsContinue = value.isEqualIgnoringCase(to: "100-continue")
            default: break
            }
        }
        self.expectsContinue = expectsContinue
        let namesHost =
            if let host, let authority { Authority.isSame(authority, host, defaultPort: 443) } else {
                host != nil || authority != nil
            }
        defect = isMalformed ? .syntax : namesHost ? nil : .host
        request = ServerRequest(
            method: method, target: target, authority: authority ?? host, peer: peer, .http2(headers))
    }
}

extension Span<UInt8> {
    /// Whether none of the bytes ends a line (RFC 9113 §8.2.1).
    fileprivate var isFieldValue: Bool {
        var isOther: UInt8 = 0
        for index in indices {
            let byte = self[index]
            isOther |= byte == 0 || byte == 10 || byte == 13 ? 1 : 0
        }
        return isOther == 0
    }
}

extension HTTPResponse.Status {
    fileprivate var codeText: String { code == 200 ? "200" : String(code) }
}

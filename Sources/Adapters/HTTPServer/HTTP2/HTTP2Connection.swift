import Formats
import HTTPTypes
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

    final class Stream {
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
    let settings: ConnectionSettings
    var streams: [HTTP2StreamID: Stream] = [:]
    /// The streams whose requests are arriving.
    private var arriving: [HTTP2StreamID] = []
    /// The streams whose requests wait until the client has read other responses.
    private var waiting = CircularBuffer<HTTP2StreamID>(initialCapacity: 1)
    /// The length of all complete responses whose streams are open, in bytes.
    var heldBytes = 0
    var lastStream = HTTP2StreamID.rootStream
    let idleTimeout: ReadTimeout
    var isUnflushed = false
    private var isReadDelayed = false
    /// When the client stopped reading.
    var unwritableSince: NIODeadline?
    var look: Scheduled<Void>?
    /// Whether GOAWAY was sent.
    var isDraining = false
    var isOver = false
    private var memory = ConnectionMemory(peer: nil)
    var context: ChannelHandlerContext?
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
    func respondToWaiting(_ context: ChannelHandlerContext) {
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
    static func abandon(_ stream: Stream) {
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
}

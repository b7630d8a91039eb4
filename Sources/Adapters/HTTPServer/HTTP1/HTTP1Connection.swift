import Formats
import NIOCore
import NIOHTTP1

/// The requests of a connection of HTTP/1.1, one after another, and their responses in the same order.
///
/// The event loop responds to a request at once if the responder wants this and the body arrives together with the head.
/// Otherwise a task responds to the request. Later requests wait until the current one is over.
///
/// - Malformed input gets a refusal after the responses to earlier requests. The refusal is the last response of the connection.
/// - A client that waits for `100 Continue` gets it when its body is read. If the response does not need the body, the client gets the
///   final response instead.
/// - After a response, the client may continue to send the request's body for a short time, so that it can read the response. Then the
///   connection is cut, or earlier if room for other clients is needed.
/// - If a client does not read its responses, the connection is closed: ``PendingWrites``.
/// - If the client ends its input, or the server ends, the connection first responds to the requests that arrived before.
final class HTTP1Connection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = Never
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private enum Event {
        case part(HTTPServerRequestPart)
        case malformed(HTTPParserError)
        /// The client has ended its input, or the server ends.
        case end
    }

    /// A request whose body arrives.
    private struct Arriving {
        let request: ServerRequest
        /// Nil if a task responds.
        let respond: ((ByteBuffer) -> ServerResponse)?
        let maximumBodyLength: Int
        var body = ByteBuffer()
    }

    private enum State {
        case idle
        /// The request's body is collected if it arrives together with the head.
        case receiving
        /// The request is complete. It waits, because the client has not read earlier responses.
        case received
        /// The response is delayed.
        case delayed
        /// A task responds.
        case handled(isReceived: Bool, isAnswered: Bool)
        /// The last response of the connection is written.
        case over
    }

    private let responder: any ServerResponder
    private let settings: ConnectionSettings
    private var state = State.idle
    private var arriving: Arriving?
    private var isHead = false
    private var events = CircularBuffer<Event>(initialCapacity: 1)
    private var isProcessing = false
    /// Whether the request under way is the last of its connection.
    private var isLast = false
    /// Whether the client may still be sending. If the connection were closed then, the client would lose the last response.
    private var mayBeSending = false
    /// Called when delayed input continues.
    var whenResumed: (() -> Void)?
    private let pendingWrites: PendingWrites
    private let readTimeout: ReadTimeout
    private var writer: HTTP1Writer
    /// Whether a task has written the head of a streamed response, but not its end.
    private var hasBegunResponse = false
    private var source: BodySource?
    /// Distinguishes the requests that tasks respond to.
    private var number = 0
    private var isReadDelayed = false
    private var isUnflushed = false
    /// Whether the client waits for `100 Continue`, and no task has requested the body yet.
    private var awaitsContinue = false
    private var discarded = 0
    private var cutOff: Scheduled<Void>?
    /// Whether a part of a request was read since the last read was complete.
    private var hasReadPart = false
    private var headDeadline: NIODeadline?
    private var memory = ConnectionMemory(peer: nil)
    private var context: ChannelHandlerContext?
    /// Starts the task that responds to a request. Tests replace it.
    var start: ((ServerRequest, ServerRequestBody, _ number: Int) -> Void)?

    /// The limits for reading a request's body after its response, in bytes and in time. [ours]
    ///
    /// If both directions are closed while the client still sends, the client loses the response (RFC 9112 §9.6). The length is
    /// therefore enough for an image, or for the start of an import.
    static var discardedLength: Int { 16_777_216 }
    static var discardingTime: TimeAmount { .seconds(2) }

    /// The longest body that is collected for a task, if it arrives together with the head. [ours]
    private static var collectedLength: Int { 8_192 }

    init(_ responder: any ServerResponder, _ settings: ConnectionSettings) {
        self.responder = responder
        self.settings = settings
        readTimeout = ReadTimeout(settings.idleTimeout)
        pendingWrites = PendingWrites(timeout: settings.responseTimeout)
        writer = HTTP1Writer(pendingWrites, server: settings.server)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // A reference cycle, until `handlerRemoved` ends it.
        pendingWrites.whenTaken = {
            if let context = self.context { self.endIfOver(context) }
        }
        let now = settings.idleTimeoutNow.map { shortened in
            // A request whose body pauses has the usual time, even if many connections are open.
            { () -> TimeAmount? in if case .idle = self.state { shortened() } else { nil } }
        }
        readTimeout.begin(on: context.eventLoop, now: now) {
            if let context = self.context { self.closeIfIdle(context) }
        }
        memory = ConnectionMemory(peer: context.channel.remoteAddress.flatMap(IPAddress.init))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cutOff?.cancel()
        readTimeout.end()
        pendingWrites.forget()
        writer.forget()
        start = nil
        self.context = nil
    }

    /// Whether further input must wait.
    var isWaiting: Bool {
        switch state {
        case .received, .delayed, .handled(isReceived: true, isAnswered: _): true
        case .idle, .receiving, .handled, .over: false
        }
    }

    /// Whether reading is delayed, because earlier input is not processed yet.
    var isHeldBack: Bool { isWaiting || source?.isFull == true }

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        headDeadline = nil
        receive(.part(unwrapInboundIn(data)), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as HTTPParserError: receive(.malformed(error), context)
        // More malformed input: the refusal, and the responses before it, are on their way and end the connection.
        case ByteToMessageDecoderError.dataReceivedInErrorState: break
        default: context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is RoomIsWanted:
            switch state {
            case .idle: closeIfIdle(context)
            // Not by `close_notify`: a client that does not stop sending need not answer it either.
            case .handled(isReceived: false, isAnswered: true), .over:
                if pendingWrites.count == 0 { context.channel.cut() }
            // A request that has no response yet keeps its connection. Its body has time limits of its own.
            case .receiving, .received, .delayed, .handled: break
            }
        case is ChannelShouldQuiesceEvent: receive(.end, context)
        case let event as ChannelEvent where event == .inputClosed: receive(.end, context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// While a response is made or sent, or the reader of a body is behind, it is not the client that is idle.
    private func closeIfIdle(_ context: ChannelHandlerContext) {
        if !isHeldBack, pendingWrites.count == 0 { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        readTimeout.hasRead(at: context.eventLoop.now)
        if !hasReadPart { limitHead(context) }
        hasReadPart = false
        settle(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable, case .received = state else { return }
        respondToRequest(context)
        resume(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .over
        arriving = nil
        events = CircularBuffer(initialCapacity: 0)
        cutOff?.cancel()
        source?.fail(ChannelError.inputClosed)
        source = nil
        context.fireChannelInactive()
    }

    /// A client that sends faster than it gets responses, or than it reads them, waits.
    func read(context: ChannelHandlerContext) {
        if isHeldBack { isReadDelayed = true } else { context.read() }
    }

    private func receive(_ event: Event, _ context: ChannelHandlerContext) {
        // An event that is processed while nothing waits needs no place in the queue.
        let isNext = events.isEmpty && !isWaiting && !isProcessing
        if !isNext { events.append(event) }
        process(context, next: isNext ? event : nil)
    }

    private func process(_ context: ChannelHandlerContext, next: Event? = nil) {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        if let next { take(next, context) }
        while !isWaiting, let event = events.popFirst() { take(event, context) }
        endIfOver(context)
    }

    private func take(_ event: Event, _ context: ChannelHandlerContext) {
        if case .over = state { return }
        if isLast, case .idle = state { return }
        switch event {
        case .part(.head(let head)): begin(HTTP1RequestHead(head, from: memory.peer), context)
        case .part(.body(let bytes)): take(bytes, context)
        case .part(.end): endOfRequest(context)
        case .malformed(let error): refuse(error, context)
        case .end: isLast = true
        }
    }

    private func begin(_ head: HTTP1RequestHead, _ context: ChannelHandlerContext) {
        isHead = head.request.method == "HEAD"
        if let defect = head.defect { return refuse(defect, context) }
        if !head.isKeepAlive { (isLast, mayBeSending) = (true, true) }
        writer.confirmsKeepAlive = head.confirmsKeepAlive
        discarded = 0
        if head.expectsContinue {
            awaitsContinue = true
            return handle(head.request, context)
        }
        state = .receiving
        switch responder.reply(to: head.request, on: memory) {
        case .atOnce(let length, let respond):
            arriving = Arriving(request: head.request, respond: respond, maximumBodyLength: length)
        case .later:
            arriving = Arriving(
                request: head.request, respond: nil, maximumBodyLength: Self.collectedLength)
        }
    }

    private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        // The client does not wait any longer (RFC 9110 §10.1.1).
        awaitsContinue = false
        if case .receiving = state {
            arriving?.body.writeImmutableBuffer(bytes)
            if let arriving, arriving.body.readableBytes > arriving.maximumBodyLength {
                handleArriving(context)
            }
            return
        }
        if case .handled(isReceived: _, isAnswered: true) = state { discarded += bytes.readableBytes }
        guard discarded <= Self.discardedLength else { return context.close(promise: nil) }
        source?.add(bytes)
    }

    private func endOfRequest(_ context: ChannelHandlerContext) {
        awaitsContinue = false
        switch state {
        case .receiving where arriving?.respond != nil: respondToRequest(context)
        case .receiving:
            guard let request = arriving.take() else { return }
            state = .handled(isReceived: true, isAnswered: false)
            startTask(request.request, ServerRequestBody(request.body), context)
        case .handled(_, let isAnswered):
            cutOff?.cancel()
            state = isAnswered ? .idle : .handled(isReceived: true, isAnswered: false)
            source?.finish()
            source = nil
        default: break
        }
    }

    // MARK: Tasks

    /// Passes a request to a task, which waits for the rest of the body.
    private func handleArriving(_ context: ChannelHandlerContext) {
        guard let request = arriving.take() else { return }
        handle(request.request, context)
        if request.body.readableBytes > 0 { source?.add(request.body) }
    }

    private func handle(_ request: ServerRequest, _ context: ChannelHandlerContext) {
        state = .handled(isReceived: false, isAnswered: false)
        let number = number + 1
        let loop = context.eventLoop
        let connection = NIOLoopBound(self, eventLoop: loop)
        let source = BodySource(
            want: { loop.execute { connection.value.wantBody(number) } },
            resume: { loop.execute { connection.value.bodyResumes(number) } })
        self.source = source
        startTask(request, source.body, context)
    }

    private func startTask(
        _ request: ServerRequest, _ body: ServerRequestBody, _ context: ChannelHandlerContext
    ) {
        number += 1
        if let start { return start(request, body, number) }
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        let exchange = Exchange(
            loop: context.eventLoop,
            begin: { [number] in connection.value.respond(with: $0, number) },
            write: { [number] in connection.value.write($0, $1, number) },
            end: { [number] in connection.value.endResponse(number, isComplete: $0) })
        exchange.run(responder, request, body, counting: settings.tasks)
    }

    /// Sends `100 Continue`, if the client waits for it.
    private func wantBody(_ number: Int) {
        guard number == self.number, awaitsContinue, let context else { return }
        awaitsContinue = false
        writer.writeContinue(context)
        flush(context)
    }

    private func bodyResumes(_ number: Int) {
        guard number == self.number, let context, source?.isFull == true else { return }
        source?.resumed()
        readTimeout.hasRead(at: context.eventLoop.now)
        resume(context)
    }

    /// Writes the response of a task, or the head of a streamed response.
    func respond(with response: ServerResponse, _ number: Int) {
        guard number == self.number, let context,
            case .handled(isReceived: _, isAnswered: false) = state, !hasBegunResponse
        else { return }
        if case .cut = response.body { return context.close(promise: nil) }
        // The client does not send its body after this response. Bytes of a next request would be read as this body.
        if awaitsContinue { (isLast, mayBeSending) = (true, true) }
        writer.write(response, isLast: isLast, isHead: isHead, context)
        hasBegunResponse = true
        if response.streamedBody(for: isHead ? "HEAD" : "GET") != nil {
            flush(context)
        } else {
            endResponse(number, isComplete: true)
        }
    }

    private func write(_ piece: ByteBuffer, _ promise: EventLoopPromise<Void>, _ number: Int) {
        guard number == self.number, hasBegunResponse, let context else {
            return promise.fail(ChannelError.ioOnClosedChannel)
        }
        writer.write(body: piece, promise, context)
        flush(context)
    }

    private func endResponse(_ number: Int, isComplete: Bool) {
        guard number == self.number, hasBegunResponse, let context,
            case .handled(let isReceived, isAnswered: false) = state
        else { return }
        // A truncated body must not look like a complete one.
        guard isComplete else { return context.close(promise: nil) }
        writer.endStream(context)
        flush(context)
        hasBegunResponse = false
        source = nil
        // If the connection ends, the rest of the body is not read.
        let isOver = isReceived || awaitsContinue
        state = isOver ? .idle : .handled(isReceived: false, isAnswered: true)
        // The client has not been idle while it waited.
        if isOver { readTimeout.hasRead(at: context.eventLoop.now) } else { cutOffLater(context) }
        resume(context)
    }

    // MARK: The event loop

    /// Ends a read.
    private func settle(_ context: ChannelHandlerContext) {
        if case .receiving = state { handleArriving(context) }
        if isUnflushed { flush(context) }
    }

    /// Processes the input that was delayed.
    private func resume(_ context: ChannelHandlerContext) {
        process(context)
        // Frees the memory of many delayed events.
        if events.isEmpty { events = CircularBuffer(initialCapacity: 1) }
        whenResumed?()
        settle(context)
        if isReadDelayed, !isHeldBack {
            isReadDelayed = false
            context.read()
        }
    }

    /// A client that sends a head byte by byte is not idle, but is not waited for any longer either.
    private func limitHead(_ context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        guard let headDeadline else {
            headDeadline = context.eventLoop.now + settings.headTimeout
            return
        }
        if headDeadline < context.eventLoop.now { context.close(promise: nil) }
    }

    private func respondToRequest(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            state = .received
            return
        }
        guard let request = arriving.take(), let respond = request.respond else { return }
        let response = respond(request.body)
        guard let delay = response.delay else { return write(response, context) }
        state = .delayed
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay.duration)) { [weak self] in
            // The permit is held for as long as the response is.
            defer { withExtendedLifetime(delay) {} }
            guard let self, let context = self.context, case .delayed = self.state else { return }
            self.write(response, context)
            self.resume(context)
        }
    }

    private func write(_ response: ServerResponse, _ context: ChannelHandlerContext) {
        if case .cut = response.body { return context.close(promise: nil) }
        writer.write(response, isLast: isLast, isHead: isHead, context)
        isUnflushed = true
        state = .idle
    }

    private func refuse(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        if case .handled(isReceived: false, isAnswered: true) = state {
            // This is the rest of a request that already has its response.
            return context.close(promise: nil)
        }
        // After the start of a response, no refusal can be sent.
        guard !hasBegunResponse else { return context.close(promise: nil) }
        number += 1
        source?.fail(error)
        source = nil
        isHead = false
        refuse(error == .headerOverflow ? .headerLength : .syntax, context)
    }

    private func refuse(_ defect: RequestDefect, _ context: ChannelHandlerContext) {
        (isLast, mayBeSending) = (true, true)
        write(responder.refusal(of: defect), context)
        // The reader of the body may have delayed the input.
        resume(context)
    }

    private func flush(_ context: ChannelHandlerContext) {
        isUnflushed = false
        writer.forward(context)
        context.flush()
    }

    // MARK: Ends

    /// Closes the connection once its last response has left.
    private func endIfOver(_ context: ChannelHandlerContext) {
        guard isLast, pendingWrites.count == 0, case .idle = state else { return }
        state = .over
        guard mayBeSending else { return context.close(promise: nil) }
        // If both directions were closed, bytes that the client still sends would reset the connection, and the client would
        // lose the response (RFC 9112 §9.6).
        context.close(mode: .output, promise: nil)
        cutOffLater(context)
    }

    private func cutOffLater(_ context: ChannelHandlerContext) {
        cutOff?.cancel()
        cutOff = context.eventLoop.assumeIsolated().scheduleTask(in: Self.discardingTime) { [weak self] in
            self?.context?.close(promise: nil)
        }
    }
}

import Foundation
import HTTPTypes
import JSON
import NIOCore
import NIOHTTP1

/// The exchanges of a connection of HTTP/1.1, or the one of a stream of HTTP/2, one after another.
///
/// It stands directly behind what decodes requests. A request of a route from memory that has arrived whole is answered here,
/// at once; any other goes on to the router, and so does one whose rest is still to come: the router waits for bodies. What
/// follows waits until the exchange under way is over, so that answers keep the order of their requests.
///
/// - What is no HTTP request, or has too long a header, is answered with a problem after the requests before it, and is the
///   last of its connection. No route or middleware sees it.
/// - A request that was answered before its body had arrived may send the rest for a while, so that its client gets to
///   read the answer; a client that goes on is cut off.
/// - The end of what the client sends, and the end of the server, come after the requests that arrived before it.
final class ExchangeHandler<Wire: HTTPWire>: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Wire.RequestPart
    typealias InboundOut = Wire.RequestPart
    typealias OutboundIn = Wire.ResponsePart
    typealias OutboundOut = Wire.ResponsePart

    /// A request that is answered here.
    private struct Request {
        /// The index of its route.
        let route: Int
        let query: Substring
        let fields: RequestFields
        let head: Wire.RequestPart
        var body = ByteBuffer()
    }

    private enum Event {
        case part(Wire.RequestPart)
        case malformed(HTTPParserError)
        /// Nothing comes any more, or nothing more is answered.
        case end
    }

    private enum State {
        case idle
        case receiving(Request)
        /// Whole, and the client has not read the answers before it.
        case received(Request)
        /// Its answer is held back.
        case heldBack
        /// With the router.
        case routed(isReceived: Bool, isAnswered: Bool)
        /// The last answer of the connection is written.
        case over
    }

    private let answerer: Answerer
    private let headTimeout: TimeAmount
    private var state = State.idle
    private var events = CircularBuffer<Event>(initialCapacity: 1)
    private var isProcessing = false
    /// Whether the exchange under way is the last of its connection.
    private var isLast = false
    /// Whether its client may be sending more, and would not read an answer if that were refused.
    private var mayBeSending = false
    /// How many answers are written and not yet taken by the client's side.
    private var untaken = 0
    /// Whether the router has written the head of an answer, and not its end.
    private var hasBegunAnswer = false
    private var isReadHeldBack = false
    private var isUnflushed = false
    private var discarded = 0
    private var cutOff: Scheduled<Void>?
    /// Whether a request, or a part of one, was read since what was read last is complete.
    private var hasReadPart = false
    private var headDeadline: NIODeadline?
    private var peer: IPAddress?
    /// Nil behind a proxy, which says of each request whose it is.
    private var client: Client?
    private var context: ChannelHandlerContext?

    /// How much is read of a body after its answer, and for how long.
    private static var discardedLength: Int { 262_144 }
    private static var discardingTime: TimeAmount { .seconds(2) }

    init(_ answerer: Answerer) {
        self.answerer = answerer
        headTimeout = TimeAmount(answerer.bodyTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // A stream of HTTP/2 knows its connection's only so, and not by the context's own.
        peer = context.channel.remoteAddress.flatMap(IPAddress.init)
        if !answerer.proxies.contains(peer) {
            client = Client(address: Client.Address(peer), isBehindProxy: false)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cutOff?.cancel()
        self.context = nil
    }

    /// Whether what comes next has to wait.
    private var isWaiting: Bool {
        switch state {
        case .received, .heldBack, .routed(isReceived: true, isAnswered: _): true
        case .idle, .receiving, .routed, .over: false
        }
    }

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        headDeadline = nil
        receive(.part(unwrapInboundIn(data)), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            receive(.malformed(error), context)
        } else {
            context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is IdleStateHandler.IdleStateEvent:
            // While an answer is being made, or is on its way, it is not the client that is idle.
            if !isWaiting, untaken == 0 { context.close(promise: nil) }
        case is ChannelShouldQuiesceEvent: receive(.end, context)
        case let event as ChannelEvent where event == .inputClosed: receive(.end, context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !hasReadPart { limitHead(context) }
        hasReadPart = false
        settle(context)
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, case .received(let request) = state {
            answer(request, context)
            resume(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .over
        events = CircularBuffer(initialCapacity: 0)
        cutOff?.cancel()
        context.fireChannelInactive()
    }

    /// A client that sends faster than it is answered, or than it reads, waits.
    func read(context: ChannelHandlerContext) {
        if isWaiting { isReadHeldBack = true } else { context.read() }
    }

    private func receive(_ event: Event, _ context: ChannelHandlerContext) {
        events.append(event)
        process(context)
    }

    private func process(_ context: ChannelHandlerContext) {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        while !isWaiting, let event = events.popFirst() { take(event, context) }
        endIfOver(context)
    }

    private func take(_ event: Event, _ context: ChannelHandlerContext) {
        if case .over = state { return }
        if isLast, case .idle = state { return }
        switch event {
        case .part(let part): take(part, context)
        case .malformed(let error): refuse(error, context)
        case .end: isLast = true
        }
    }

    private func take(_ part: Wire.RequestPart, _ context: ChannelHandlerContext) {
        switch Wire.piece(part) {
        case .head(let head): begin(head, part, context)
        case .body(let bytes):
            if case .receiving(var request) = state {
                // Else its bytes would be copied.
                state = .idle
                request.body.writeImmutableBuffer(bytes)
                state = .receiving(request)
                if request.body.readableBytes > Route.maximumBodyLength { route(request, context) }
                return
            }
            if case .routed(isReceived: _, isAnswered: true) = state { discarded += bytes.readableBytes }
            guard discarded <= Self.discardedLength else { return context.close(promise: nil) }
            context.fireChannelRead(wrapInboundOut(part))
        case .end:
            if case .receiving(let request) = state { return answer(request, context) }
            guard case .routed(_, let isAnswered) = state else { return }
            cutOff?.cancel()
            state = isAnswered ? .idle : .routed(isReceived: true, isAnswered: false)
            context.fireChannelRead(wrapInboundOut(part))
        }
    }

    private func begin(_ head: ReceivedHead, _ part: Wire.RequestPart, _ context: ChannelHandlerContext) {
        guard head.namesHost else { return refuse(.invalidHeaderToken, context) }
        if !head.isKeepAlive { (isLast, mayBeSending) = (true, true) }
        if head.expectsContinue {
            // Else the client waits before it sends its body.
            context.writeAndFlush(wrapOutboundOut(Wire.head(.continue, [])), promise: nil)
        } else if let (route, query) = answerer.routes.indexAnsweredAtOnce(head.method, head.target) {
            state = .receiving(Request(route: route, query: query, fields: head.fields, head: part))
            return
        }
        state = .routed(isReceived: false, isAnswered: false)
        discarded = 0
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// Leaves a request to the router, which waits for the rest of it.
    private func route(_ request: Request, _ context: ChannelHandlerContext) {
        state = .routed(isReceived: false, isAnswered: false)
        discarded = 0
        context.fireChannelRead(wrapInboundOut(request.head))
        if request.body.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(Wire.received(request.body)))
        }
    }

    /// What is to be done when no more is to come at once.
    private func settle(_ context: ChannelHandlerContext) {
        if case .receiving(let request) = state { route(request, context) }
        if isUnflushed {
            isUnflushed = false
            context.flush()
        }
    }

    /// Goes on after what waited has been answered.
    private func resume(_ context: ChannelHandlerContext) {
        process(context)
        // However much had to wait.
        if events.isEmpty { events = CircularBuffer(initialCapacity: 1) }
        settle(context)
        // Those behind take what they were given when no more is to come.
        context.fireChannelReadComplete()
        if isReadHeldBack, !isWaiting {
            isReadHeldBack = false
            context.read()
        }
    }

    /// A client that sends a head byte by byte is not idle, but is not waited for any longer either.
    private func limitHead(_ context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        guard let headDeadline else {
            headDeadline = context.eventLoop.now + headTimeout
            return
        }
        if headDeadline < context.eventLoop.now { context.close(promise: nil) }
    }

    // MARK: Answers

    private func answer(_ request: Request, _ context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            state = .received(request)
            return
        }
        let client =
            client ?? answerer.proxies.client(behind: peer, forwardedFor: request.fields.forwardedFor)
        let requestID = RequestID.of(request.fields.requestID)
        let answer = answerer.answer(
            APIRequest(client: client, query: request.query, fields: request.fields), body: request.body,
            byRoute: request.route, requestID: requestID)
        guard let pause = answer.problem?.pause else { return write(answer, requestID: requestID, context) }
        state = .heldBack
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause.duration)) { [weak self] in
            // Held for as long as the answer is.
            defer { withExtendedLifetime(pause) {} }
            guard let self, let context = self.context, case .heldBack = self.state else { return }
            self.write(answer, requestID: requestID, context)
            self.resume(context)
        }
    }

    private func write(_ answer: Answer, requestID: String, _ context: ChannelHandlerContext) {
        var header = answer.header
        header.append((.requestID, requestID))
        header.append((.date, HTTPDate.text(at: Date())))
        header.append((.server, APIServer.name))
        write(answer.status, header, answer.body, context)
        state = .idle
    }

    private func refuse(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        if case .routed(isReceived: false, isAnswered: true) = state {
            // The rest of a request that was answered already.
            return context.close(promise: nil)
        }
        // Nothing can be said any more where the router has begun to answer.
        guard !hasBegunAnswer else { return context.close(promise: nil) }
        let problem: Problem =
            switch error {
            case .headerOverflow:
                Problem(
                    .requestHeaderFieldsTooLarge, "header_too_large",
                    "the request's URL and header are too large")
            default:
                Problem(.badRequest, "malformed_request", "this is not an HTTP request")
            }
        (isLast, mayBeSending) = (true, true)
        write(
            problem.status, [(.contentType, "application/problem+json")],
            ByteBuffer(bytes: JSONValue.object(problem.json).serialized()), context)
        state = .idle
        settle(context)
    }

    private func write(
        _ status: HTTPResponse.Status, _ header: Answer.Header, _ body: ByteBuffer?,
        _ context: ChannelHandlerContext
    ) {
        var header = header
        if let body { header.append((.contentLength, String(body.readableBytes))) }
        let head = Wire.head(status, header)
        context.write(wrapOutboundOut(isLast ? Wire.closing(head) : head), promise: nil)
        if let body { context.write(wrapOutboundOut(Wire.body(body)), promise: nil) }
        writeEnd(Wire.end, nil, context)
        isUnflushed = true
    }

    private func writeEnd(
        _ end: Wire.ResponsePart, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        let taken = promise ?? context.eventLoop.makePromise()
        untaken += 1
        taken.futureResult.assumeIsolated().whenComplete { _ in
            self.untaken -= 1
            if let context = self.context { self.endIfOver(context) }
        }
        context.write(wrapOutboundOut(end), promise: taken)
    }

    /// The router's answers.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .routed(isReceived: let isReceived, isAnswered: false) = state else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let part = unwrapOutboundIn(data)
        switch Wire.piece(part) {
        case .head:
            hasBegunAnswer = true
            context.write(wrapOutboundOut(isLast ? Wire.closing(part) : part), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            hasBegunAnswer = false
            writeEnd(part, promise, context)
            state = isReceived ? .idle : .routed(isReceived: false, isAnswered: true)
            if !isReceived { cutOffLater(context) }
            if !events.isEmpty || isReadHeldBack { resume(context) }
        }
    }

    // MARK: Ends

    /// Closes the connection once its last answer has gone out.
    private func endIfOver(_ context: ChannelHandlerContext) {
        guard isLast, untaken == 0, case .idle = state else { return }
        state = .over
        guard mayBeSending else { return context.close(promise: nil) }
        // Closed both ways, the connection would be reset by what the client still sends, and the answer lost with it
        // (RFC 9112 §9.6).
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

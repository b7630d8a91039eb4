import Foundation
import HTTPTypes
import IPAddresses
import NIOCore
import NIOHTTP1

/// The exchanges of a connection of HTTP/1.1, or the one of a stream of HTTP/2, one after another.
///
/// A request of a route from memory that has arrived whole is answered here, at once; any other goes on to the router, and
/// so does one whose rest is still to come: the router waits for bodies. What follows waits until the exchange under way is
/// over, so that answers keep the order of their requests.
///
/// - What is no HTTP request, or has too long a header, is answered with a problem after the requests before it, and is the
///   last of its connection. No route or middleware sees it.
/// - A client that waits for `100 Continue` gets it when the body is wanted, and else the final response in its place.
/// - A request that was answered before its body had arrived may send the rest for a while, so that its client gets to
///   read the answer; a client that goes on is cut off.
/// - Answers that nobody reads are given up: ``PendingWrites``.
/// - The end of what the client sends, and the end of the server, come after the requests that arrived before it.
final class Exchanges<Wire: HTTPWire> {
    /// A request that is answered here.
    private struct Request {
        let endpoint: MemoryEndpoint
        let request: APIRequest
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
        /// A request that is answered here, if it is there whole soon.
        case receiving
        /// It is whole, and the client has not read the answers before it.
        case received
        /// Its answer is held back.
        case delayed
        /// With the router.
        case routed(isReceived: Bool, isAnswered: Bool)
        /// The last answer of the connection is written.
        case over
    }

    private let responder: APIResponder
    private let headTimeout: TimeAmount
    private var state = State.idle
    /// The one that is received.
    private var request: Request?
    private var events = CircularBuffer<Event>(initialCapacity: 1)
    private var isProcessing = false
    /// Whether the exchange under way is the last of its connection.
    private var isLast = false
    /// Whether its client may be sending more, and would not read an answer if that were refused.
    private var mayBeSending = false
    /// Called where what had to wait goes on.
    var whenResumed: (() -> Void)?
    private let pendingWrites: PendingWrites
    private let readTimeout: ReadTimeout?
    private let idleTimeoutNow: (@Sendable () -> TimeAmount)?
    private var writer: Wire.Writer
    /// Whether the router has written the head of an answer, and not its end.
    private var hasBegunResponse = false
    /// Whether the router was given a head, and not the end of its request.
    private var hasOpenBody = false
    private var isReadDelayed = false
    private var isUnflushed = false
    /// Whether the client waits for `100 Continue`, and no endpoint has asked for the body yet.
    private var awaitsContinue = false
    private var discarded = 0
    private var cutOff: Scheduled<Void>?
    /// Whether a request, or a part of one, was read since what was read last is complete.
    private var hasReadPart = false
    private var headDeadline: NIODeadline?
    /// Whether the router was given parts, and has not been told that no more are to come at once.
    private var hasPassedOn = false
    /// That of the request that came last.
    private var lastKey: PresentedKey?
    private var peer: IPAddress?
    /// Nil behind a proxy, which says of each request whose it is.
    private var client: Client?
    private var context: ChannelHandlerContext?

    /// How much is read of a body after its answer, and for how long.
    private static var discardedLength: Int { 262_144 }
    private static var discardingTime: TimeAmount { .seconds(2) }

    /// - Parameters:
    ///   - idleTimeout: How long nothing may be read; nil if another handler enforces it.
    ///   - idleTimeoutNow: How long nothing may be read at the moment if no request is under way, never longer than
    ///     `idleTimeout`; nil if it is always the same.
    init(
        _ responder: APIResponder, responseTimeout: TimeAmount, idleTimeout: TimeAmount?,
        idleTimeoutNow: (@Sendable () -> TimeAmount)? = nil
    ) {
        self.responder = responder
        readTimeout = idleTimeout.map { ReadTimeout($0) }
        self.idleTimeoutNow = idleTimeoutNow
        headTimeout = TimeAmount(responder.bodyTimeout)
        pendingWrites = PendingWrites(timeout: responseTimeout)
        writer = Wire.Writer(pendingWrites)
    }

    func begin(_ context: ChannelHandlerContext) {
        self.context = context
        // Until `end()`, which lets go of it.
        pendingWrites.whenTaken = {
            if let context = self.context { self.endIfOver(context) }
        }
        let now = idleTimeoutNow.map { shortened in
            // A request whose body pauses keeps the usual time, however many connections are open.
            { () -> TimeAmount? in if case .idle = self.state { shortened() } else { nil } }
        }
        readTimeout?.begin(on: context.eventLoop, now: now) {
            if let context = self.context { self.closeIfIdle(context) }
        }
        // A stream of HTTP/2 knows its connection's only so, and not by the context's own.
        peer = context.channel.remoteAddress.flatMap(IPAddress.init)
        if !responder.proxies.contains(peer) {
            client = Client(address: Client.Address(peer), isBehindProxy: false)
        }
    }

    func end() {
        cutOff?.cancel()
        readTimeout?.end()
        pendingWrites.forget()
        writer.forget()
        context = nil
    }

    /// Whether what comes next has to wait.
    var isWaiting: Bool {
        switch state {
        case .received, .delayed, .routed(isReceived: true, isAnswered: _): true
        case .idle, .receiving, .routed, .over: false
        }
    }

    // MARK: Inbound

    func receive(_ part: Wire.RequestPart, _ context: ChannelHandlerContext) {
        hasReadPart = true
        headDeadline = nil
        receive(.part(part), context)
    }

    func receive(_ error: any Error, _ context: ChannelHandlerContext) {
        switch error {
        case let error as HTTPParserError: receive(.malformed(error), context)
        // More of what was malformed: the refusal, and the answers before it, are on their way and end the connection.
        case ByteToMessageDecoderError.dataReceivedInErrorState: break
        default: context.fireErrorCaught(error)
        }
    }

    func receive(event: Any, _ context: ChannelHandlerContext) {
        switch event {
        case is IdleStateHandler.IdleStateEvent: closeIfIdle(context)
        case is RoomIsWanted:
            // A request whose body is still on its way has time limits of its own.
            if case .idle = state { closeIfIdle(context) }
        case is ChannelShouldQuiesceEvent: receive(.end, context)
        case let event as ChannelEvent where event == .inputClosed: receive(.end, context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// While an answer is being made, or is on its way, it is not the client that is idle.
    private func closeIfIdle(_ context: ChannelHandlerContext) {
        if !isWaiting, pendingWrites.count == 0 { context.close(promise: nil) }
    }

    func readCompletes(_ context: ChannelHandlerContext) {
        readTimeout?.hasRead(at: context.eventLoop.now)
        if !hasReadPart { limitHead(context) }
        hasReadPart = false
        settle(context)
    }

    func writabilityChanges(_ context: ChannelHandlerContext) {
        if context.channel.isWritable, case .received = state {
            respondToRequest(context)
            resume(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func becomesInactive(_ context: ChannelHandlerContext) {
        state = .over
        request = nil
        events = CircularBuffer(initialCapacity: 0)
        cutOff?.cancel()
        // Else the library takes what has come of a body for all of it.
        if hasOpenBody { context.fireErrorCaught(ChannelError.inputClosed) }
        context.fireChannelInactive()
    }

    /// A client that sends faster than it is answered, or than it reads, waits.
    func read(_ context: ChannelHandlerContext) {
        if isWaiting { isReadDelayed = true } else { context.read() }
    }

    private func receive(_ event: Event, _ context: ChannelHandlerContext) {
        // What is processed while nothing waits needs no place in the queue.
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
        case .part(let part): take(part, context)
        case .malformed(let error): refuse(error, context)
        case .end: isLast = true
        }
    }

    private func take(_ part: Wire.RequestPart, _ context: ChannelHandlerContext) {
        switch Wire.piece(part) {
        case .head(let head): begin(head, part, context)
        case .body(let bytes):
            // The client does not wait any longer (RFC 9110 §10.1.1).
            awaitsContinue = false
            if case .receiving = state {
                request?.body.writeImmutableBuffer(bytes)
                if let request, request.body.readableBytes > Endpoint.maximumBodyLengthAtOnce {
                    passToRouter(context)
                }
                return
            }
            if case .routed(isReceived: _, isAnswered: true) = state { discarded += bytes.readableBytes }
            guard discarded <= Self.discardedLength else { return context.close(promise: nil) }
            passOn(part, context)
        case .end:
            awaitsContinue = false
            if case .receiving = state { return respondToRequest(context) }
            guard case .routed(_, let isAnswered) = state else { return }
            cutOff?.cancel()
            state = isAnswered ? .idle : .routed(isReceived: true, isAnswered: false)
            passOn(part, context)
        }
    }

    private func begin(
        _ head: consuming ReceivedHead, _ part: Wire.RequestPart, _ context: ChannelHandlerContext
    ) {
        if let defect = head.defect { return refuse(Problem(defect), context) }
        if !head.isKeepAlive { (isLast, mayBeSending) = (true, true) }
        writer.confirmsKeepAlive = head.confirmsKeepAlive
        if !head.expectsContinue, head.fields.assertion == nil, head.fields.contentEncoding == nil,
            let (endpoint, query) = responder.memoryEndpoints.endpoint(head.method, head.target)
        {
            let forwardedFor = head.fields.forwardedFor
            let client = client ?? responder.proxies.client(behind: peer, forwardedFor: forwardedFor)
            keepKey(of: head.fields)
            request = Request(
                endpoint: endpoint,
                request: APIRequest(client: client, query: query, fields: head.fields, key: lastKey),
                head: part)
            state = .receiving
            return
        }
        state = .routed(isReceived: false, isAnswered: false)
        discarded = 0
        awaitsContinue = head.expectsContinue
        passOn(part, context)
    }

    /// Tells a client that waits for it that it may send its body.
    func wantBody(_ context: ChannelHandlerContext) {
        guard awaitsContinue else { return }
        awaitsContinue = false
        writer.writeContinue(context)
        flush(context)
    }

    private func keepKey(of fields: borrowing RequestFields) {
        guard let field = fields.authorization else { return lastKey = nil }
        if lastKey?.isSame(as: field) != true { lastKey = PresentedKey(field) }
    }

    /// Leaves a request to the router, which waits for the rest of it.
    private func passToRouter(_ context: ChannelHandlerContext) {
        guard let request = request.take() else { return }
        state = .routed(isReceived: false, isAnswered: false)
        discarded = 0
        passOn(request.head, context)
        if request.body.readableBytes > 0 {
            passOn(Wire.received(request.body), context)
        }
    }

    /// What is to be done when no more is to come at once.
    private func settle(_ context: ChannelHandlerContext) {
        if case .receiving = state { passToRouter(context) }
        if isUnflushed { flush(context) }
        // Those behind take what they were given when no more is to come.
        if hasPassedOn {
            hasPassedOn = false
            context.fireChannelReadComplete()
        }
    }

    private func passOn(_ part: Wire.RequestPart, _ context: ChannelHandlerContext) {
        hasPassedOn = true
        if case .end = Wire.piece(part) { hasOpenBody = false } else { hasOpenBody = true }
        context.fireChannelRead(NIOAny(part))
    }

    /// Goes on after what waited has been answered.
    private func resume(_ context: ChannelHandlerContext) {
        process(context)
        // However much had to wait.
        if events.isEmpty { events = CircularBuffer(initialCapacity: 1) }
        whenResumed?()
        settle(context)
        if isReadDelayed, !isWaiting {
            isReadDelayed = false
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

    private func respondToRequest(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            state = .received
            return
        }
        guard let request = request.take() else { return }
        let requestID = RequestID.of(request.request.fields.requestID)
        let response = responder.response(
            request.request, body: request.body, by: request.endpoint, requestID: requestID)
        guard let pause = response.problem?.pause else {
            return write(response, requestID: requestID, context)
        }
        state = .delayed
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause.duration)) { [weak self] in
            // Held for as long as the answer is.
            defer { withExtendedLifetime(pause) {} }
            guard let self, let context = self.context, case .delayed = self.state else { return }
            self.write(response, requestID: requestID, context)
            self.resume(context)
        }
    }

    private func write(_ response: APIResponse, requestID: String, _ context: ChannelHandlerContext) {
        writer.begin(response.status, bodyLength: response.body?.count, isLast: isLast, context)
        response.write(to: &writer)
        writer.append(.requestID, requestID)
        writer.append(.date, HTTPDate.text(at: Date()))
        writer.append(.server, APIServer.name)
        writer.end(response.body, context)
        isUnflushed = true
        state = .idle
    }

    private func refuse(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        if case .routed(isReceived: false, isAnswered: true) = state {
            // The rest of a request that was answered already.
            return context.close(promise: nil)
        }
        // Nothing can be said any more where the router has begun to answer.
        guard !hasBegunResponse else { return context.close(promise: nil) }
        refuse(error == .headerOverflow ? .headerTooLarge : .notHTTP, context)
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        (isLast, mayBeSending) = (true, true)
        let requestID = RequestID.make()
        write(APIResponse(problem, requestID: requestID), requestID: requestID, context)
        settle(context)
    }

    /// The router's answers.
    func write(
        _ part: Wire.ResponsePart, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        guard case .routed(isReceived: let isReceived, isAnswered: false) = state else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let endsWithUnsentBody = awaitsContinue && Wire.endsWithUnsentBody
        if endsWithUnsentBody { (isLast, mayBeSending) = (true, true) }
        writer.write(part, isLast: isLast, promise, context)
        switch Wire.piece(part) {
        case .head: hasBegunResponse = true
        case .body: break
        case .end:
            hasBegunResponse = false
            // No more is read of a connection that ends.
            let isOver = isReceived || endsWithUnsentBody
            state = isOver ? .idle : .routed(isReceived: false, isAnswered: true)
            // The client has not been idle while it waited.
            if isOver { readTimeout?.hasRead(at: context.eventLoop.now) } else { cutOffLater(context) }
            resume(context)
        }
    }

    func flush(_ context: ChannelHandlerContext) {
        isUnflushed = false
        writer.forward(context)
        context.flush()
    }

    func close(_ mode: CloseMode, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        writer.forward(context)
        context.close(mode: mode, promise: promise)
    }

    // MARK: Ends

    /// Closes the connection once its last answer has gone out.
    private func endIfOver(_ context: ChannelHandlerContext) {
        guard isLast, pendingWrites.count == 0, case .idle = state else { return }
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

extension Problem {
    fileprivate static let headerTooLarge = Problem(
        .requestHeaderFieldsTooLarge, "header_too_large", "the request's URL and header are too large")
    fileprivate static let notHTTP = Problem(
        .badRequest, "malformed_request", "this is not an HTTP request")

    fileprivate init(_ defect: ReceivedHead.Defect) {
        switch defect {
        case .host:
            self.init(
                .badRequest, "malformed_request",
                "a request names its host once; its target or :authority may not name another one")
        case .transferCoding:
            self.init(
                .notImplemented, "unsupported_transfer_coding",
                "the only transfer coding that the server knows is chunked")
        }
    }
}

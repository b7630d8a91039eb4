import Foundation
import HTTPTypes
import Logging
import NIOCore
import Routing

/// Answers requests to the routes under `/v1` before the HTTP library sees them.
///
/// It stands first on a connection. A request that ``RequestHead`` understands and that is there whole is answered at
/// once, by the same ``AnswerService`` that the library's routes use. Any other is passed on, exactly its bytes, and what
/// comes after it waits until the library has answered it; so answers keep the order of their requests. When a request
/// cannot be told from the next with certainty, the whole rest of the connection is the library's.
///
/// Measured, the library's path costs several times the answer itself: deploy/bench/README.md.
final class FrontHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What all connections' handlers share.
    struct Factory: Sendable {
        let service: AnswerService
        let proxies: TrustedProxies
        let observer: RequestObserver
        let logger: Logger
        /// How long the head of a request may take to arrive once it has begun.
        let headTimeout: TimeAmount
    }

    private let shared: Factory
    /// The library's side of the connection.
    private let exchanges: ExchangeHandler
    /// What has arrived and is neither answered nor passed on.
    private var pending = ByteBuffer()
    /// How much of a request that is the library's is still to be passed on.
    private var toPassOn = 0
    private var isHandedOver = false
    private var hasWritten = false
    private var isReadHeldBack = false
    private var headDeadline: NIODeadline?
    /// How often the head that is pending was looked at before it was whole.
    private var headLooks = 0
    /// What ends the connection, and is passed on only after the requests that came before it.
    private var endings: [any Sendable] = []
    private var context: ChannelHandlerContext?
    private var date = HTTPDate()
    private var peer: IPAddress?
    /// Nil behind a proxy, which says of each request whose it is.
    private var client: Client?
    /// Whether an answer waits, which is written later than it was made.
    private var isPausing = false

    /// How much may wait behind a request that the library has not answered.
    private static let pendingLimit = 131_072
    /// A head that comes in more pieces is left to the library, which reads on where it stopped.
    private static let headLooksLimit = 16

    init(_ shared: Factory, exchanges: ExchangeHandler) {
        self.shared = shared
        self.exchanges = exchanges
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        peer = context.remoteAddress.flatMap(IPAddress.init)
        if !shared.proxies.contains(peer) {
            client = Client(address: Client.Address(peer), isBehindProxy: false)
        }
        exchanges.onIdle = { [weak self] in self?.resume() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        exchanges.onIdle = {}
    }

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var arrived = unwrapInboundIn(data)
        guard !isHandedOver else { return passOnAll(arrived, context) }
        // Else what is read would be kept as long as each arrival ends within a request.
        pending.discardReadBytes()
        if pending.readableBytes == 0 {
            pending = arrived
        } else {
            pending.writeBuffer(&arrived)
        }
        process(context)
        passOnEndings(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        flush(context)
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { resume() }
        context.fireChannelWritabilityChanged()
    }

    /// A client that sends faster than it reads answers, or than the library gives them, waits.
    func read(context: ChannelHandlerContext) {
        isReadHeldBack = true
        releaseRead(context)
    }

    private func releaseRead(_ context: ChannelHandlerContext) {
        guard isReadHeldBack,
            isHandedOver
                || (context.channel.isWritable && endings.isEmpty && !isPausing
                    && pending.readableBytes < Self.pendingLimit)
        else { return }
        isReadHeldBack = false
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is IdleStateHandler.IdleStateEvent:
            // While the library works on an answer it is not the client that is idle, unless it does not read.
            if !(exchanges.isAnswering || isPausing) || !context.channel.isWritable {
                context.close(promise: nil)
            }
        case let ending as ChannelEvent where ending == .inputClosed && !isHandedOver:
            endings.append(ending)
            passOnEndings(context)
        case let ending as ChannelShouldQuiesceEvent where !isHandedOver:
            endings.append(ending)
            passOnEndings(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Tells the library that the connection ends, once nothing waits here any more: it may close it at once.
    private func passOnEndings(_ context: ChannelHandlerContext) {
        guard !endings.isEmpty, !isWaiting(context) else { return }
        let passedOn = endings
        endings = []
        if passedOn.contains(where: { $0 is ChannelEvent }), pending.readableBytes > 0 { handOver(context) }
        // What is written is lost if it is not sent before the connection is closed.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            for ending in passedOn { context.fireUserInboundEventTriggered(ending) }
            self.releaseRead(context)
        }
    }

    /// Whether an answer waits, or what is pending does: for the library, or for the client to read.
    private func isWaiting(_ context: ChannelHandlerContext) -> Bool {
        isPausing || pending.readableBytes > 0 && (exchanges.isBusy || !context.channel.isWritable)
    }

    /// Goes on after the library has answered what it was given, or the client has read what it was sent.
    private func resume() {
        guard let context, pending.readableBytes > 0 || isReadHeldBack || !endings.isEmpty else { return }
        process(context)
        passOnEndings(context)
        flush(context)
        // Those behind it take what they were given when no more is to come.
        context.fireChannelReadComplete()
        releaseRead(context)
    }

    private func flush(_ context: ChannelHandlerContext) {
        guard hasWritten else { return }
        hasWritten = false
        context.flush()
    }

    // MARK: Requests

    private func process(_ context: ChannelHandlerContext) {
        while pending.readableBytes > 0 {
            if toPassOn > 0 {
                passOn(context)
                continue
            }
            guard !exchanges.isBusy, !isPausing, context.channel.isWritable else { return }
            switch RequestHead(pending) {
            case .incomplete:
                headLooks += 1
                return headLooks > Self.headLooksLimit ? handOver(context) : limitHead(context)
            case .unusual:
                return handOver(context)
            case .other(let length):
                headIsWhole()
                toPassOn = length
            case .answerable(let head):
                headIsWhole()
                let length = head.headLength + head.bodyLength
                guard pending.readableBytes >= length else {
                    // The library waits for bodies.
                    toPassOn = length
                    continue
                }
                answer(head, context)
                pending.moveReaderIndex(forwardBy: length)
            }
        }
        if pending.readableBytes == 0 { pending = ByteBuffer() }
    }

    private func passOn(_ context: ChannelHandlerContext) {
        guard let part = pending.readSlice(length: min(toPassOn, pending.readableBytes)) else { return }
        toPassOn -= part.readableBytes
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func handOver(_ context: ChannelHandlerContext) {
        isHandedOver = true
        let rest = pending
        pending = ByteBuffer()
        passOnAll(rest, context)
        releaseRead(context)
    }

    private func passOnAll(_ part: ByteBuffer, _ context: ChannelHandlerContext) {
        context.fireChannelRead(wrapInboundOut(part))
        if exchanges.isBusy { headIsWhole() } else { limitHead(context) }
    }

    private func headIsWhole() {
        headDeadline = nil
        headLooks = 0
    }

    /// A client that sends a head byte by byte is not idle, but is not waited for any longer either.
    private func limitHead(_ context: ChannelHandlerContext) {
        guard let headDeadline else {
            self.headDeadline = context.eventLoop.now + shared.headTimeout
            return
        }
        if headDeadline < context.eventLoop.now { context.close(promise: nil) }
    }

    private func answer(_ head: RequestHead.Answerable, _ context: ChannelHandlerContext) {
        let start = ContinuousClock.now
        let now = Date()
        let requestID = head.requestID ?? RequestID.make()
        var caller: KeyHolder?
        let answer: Answer
        let client =
            client ?? shared.proxies.client(behind: peer, forwardedFor: head.forwardedFor)
        do throws(Problem) {
            let admission = try shared.service.admit(head.request(from: client), at: now)
            caller = admission.caller
            let body = pending.getSlice(at: pending.readerIndex + head.headLength, length: head.bodyLength)
            answer = try shared.service.answer(
                admission, as: head.route, body: body ?? ByteBuffer(), at: now)
        } catch {
            caller = error.caller
            answer = Answer(error, requestID: requestID)
        }
        var buffer = context.channel.allocator.buffer(capacity: 384 + (answer.body?.count ?? 0))
        buffer.writeHTTP1(answer, requestID: requestID, date: date.text(at: now))
        if let pause = answer.problem?.pause {
            write(buffer, after: pause, context)
        } else {
            context.write(wrapOutboundOut(buffer), promise: nil)
            hasWritten = true
        }
        shared.observer.record(
            answer.status, head.route.method, route: head.route.path,
            answered: head.route, caller: caller, limit: answer.problem?.limit, requestID: requestID,
            duration: start.duration(to: .now), shared.logger)
    }

    /// Lets an answer wait, and the requests behind it.
    private func write(_ answer: ByteBuffer, after pause: Pause, _ context: ChannelHandlerContext) {
        isPausing = true
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause.duration)) { [weak self] in
            // Held for as long as the answer is.
            defer { withExtendedLifetime(pause) {} }
            guard let self, let context = self.context else { return }
            self.isPausing = false
            context.writeAndFlush(self.wrapOutboundOut(answer), promise: nil)
            self.resume()
        }
    }
}

extension ByteBuffer {
    /// Writes an answer as an HTTP/1.1 message (RFC 9112).
    fileprivate mutating func writeHTTP1(_ answer: Answer, requestID: String, date: String) {
        if answer.status == .ok {
            writeStaticString("HTTP/1.1 200 OK\r\n")
        } else {
            writeString("HTTP/1.1 \(answer.status.code) \(answer.status.reasonPhrase)\r\n")
        }
        if let problem = answer.problem {
            writeStaticString("Content-Type: application/problem+json\r\n")
            for field in problem.headers { writeString("\(field.name.rawName): \(field.value)\r\n") }
        } else if answer.body != nil {
            writeStaticString("Content-Type: application/json\r\n")
        }
        switch answer.caching {
        case .none: writeStaticString("Cache-Control: no-store\r\n")
        case .tagged(let tag):
            writeStaticString("ETag: ")
            writeString(tag)
            writeStaticString("\r\nCache-Control: private, max-age=")
            writeString(String(Answer.maximumAge))
            writeStaticString("\r\nVary: Authorization\r\n")
        case .shared(let tag):
            writeString("ETag: \(tag)\r\nCache-Control: public, max-age=\(Answer.sharedMaximumAge)\r\n")
        }
        if let policy = answer.standing.policy, let remaining = answer.standing.remaining {
            writeStaticString("RateLimit-Policy: ")
            writeString(policy)
            writeStaticString("\r\nRateLimit: ")
            writeString(remaining)
            writeStaticString("\r\n")
        }
        writeStaticString("X-Request-ID: ")
        writeString(requestID)
        if let body = answer.body {
            writeStaticString("\r\nContent-Length: ")
            writeString(String(body.count))
        }
        writeStaticString("\r\nDate: ")
        writeString(date)
        writeStaticString("\r\nServer: ")
        writeString(APIServer.name)
        writeStaticString("\r\n\r\n")
        if let body = answer.body { writeBytes(body) }
    }
}

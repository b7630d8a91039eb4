import NIOCore

/// Gives up answers that nobody reads: a connection, or a stream of HTTP/2, that takes nothing of an answer for a while is
/// closed, and what waited for it is let go.
///
/// A body goes on in pieces, each of which gives time for the next: who reads a long one slowly reads.
final class AnswerDeadlineHandler<Wire: HTTPWire>: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = Wire.ResponsePart
    typealias OutboundOut = Wire.ResponsePart

    private let timeout: TimeAmount
    /// How many parts are written here and not yet taken.
    private var untaken = 0
    /// When a part was taken last, or written while none waited.
    private var lastProgress = NIODeadline.now()
    /// There is at most one, however many answers there are in its time.
    private var check: Scheduled<Void>?

    private static var pieceLength: Int { 16_384 }

    /// - Parameter timeout: how long nothing may be taken.
    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Wire.piece(unwrapOutboundIn(data)) {
        // It is taken with what follows it.
        case .head: context.write(data, promise: promise)
        case .body(var rest) where rest.readableBytes > Self.pieceLength:
            while rest.readableBytes > Self.pieceLength, let piece = rest.readSlice(length: Self.pieceLength)
            {
                write(wrapOutboundOut(Wire.body(piece)), nil, context)
            }
            write(wrapOutboundOut(Wire.body(rest)), promise, context)
        case .body, .end: write(data, promise, context)
        }
    }

    private func write(_ part: NIOAny, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        let eventLoop = context.eventLoop
        let taken = promise ?? eventLoop.makePromise()
        if untaken == 0 { lastProgress = eventLoop.now }
        untaken += 1
        taken.futureResult.assumeIsolated().whenComplete { _ in
            self.untaken -= 1
            self.lastProgress = eventLoop.now
        }
        context.write(part, promise: taken)
        if check == nil { scheduleCheck(in: timeout, context) }
    }

    private func scheduleCheck(in delay: TimeAmount, _ context: ChannelHandlerContext) {
        check = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.check = nil
            guard self.untaken > 0 else { return }
            let rest = self.lastProgress + self.timeout - context.eventLoop.now
            if rest > .zero { self.scheduleCheck(in: rest, context) } else { context.close(promise: nil) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        check?.cancel()
        check = nil
    }
}

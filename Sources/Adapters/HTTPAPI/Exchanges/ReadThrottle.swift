import NIOCore

/// What was read of a connection while its client had to wait, as it came: in front of what decodes it.
///
/// Decoded it would take many times its bytes. Reads are held back as long, but the library reads all that the system has once a
/// client ends its side, and with TLS whole records.
final class ReadThrottle: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let exchanges: Exchanges<HTTP1Wire>
    private var pieces = CircularBuffer<ByteBuffer>(initialCapacity: 1)
    /// Whether the client has ended its side behind them.
    private var isEnd = false
    private var isPassingOn = false

    /// - Parameter exchanges: those that tell whether their client has to wait.
    init(of exchanges: Exchanges<HTTP1Wire>) {
        self.exchanges = exchanges
    }

    func handlerAdded(context: ChannelHandlerContext) {
        exchanges.whenResumed = { self.passOn(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { exchanges.whenResumed = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if pieces.isEmpty, !exchanges.isWaiting {
            context.fireChannelRead(data)
        } else {
            pieces.append(unwrapInboundIn(data))
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !pieces.isEmpty, let event = event as? ChannelEvent, event == .inputClosed {
            isEnd = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        pieces.removeAll()
        context.fireChannelInactive()
    }

    private func passOn(_ context: ChannelHandlerContext) {
        guard !pieces.isEmpty, !isPassingOn else { return }
        isPassingOn = true
        defer { isPassingOn = false }
        while !exchanges.isWaiting, let piece = pieces.popFirst() {
            context.fireChannelRead(wrapInboundOut(piece))
            // Sends its answers; where they are taken at once this is called again, from in there.
            context.fireChannelReadComplete()
        }
        guard pieces.isEmpty else { return }
        // However many there were.
        pieces = CircularBuffer(initialCapacity: 1)
        if isEnd {
            isEnd = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }
}

import NIOCore

/// While a client's input is delayed, keeps the arriving bytes in front of the decoder.
///
/// Decoded, these bytes would need many times their memory. Bytes arrive although reads are delayed: when a client ends its
/// side, the library reads everything that the system has, and with TLS it reads whole records.
final class ReadThrottle: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTP1Connection
    private var pieces = CircularBuffer<ByteBuffer>(initialCapacity: 1)
    /// Whether the client has ended its side after these bytes.
    private var isEnd = false
    private var isPassingOn = false

    init(of connection: HTTP1Connection) {
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) {
        connection.whenResumed = { self.passOn(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { connection.whenResumed = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if pieces.isEmpty, !connection.isHeldBack {
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
        while !connection.isHeldBack, let piece = pieces.popFirst() {
            context.fireChannelRead(wrapInboundOut(piece))
            // Sends the responses. If they leave at once, this function is called again from there.
            context.fireChannelReadComplete()
        }
        guard pieces.isEmpty else { return }
        // Frees the memory of many pieces.
        pieces = CircularBuffer(initialCapacity: 1)
        if isEnd {
            isEnd = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }
}

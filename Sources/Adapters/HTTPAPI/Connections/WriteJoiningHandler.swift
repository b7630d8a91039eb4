import NIOCore

/// Joins what is written between two flushes: the head of an answer and its body are one write, and one record of TLS.
///
/// What is larger than a piece of a body goes on by itself, so that it is seen how much of it is taken.
final class WriteJoiningHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var joined: ByteBuffer?
    private var promise: EventLoopPromise<Void>?

    private static let maximumLength = 16_384

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else {
            forward(context)
            return context.write(data, promise: promise)
        }
        if let length = joined?.readableBytes, length + bytes.readableBytes > Self.maximumLength {
            forward(context)
        }
        // Taken out, else its bytes would be copied.
        if var joined = joined.take() {
            joined.writeBuffer(&bytes)
            self.joined = joined
        } else {
            joined = bytes
        }
        if let promise {
            self.promise?.futureResult.cascade(to: promise)
            if self.promise == nil { self.promise = promise }
        }
    }

    func flush(context: ChannelHandlerContext) {
        forward(context)
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        forward(context)
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise?.fail(ChannelError.ioOnClosedChannel)
    }

    private func forward(_ context: ChannelHandlerContext) {
        guard let bytes = joined else { return }
        let promise = promise
        (joined, self.promise) = (nil, nil)
        context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    }
}

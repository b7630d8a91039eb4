import NIOCore

/// Records how a connection is closed. An embedded channel has no half-closed state.
final class CloseRecorder: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var modes: [CloseMode] = []
    var holdsWrites = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if holdsWrites { return held.append(promise) }
        context.write(data, promise: promise)
    }

    private var held: [EventLoopPromise<Void>?] = []

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        modes.append(mode)
        guard mode == .all else { return promise?.succeed() ?? () }
        for write in held { write?.fail(ChannelError.ioOnClosedChannel) }
        held = []
        context.close(mode: mode, promise: promise)
    }
}

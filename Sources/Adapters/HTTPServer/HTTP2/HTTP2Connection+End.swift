import NIOCore
import NIOHTTP2

// Ends streams, and the connection.

extension HTTP2Connection {
    func closed(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        Self.abandon(stream)
        heldBytes -= stream.heldBytes
        idleTimeout.hasRead(at: context.eventLoop.now)
        respondToWaiting(context)
        if isDraining, streams.isEmpty { end(context, lingers: true) }
    }

    /// Resets streams without progress, as long as there are streams.
    func lookLater(_ context: ChannelHandlerContext) {
        guard look == nil else { return }
        let interval = min(settings.responseTimeout, settings.idleTimeout).nanoseconds / 4
        look = context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(interval)) { [weak self] in
            guard let self, let context = self.context else { return }
            self.look = nil
            self.resetSilent(context)
        }
    }

    func resetSilent(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if let unwritableSince, now - unwritableSince >= settings.responseTimeout {
            return context.channel.cut()
        }
        for (id, stream) in streams {
            // A slow responder, or a task that reads the body slowly, is not the client's fault.
            let limit: TimeAmount? =
                if stream.isAnswered || stream.pendingPieces > 0 {
                    settings.responseTimeout
                } else if !stream.isReceived, stream.source?.isFull != true {
                    settings.idleTimeout
                } else { nil }
            if let limit, now - stream.lastProgress >= limit { write(id, .rstStream(.cancel), nil, context) }
        }
        if isUnflushed { flush(context) }
        if !streams.isEmpty || unwritableSince != nil { lookLater(context) }
    }

    /// Ends the connection after its streams. The library refuses further streams, and clients may repeat their requests on another
    /// connection (RFC 9113 §6.8, §8.7).
    func beginDrain(_ context: ChannelHandlerContext) {
        // The client may have sent further requests. It must read GOAWAY, to repeat them on another connection.
        guard !streams.isEmpty else { return end(context, lingers: true) }
        sayGoodbye(context)
    }

    /// - Parameter lingers: Whether only the output is closed at first. If the client still sends, closing both directions at once
    ///   would discard bytes that the client has not read yet.
    func end(_ context: ChannelHandlerContext, lingers: Bool = false) {
        guard !isOver else { return }
        isOver = true
        sayGoodbye(context)
        // Not at once: the library may be in the middle of writing the last frames of a response.
        context.eventLoop.assumeIsolated().execute { [weak self] in
            guard let self, let context = self.context else { return }
            self.flush(context)
            guard lingers else {
                return context.channel.cutOnceWritten(within: self.settings.responseTimeout)
            }
            context.close(mode: .output, promise: nil)
            context.eventLoop.assumeIsolated().scheduleTask(in: HTTP1Connection.discardingTime) {
                [weak self] in
                self?.context?.channel.cut()
            }
        }
    }

    func sayGoodbye(_ context: ChannelHandlerContext) {
        guard !isDraining else { return }
        isDraining = true
        write(
            .rootStream, .goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil), nil, context
        )
        flush(context)
    }
}

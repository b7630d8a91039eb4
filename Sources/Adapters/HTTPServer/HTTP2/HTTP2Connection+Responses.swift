import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

// Writes responses.

extension HTTP2Connection {
    func write(
        _ response: ServerResponse, delaying stream: Stream, _ id: HTTP2StreamID,
        _ context: ChannelHandlerContext
    ) {
        guard let delay = response.delay else { return write(response, stream, id, context) }
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay.duration)) { [weak self] in
            // The permit is held for as long as the response is.
            defer { withExtendedLifetime(delay) {} }
            guard let self, let context = self.context, let stream = self.streams[id] else { return }
            self.write(response, stream, id, context)
            self.flush(context)
        }
    }

    /// Writes a response, or the head of a streamed response.
    func write(
        _ response: ServerResponse, _ stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        if case .cut = response.body { return reset(id, .internalError, context) }
        let mayHaveBody = response.status.mayHaveBody
        let hasBody = mayHaveBody && response.body.length != 0 && stream.request.method != "HEAD"
        if hasBody, !hold(response.body, stream) { return reset(id, .enhanceYourCalm, context) }
        stream.hasBegunResponse = true
        stream.lastProgress = context.eventLoop.now
        var fields = FieldWriter(headers: HPACKHeaders())
        fields.headers?.reserveCapacity(12)
        fields.headers?.add(name: ":status", value: response.status.codeText)
        if mayHaveBody, let length = response.body.length {
            fields.headers?.add(name: "content-length", value: String(length), indexing: .nonIndexable)
        }
        response.write(to: &fields, server: settings.server)
        write(
            id, .headers(.init(headers: fields.headers ?? [:], endStream: !hasBody)),
            hasBody ? nil : leaving(stream, context), context)
        guard hasBody else { return answered(stream, id, context) }
        switch response.body {
        case .bytes(let bytes):
            write(ByteBuffer(bytes: bytes), isEnd: true, leaving(stream, context), stream, id, context)
        case .buffer(let bytes): write(bytes, isEnd: true, leaving(stream, context), stream, id, context)
        // The task writes the body.
        case .stream, .empty, .cut: return
        }
        answered(stream, id, context)
    }

    /// Counts the bytes of a complete body until its stream is closed.
    /// - Returns: False if too many bytes are pending already.
    func hold(_ body: ServerResponse.Body, _ stream: Stream) -> Bool {
        if case .stream = body { return true }
        let length = body.length ?? 0
        guard heldBytes == 0 || heldBytes + length <= Self.maximumHeldLength else { return false }
        stream.heldBytes = length
        heldBytes += length
        return true
    }

    /// Writes bytes of a body. A long body is written in pieces, so that the server notices how much of it the client reads.
    func write(
        _ bytes: ByteBuffer, isEnd: Bool, _ promise: EventLoopPromise<Void>?, _ stream: Stream,
        _ id: HTTP2StreamID, _ context: ChannelHandlerContext
    ) {
        var rest = bytes
        while rest.readableBytes > ByteBuffer.pieceLength, let piece = rest.readPiece() {
            write(
                id, .data(.init(data: .byteBuffer(piece))), progress(of: stream, nil, context), context)
        }
        let promise = promise == nil ? nil : progress(of: stream, promise, context)
        write(id, .data(.init(data: .byteBuffer(rest), endStream: isEnd)), promise, context)
    }

    func progress(
        of stream: Stream, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        let promise = promise ?? context.eventLoop.makePromise()
        let loop = context.eventLoop
        promise.futureResult.assumeIsolated().whenSuccess { stream.lastProgress = loop.now }
        return promise
    }

    /// A promise for the end of a response. Nil if the request has arrived, because the end of the response then closes the stream.
    func leaving(_ stream: Stream, _ context: ChannelHandlerContext) -> EventLoopPromise<Void>? {
        guard !stream.isReceived else { return nil }
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenSuccess { stream.hasLeft = true }
        return promise
    }

    /// The whole response is written, and leaves as the client's windows allow.
    func answered(_ stream: Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        stream.isAnswered = true
        stream.source = nil
        guard !stream.isReceived else { return }
        // The client may send the rest of the body for a short time, so that it can read the response (RFC 9113 §8.1).
        context.eventLoop.assumeIsolated().scheduleTask(in: HTTP1Connection.discardingTime) { [weak self] in
            guard let self, let context = self.context, self.streams[id] === stream else { return }
            self.reset(id, .noError, context)
        }
    }

    func write(
        _ id: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        isUnflushed = true
        context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: promise)
    }

    func flush(_ context: ChannelHandlerContext) {
        isUnflushed = false
        context.flush()
    }

    func reset(_ id: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode, _ context: ChannelHandlerContext) {
        write(id, .rstStream(code), nil, context)
        flush(context)
    }
}

extension HTTPResponse.Status {
    fileprivate var codeText: String { code == 200 ? "200" : String(code) }
}

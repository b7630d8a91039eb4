import Formats
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL

/// One connection of the simulator, which handles HTTP/2 frames directly. A stream is an entry in a dictionary, not a channel.
///
/// A request is one header block and a few kilobytes, and so is a response. A child channel would provide flow control and a
/// separate pipeline, which are not needed here and would cost more than the request.
///
/// Belongs to its channel's event loop.
final class SimulatedConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let state: SimulatorState
    private var number = 0
    private var history = RequestJudge.ConnectionHistory()
    /// Incomplete requests, and requests whose response has not been sent.
    private var arriving: [HTTP2StreamID: Arriving] = [:]
    private var answering: Set<HTTP2StreamID> = []
    private var highestStream: HTTP2StreamID = .rootStream
    private var highestHandled: HTTP2StreamID = .rootStream
    /// The last stream that is judged; nil before a GOAWAY.
    private var lastStream: HTTP2StreamID?
    /// The announced limits that the client has not acknowledged yet, after the acknowledged one.
    private var limits: [Int]
    private var isTrusted = false
    private var isClosing = false
    private var consumed = 0
    private var hasWritten = false

    private struct Arriving {
        let headers: HPACKHeaders
        var body: ByteBuffer?
        var isTooLarge = false
    }

    /// The maximum stored length of a body, which exceeds all limits of APNs.
    private static let maximumBody = 16_384
    /// The flow-control window of the client. It is refilled when half of it is used, so that the client never waits.
    private static let window = 1 << 24

    /// The maximum time of a connection after a GOAWAY.
    private static let patience = TimeAmount.seconds(60)

    init(_ state: SimulatorState) {
        self.state = state
        limits = [state.options.startsWithOneStream ? 1 : state.options.maximumStreams]
    }

    /// The settings that the server announces first.
    static func initialSettings(_ options: APNsSimulator.Options) -> HTTP2Settings {
        [
            HTTP2Setting(
                parameter: .maxConcurrentStreams,
                value: options.startsWithOneStream ? 1 : options.maximumStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
        ]
    }

    func handlerAdded(context: ChannelHandlerContext) {
        number = state.opened(context.channel)
        if context.channel.isActive { grantWindow(Self.window, context: context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        grantWindow(Self.window, context: context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.closed(context.channel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers):
            receive(headers, on: frame.streamID, context: context)
        case .data(let piece):
            receive(piece, on: frame.streamID, context: context)
        case .rstStream:
            arriving[frame.streamID] = nil
            answering.remove(frame.streamID)
        case .settings(.ack):
            if limits.count > 1 { limits.removeFirst() }
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        flush(context: context)
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case SimulatorEvent.goAway(let reason):
            goAway(reason: reason, last: highestStream, context: context)
            flush(context: context)
        case SimulatorEvent.streams(let count):
            announce(streams: count, context: context)
            flush(context: context)
        case SimulatorEvent.cut:
            cut(context: context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of a stream has already reset the stream. The client notices other errors because the connection ends. After a
        // GOAWAY, frames of refused streams still arrive, although these streams no longer exist.
        if error is NIOHTTP2Errors.StreamError || isClosing { return }
        context.close(promise: nil)
    }

    // MARK: Requests

    private func receive(
        _ headers: HTTP2Frame.FramePayload.Headers, on stream: HTTP2StreamID, context: ChannelHandlerContext
    ) {
        // Trailers are ignored.
        if arriving[stream] != nil {
            if headers.endStream { finish(stream, context: context) }
            return
        }
        highestStream = max(highestStream, stream)
        arriving[stream] = Arriving(headers: headers.headers)
        state.noteStreams(arriving.count + answering.count, allowed: limits.max() ?? 0)
        if headers.endStream { finish(stream, context: context) }
    }

    private func receive(
        _ piece: HTTP2Frame.FramePayload.Data, on stream: HTTP2StreamID, context: ChannelHandlerContext
    ) {
        guard case .byteBuffer(var bytes) = piece.data else { return }
        consumed += bytes.readableBytes
        if consumed >= Self.window / 2 {
            grantWindow(consumed, context: context)
            consumed = 0
        }
        guard var request = arriving.removeValue(forKey: stream) else { return }
        if request.isTooLarge || (request.body?.readableBytes ?? 0) + bytes.readableBytes > Self.maximumBody {
            request.isTooLarge = true
        } else if request.body == nil {
            request.body = bytes
        } else {
            request.body?.writeBuffer(&bytes)
        }
        arriving[stream] = request
        if piece.endStream {
            finish(stream, context: context)
        } else if request.isTooLarge {
            // The request is read to its end before the response.
            write(.windowUpdate(windowSizeIncrement: piece.data.readableBytes), on: stream, context: context)
        }
    }

    private func finish(_ stream: HTTP2StreamID, context: ChannelHandlerContext) {
        guard let request = arriving.removeValue(forKey: stream) else { return }
        if let lastStream, stream > lastStream {
            state.turnedAway()
            return
        }
        answering.insert(stream)
        // A body that is too large is replaced by another one that is too large.
        let body =
            request.isTooLarge
            ? [UInt8](repeating: UInt8(ascii: " "), count: Self.maximumBody)
            : request.body.map { Array($0.readableBytesView) } ?? []
        let decision = state.decide(
            headers: request.headers, body: body, connection: number, history: &history,
            // A GOAWAY excludes all streams from a number on (RFC 9113 §6.8).
            canTurnAway: stream > highestHandled)
        switch decision {
        case .response(let reply, let id, let delay):
            highestHandled = max(highestHandled, stream)
            response(reply, id: id, on: stream, of: request, after: delay, context: context)
        case .streams(let count, let reply, let id, let delay):
            highestHandled = max(highestHandled, stream)
            announce(streams: count, context: context)
            response(reply, id: id, on: stream, of: request, after: delay, context: context)
        case .never: highestHandled = max(highestHandled, stream)
        case .reset(let code):
            answering.remove(stream)
            write(.rstStream(HTTP2ErrorCode(networkCode: code)), on: stream, context: context)
        case .cut:
            cut(context: context)
        case .goAway(let reason, let reply, let id):
            guard let reply else {
                answering.remove(stream)
                goAway(reason: reason, last: highestHandled, context: context)
                return
            }
            highestHandled = max(highestHandled, stream)
            goAway(reason: reason, last: highestHandled, context: context)
            response(reply, id: id, on: stream, of: request, after: .zero, context: context)
        }
        if !isTrusted, history.team != nil {
            isTrusted = true
            if state.options.startsWithOneStream {
                announce(streams: state.options.maximumStreams, context: context)
            }
        }
    }

    // MARK: Responses

    private func response(
        _ reply: Reply, id: String, on stream: HTTP2StreamID, of request: Arriving, after delay: Duration,
        context: ChannelHandlerContext
    ) {
        guard delay > .zero else {
            return send(reply, id: id, on: stream, of: request, context: context)
        }
        let bound = NIOLoopBound((self, context, request.headers, reply), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: TimeAmount(delay)) {
            let (connection, context, headers, reply) = bound.value
            guard context.channel.isActive else { return }
            connection.send(
                reply, id: id, on: stream, of: Arriving(headers: headers), context: context)
            connection.flush(context: context)
        }
    }

    private func send(
        _ reply: Reply, id: String, on stream: HTTP2StreamID, of request: Arriving,
        context: ChannelHandlerContext
    ) {
        guard answering.remove(stream) != nil else { return }
        var headers = HPACKHeaders()
        headers.reserveCapacity(3 + reply.fields.count)
        headers.add(name: ":status", value: String(reply.status))
        let isForDevice = request.headers.first(name: ":path")?.hasPrefix("/3/") ?? false
        // Values that do not repeat are not added to HPACK's table (RFC 7541 §6.2.2).
        headers.add(
            name: isForDevice ? "apns-id" : "apns-request-id", value: id, indexing: .nonIndexable)
        for field in reply.fields {
            headers.add(name: field.name, value: field.value, indexing: .nonIndexable)
        }
        write(
            .headers(.init(headers: headers, endStream: reply.body.isEmpty)), on: stream, context: context)
        if !reply.body.isEmpty {
            write(
                .data(.init(data: .byteBuffer(ByteBuffer(bytes: reply.body)), endStream: true)), on: stream,
                context: context)
        }
    }

    private func announce(streams: Int, context: ChannelHandlerContext) {
        limits.append(streams)
        write(
            .settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: streams)])),
            on: .rootStream, context: context)
    }

    private func goAway(reason: String, last: HTTP2StreamID, context: ChannelHandlerContext) {
        let last = min(last, lastStream ?? last)
        lastStream = last
        for stream in arriving.keys where stream > last {
            arriving[stream] = nil
            state.turnedAway()
        }
        // The client closes after its responses. If the server closed, TCP could discard responses in transit.
        if !isClosing {
            isClosing = true
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: Self.patience) {
                let (connection, context) = bound.value
                if context.channel.isActive { connection.cut(context: context) }
            }
        }
        let debug = JSONValue.object(["reason": .string(reason)]).serialized()
        write(
            .goAway(lastStreamID: last, errorCode: .noError, opaqueData: ByteBuffer(bytes: debug)),
            on: .rootStream, context: context)
    }

    private func grantWindow(_ bytes: Int, context: ChannelHandlerContext) {
        write(.windowUpdate(windowSizeIncrement: bytes), on: .rootStream, context: context)
    }

    private func write(
        _ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID, context: ChannelHandlerContext
    ) {
        hasWritten = true
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    private func flush(context: ChannelHandlerContext) {
        guard hasWritten else { return }
        hasWritten = false
        context.flush()
    }

    /// Closes the connection below TLS, which would send close_notify.
    private func cut(context: ChannelHandlerContext) {
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (tls ?? context).close(promise: nil)
    }
}

/// Actions on all connections, which the owner of a simulator triggers.
enum SimulatorEvent: Sendable {
    case goAway(reason: String)
    case streams(Int)
    case cut
}

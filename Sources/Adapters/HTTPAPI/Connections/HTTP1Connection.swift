import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// The library's connection of HTTP/1.1, whose requests we answer.
struct HTTP1Connection: ServerChildChannel {
    let library: HTTP1Channel
    let responder: APIResponder
    let timeouts: ConnectionTimeouts

    init(
        _ responder: APIResponder, _ timeouts: ConnectionTimeouts,
        _ router: @escaping HTTPChannelHandler.Responder
    ) {
        // The library sees nothing of what is answered before it, so that who is idle is seen there.
        var configuration = HTTP1Channel.Configuration(idleTimeout: nil)
        configuration.httpDecoder = Self.headerLimits
        library = HTTP1Channel(responder: router, configuration: configuration)
        self.responder = responder
        self.timeouts = timeouts
    }

    /// The largest header: of one field, of all together, and how many fields.
    static let headerLimits = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100)

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        library.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            // Answers are written by `HTTP1ResponseWriter`, all of them.
            pipeline.removeHandler(encoder, promise: nil)
            let handler = HTTP1ExchangeHandler(
                responder, responseTimeout: timeouts.response, idleTimeout: timeouts.idle,
                idleTimeoutNow: timeouts.idleNow)
            try pipeline.addHandler(handler, position: .after(decoder))
            try pipeline.addHandler(ReadThrottle(of: handler.exchanges), position: .before(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await library.handle(value: value, logger: logger)
    }
}

/// How long a connection, or the one at its other end, may do nothing.
struct ConnectionTimeouts {
    let idle: TimeAmount
    /// The same at the moment: shorter when many connections are open.
    let idleNow: @Sendable () -> TimeAmount
    /// While TLS is agreed on.
    let handshake: TimeAmount
    /// While an answer waits to be read.
    let response: TimeAmount
}

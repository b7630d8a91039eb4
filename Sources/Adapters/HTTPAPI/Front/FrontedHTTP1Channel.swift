import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The library's HTTP/1.1 connection with a ``FrontHandler`` before it.
struct FrontedHTTP1Channel: ServerChildChannel {
    let library: HTTP1Channel
    let front: FrontHandler.Factory
    let idleTimeout: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        library.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let handler = try FrontHandler(front, exchanges: pipeline.handler(type: ExchangeHandler.self))
            // The library sees nothing of what is answered here, so that who is idle is decided here.
            try pipeline.addHandlers(
                [IdleStateHandler(allTimeout: idleTimeout), handler], position: .first)
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await library.handle(value: value, logger: logger)
    }
}

extension HTTPServerBuilder {
    static func frontedHTTP1(
        _ front: FrontHandler.Factory, _ configuration: HTTP1Channel.Configuration, idleTimeout: TimeAmount,
        _ connections: OpenConnections
    ) -> HTTPServerBuilder {
        var configuration = configuration
        configuration.idleTimeout = nil
        return .init { [configuration] responder in
            KnownChannel(
                library: FrontedHTTP1Channel(
                    library: HTTP1Channel(responder: responder, configuration: configuration), front: front,
                    idleTimeout: idleTimeout), connections: connections)
        }
    }
}

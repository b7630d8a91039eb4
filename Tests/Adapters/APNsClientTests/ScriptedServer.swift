import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

@testable import APNsSimulator

/// A server with scripted responses to frames, valid or not.
struct ScriptedServer: Sendable {
    /// A step of the script.
    enum Step {
        case write(HTTP2Frame.FramePayload, HTTP2StreamID)
        case cut
        /// The server stops reading from the connection.
        case stopReading
        case startReading
    }

    /// Returns the steps for a frame on a connection. Connections are numbered from 1.
    typealias Script = @Sendable (HTTP2Frame, _ connection: Int) -> [Step]

    let port: Int
    let authority: String
    private let channels: Channels

    private final class Channels: Sendable {
        let all = Mutex([any Channel]())
    }

    /// Performs steps on a connection, without a frame.
    func act(_ steps: [Step], on connection: Int) {
        let channel = channels.all.withLock { $0[connection - 1] }
        channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(Wish(steps: steps)) }
    }

    private struct Wish {
        let steps: [Step]
    }

    static func lend(
        settings: HTTP2Settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 10_000)],
        script: @escaping Script, _ body: (ScriptedServer) async throws -> Void
    ) async throws {
        let certificate = try ServerCertificate(now: Date())
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificate.chain, privateKey: certificate.key)
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channels = Channels()
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                let number = channels.all.withLock {
                    $0.append(channel)
                    return $0.count
                }
                return channel.eventLoop.makeCompletedFuture {
                    var connection = NIOHTTP2Handler.ConnectionConfiguration()
                    connection.initialSettings = settings
                    connection.headerBlockValidation = .disabled
                    connection.maximumRecentlyResetStreams = 100_000
                    connection.maximumConnectionGlitches = 100_000
                    var stream = NIOHTTP2Handler.StreamConfiguration()
                    stream.streamResetFrameRateLimit.maximumCount = 100_000
                    stream.streamErrorRateLimit.maximumCount = 100_000
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.addHandler(
                        NIOHTTP2Handler(
                            mode: .server, connectionConfiguration: connection, streamConfiguration: stream))
                    try pipeline.addHandler(Handler(script: script, connection: number))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(
                    ScriptedServer(
                        port: server.localAddress?.port ?? 0, authority: certificate.authority ?? "",
                        channels: channels)))
        } catch { result = .failure(error) }
        try? await server.close()
        for channel in channels.all.withLock({ $0 }) { channel.close(promise: nil) }
        try await group.shutdownGracefully()
        try result.get()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        typealias OutboundOut = HTTP2Frame

        private let script: Script
        private let connection: Int

        init(script: @escaping Script, connection: Int) {
            self.script = script
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            run(script(unwrapInboundIn(data), connection), context: context)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if let wish = event as? Wish { run(wish.steps, context: context) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {}

        private func run(_ steps: [Step], context: ChannelHandlerContext) {
            for step in steps {
                switch step {
                case .write(let payload, let stream):
                    context.writeAndFlush(
                        wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
                case .cut:
                    let tls = try? context.pipeline.syncOperations.context(
                        handlerType: NIOSSLServerHandler.self)
                    (tls ?? context).close(promise: nil)
                case .stopReading:
                    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
                case .startReading:
                    try? context.channel.syncOptions?.setOption(.autoRead, value: true)
                }
            }
        }
    }
}

extension ScriptedServer.Step {
    /// The head of a response. It ends the stream unless `goesOn` is true.
    static func head(_ status: String, on stream: HTTP2StreamID, goesOn: Bool = false) -> Self {
        .write(.headers(.init(headers: [":status": status], endStream: !goesOn)), stream)
    }

    static func data(_ count: Int, on stream: HTTP2StreamID) -> Self {
        .write(
            .data(.init(data: .byteBuffer(ByteBuffer(repeating: 0, count: count)), endStream: true)), stream)
    }
}

extension HTTP2Frame {
    /// Whether the frame ends a request.
    var endsRequest: Bool {
        switch payload {
        case .headers(let headers): headers.endStream
        case .data(let piece): piece.endStream
        default: false
        }
    }

    /// Whether the frame begins a request.
    var beginsRequest: Bool {
        if case .headers = payload { true } else { false }
    }
}

import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import HTTPServer

/// A connection of HTTP/1.1. The test decides when its tasks respond.
final class EmbeddedHTTP1 {
    let channel = EmbeddedChannel()
    let connection: HTTP1Connection
    let responder = ScriptedResponder()
    let reads = ReadCounter()
    let decoded = PartCounter()
    private var waiting: [(request: ServerRequest, number: Int)] = []
    private var started: [String] = []
    /// Whether tasks respond at once.
    var respondsAtOnce = false

    init(idleTimeoutNow: (@Sendable () -> TimeAmount)? = nil) throws {
        var settings = ConnectionSettings()
        settings.headTimeout = .seconds(5)
        settings.idleTimeoutNow = idleTimeoutNow
        settings.server = "Test"
        connection = HTTP1Connection(responder, settings)
        channel.remoteAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        try channel.pipeline.syncOperations.addHandlers([
            reads, ReadThrottle(of: connection), ByteToMessageHandler(HTTPRequestDecoder()), decoded,
            connection,
        ])
        connection.start = { [unowned self] request, _, number in
            started.append(request.target)
            waiting.append((request, number))
            if respondsAtOnce { taskResponds() }
        }
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    /// - Returns: The statuses of the responses.
    func send(_ text: String) throws -> [String] {
        try channel.writeInbound(ByteBuffer(string: text))
        return try statuses()
    }

    func statuses() throws -> [String] { try responses().map { String($0.prefix(3)) } }

    func responses() throws -> [String] {
        var text = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
        return Array(text.components(separatedBy: "HTTP/1.1 ").dropFirst())
    }

    /// The targets of requests whose tasks have begun.
    func tasks() -> [String] {
        defer { started = [] }
        return started
    }

    /// Responds to the request that has waited longest.
    func taskResponds() {
        guard !waiting.isEmpty else { return }
        let (request, number) = waiting.removeFirst()
        let id = request.fields[ScriptedResponder.requestID]
        connection.respond(
            with: ServerResponse(.ok, id.map { [ScriptedResponder.requestID: $0] } ?? [:]), number)
    }

    func fire(_ event: any Sendable) { channel.pipeline.fireUserInboundEventTriggered(event) }

    func set(isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    func advance(by time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

    final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var count = 0
        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    final class PartCounter: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        var count = 0
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            count += 1
            context.fireChannelRead(data)
        }
    }
}

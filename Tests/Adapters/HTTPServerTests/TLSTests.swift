import Crypto
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import SwiftASN1
import Synchronization
import Testing
import X509

@testable import HTTPServer

/// The server over TLS, with a client that agrees on HTTP/2.
@Suite(.timeLimit(.minutes(10))) struct TLSTests {
    private struct Response {
        var status: String?
        var body = ByteBuffer()
    }

    /// Sends one request by a connection of its own.
    private func send(_ path: String, body: ByteBuffer?, to server: RunningServer) async throws -> Response {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: configuration)
        let group = MultiThreadedEventLoopGroup.singleton
        let promise = group.any().makePromise(of: Response.self)
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        try NIOSSLClientHandler(context: context, serverHostname: nil),
                        NIOHTTP2Handler(
                            mode: .client,
                            initialSettings: [HTTP2Setting(parameter: .initialWindowSize, value: 1 << 24)]),
                        Client(path, body, promise))
                }
            }
            .connect(host: "127.0.0.1", port: server.port).get()
        let response = try await promise.futureResult.get()
        try? await channel.close()
        return response
    }

    private final class Client: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        typealias OutboundOut = HTTP2Frame
        private let path: String
        private let body: ByteBuffer?
        private var response = Response()
        private var promise: EventLoopPromise<Response>?

        init(_ path: String, _ body: ByteBuffer?, _ promise: EventLoopPromise<Response>) {
            (self.path, self.body, self.promise) = (path, body, promise)
        }

        func channelActive(context: ChannelHandlerContext) {
            let headers = HPACKHeaders([
                (":method", body == nil ? "GET" : "POST"), (":scheme", "https"), (":authority", "a"),
                (":path", path),
            ])
            write(.headers(.init(headers: headers, endStream: body == nil)), 1, context)
            write(.windowUpdate(windowSizeIncrement: 1 << 24), .rootStream, context)
            if let body { write(.data(.init(data: .byteBuffer(body), endStream: true)), 1, context) }
            context.flush()
        }

        private func write(
            _ payload: HTTP2Frame.FramePayload, _ id: HTTP2StreamID, _ context: ChannelHandlerContext
        ) {
            context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data).payload {
            case .headers(let headers):
                response.status = headers.headers.first(name: ":status")
                if headers.endStream { finish() }
            case .data(let data):
                guard case .byteBuffer(let bytes) = data.data else { return }
                response.body.writeImmutableBuffer(bytes)
                if data.endStream { finish() }
            case .rstStream: finish()
            default: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) { finish() }

        private func finish() {
            promise?.succeed(response)
            promise = nil
        }
    }

    private func withServer(_ body: (RunningServer, ScriptedResponder) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3_600),
            notValidAfter: Date(timeIntervalSinceNow: 3_600),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256, extensions: .init(),
            issuerPrivateKey: .init(key))
        let files = (folder.appendingPathComponent("chain.pem"), folder.appendingPathComponent("key.pem"))
        try Data(certificate.serializeAsPEM().pemString.utf8).write(to: files.0)
        try Data(key.pemRepresentation.utf8).write(to: files.1)
        var settings = ServerSettings()
        settings.tls = (files.0.path, files.1.path)
        let responder = ScriptedResponder()
        let server = try await RunningServer.start(settings, responder)
        do {
            try await body(server, responder)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test func longBodiesPassInBothDirections() async throws {
        try await withServer { server, responder in
            let body = ByteBuffer(bytes: (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
            let response = try await send("/echo", body: body, to: server)
            #expect(response.status == "200" && response.body == body)
            #expect(responder.tasks.load(ordering: .relaxed) == 1)
        }
    }

    @Test func readerThatWaitsGetsTheWholeBody() async throws {
        try await withServer { server, responder in
            let body = ByteBuffer(repeating: 7, count: 500_000)
            async let response = send("/slow", body: body, to: server)
            while responder.tasks.load(ordering: .relaxed) == 0 { await Task.yield() }
            #expect(responder.read.load(ordering: .relaxed) == 0)
            responder.openGate()
            let received = try await response
            #expect(received.body == body)
        }
    }

    @Test func longAndStreamedResponsesArrive() async throws {
        try await withServer { server, _ in
            let long = try await send("/large", body: nil, to: server)
            #expect(long.status == "200" && long.body.readableBytes == 1 << 20)
            let streamed = try await send("/stream", body: nil, to: server)
            #expect(streamed.status == "200" && streamed.body.readableBytes == 8_000)
            let cut = try await send("/cut", body: nil, to: server)
            #expect(cut.status == "200" && cut.body.readableBytes == 8_000)
        }
    }

    @Test func responseAtOnceAndRefusedBodyArrive() async throws {
        try await withServer { server, responder in
            #expect(try await send("/now", body: nil, to: server).status == "200")
            let refused = try await send(
                "/unread", body: ByteBuffer(repeating: 1, count: 200_000), to: server)
            #expect(refused.status == "403" && String(buffer: refused.body) == "no")
            #expect(try await send("/nothing", body: nil, to: server).status == nil)
        }
    }
}

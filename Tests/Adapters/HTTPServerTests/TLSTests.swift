import Crypto
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import SwiftASN1
import Synchronization
import Testing
import X509

@testable import HTTPServer

/// The server with TLS, and a client that negotiates HTTP/2.
@Suite(.timeLimit(.minutes(10))) struct TLSTests {
    private struct Response {
        var status: String?
        var body = ByteBuffer()
        var isComplete = false
    }

    /// Sends one request on a new connection.
    /// - Parameter onGoAway: Called when the server announces the end of the connection.
    private func send(
        _ path: String, body: ByteBuffer?, to server: RunningServer,
        onGoAway: @escaping @Sendable () -> Void = {}
    ) async throws -> Response {
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
                        Client(path, body, promise, onGoAway))
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

        private let onGoAway: @Sendable () -> Void

        init(
            _ path: String, _ body: ByteBuffer?, _ promise: EventLoopPromise<Response>,
            _ onGoAway: @escaping @Sendable () -> Void
        ) {
            (self.path, self.body, self.promise, self.onGoAway) = (path, body, promise, onGoAway)
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
                response.isComplete = headers.endStream
                if headers.endStream { finish() }
            case .data(let data):
                guard case .byteBuffer(let bytes) = data.data else { return }
                response.body.writeImmutableBuffer(bytes)
                response.isComplete = data.endStream
                if data.endStream { finish() }
            case .rstStream: finish()
            case .goAway: onGoAway()
            default: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) { finish() }

        private func finish() {
            promise?.succeed(response)
            promise = nil
        }
    }

    /// Runs the closure with the files of a certificate and its key.
    private func withCertificate(
        _ body: (_ certificate: String, _ key: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = (folder.appendingPathComponent("chain.pem"), folder.appendingPathComponent("key.pem"))
        try Self.writePair(files.0.path, files.1.path)
        try await body(files.0.path, files.1.path)
    }

    /// Writes a new key and its certificate.
    private static func writePair(
        _ certificatePath: String, _ keyPath: String, lasting length: TimeInterval = 3_600
    ) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3_600),
            notValidAfter: Date(timeIntervalSinceNow: length),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256, extensions: .init(),
            issuerPrivateKey: .init(key))
        try certificate.serializeAsPEM().pemString.write(
            toFile: certificatePath, atomically: true, encoding: .utf8)
        try write(key.pemRepresentation, toKey: keyPath)
    }

    private static func write(_ text: String, toKey path: String, mode: Int = 0o640) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func withServer(_ body: (RunningServer, ScriptedResponder) async throws -> Void) async throws {
        try await withCertificate { certificate, key in
            try await withServer(certificate, key, body)
        }
    }

    private func withServer(
        _ certificate: String, _ key: String, _ body: (RunningServer, ScriptedResponder) async throws -> Void
    ) async throws {
        var settings = ServerSettings()
        settings.tls = try TLSIdentity(certificate: certificate, key: key)
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

    @Test func lastResponseOfADrainIsWhole() async throws {
        try await withServer { server, responder in
            async let response = send(
                "/wait-long", body: nil, to: server, onGoAway: { responder.openGate() })
            while responder.tasks.load(ordering: .relaxed) == 0 { await Task.yield() }
            let cut = await server.drain(within: .seconds(600))
            let received = try await response
            #expect(received.status == "200" && received.body.readableBytes == 1 << 20 && cut == 0)
        }
    }

    @Test func bodyOfAnotherLengthThanAnnouncedIsReset() async throws {
        try await withServer { server, _ in
            for path in ["/short", "/long"] {
                let response = try await send(path, body: nil, to: server)
                #expect(response.body.readableBytes == 1_000 && !response.isComplete)
            }
        }
    }

    @Test func taskOfLostStreamRunsToItsEndBeforeTheDrainIsOver() async throws {
        try await withServer { server, responder in
            async let response = send("/work", body: nil, to: server)
            while responder.tasks.load(ordering: .relaxed) == 0 { await Task.yield() }
            async let cut = server.drain(within: .zero)
            _ = try await response
            responder.openGate()
            #expect(await cut == 1)
            #expect(responder.worked.load(ordering: .relaxed) == 1)
        }
    }

    // MARK: Certificates

    @Test func changedPairIsUsedByNewConnections() async throws {
        try await withCertificate { certificate, key in
            let identity = try TLSIdentity(certificate: certificate, key: key)
            let before = identity.expiresAt
            var settings = ServerSettings()
            settings.tls = identity
            let server = try await RunningServer.start(settings, ScriptedResponder())
            #expect(try await send("/now", body: nil, to: server).status == "200")
            #expect(try !identity.reread())
            try Self.writePair(certificate, key, lasting: 7_200)
            #expect(try identity.reread())
            #expect(identity.expiresAt > before)
            #expect(try await send("/now", body: nil, to: server).status == "200")
            await server.stop()
        }
    }

    /// The error names the path of the file. The previous pair stays in use.
    @Test func invalidPairIsRefusedByPath() async throws {
        try await withCertificate { certificate, key in
            let identity = try TLSIdentity(certificate: certificate, key: key)
            let before = identity.expiresAt
            let other = key + ".other"
            try Self.writePair(certificate + ".other", other, lasting: 7_200)
            let good = try String(contentsOfFile: key, encoding: .utf8)
            for (text, message) in [
                (
                    try String(contentsOfFile: other, encoding: .utf8),
                    "the key in \(key) does not belong to the certificate in \(certificate)"
                ),
                ("x", "\(key) is not an unencrypted private key in PEM format"),
            ] {
                try Self.write(text, toKey: key)
                #expect(throws: TLSIdentity.Failure(message)) { try identity.reread() }
                #expect(throws: TLSIdentity.Failure(message)) {
                    try TLSIdentity(certificate: certificate, key: key)
                }
            }
            try Self.write(good, toKey: key)
            try "x".write(toFile: certificate, atomically: true, encoding: .utf8)
            #expect(
                throws: TLSIdentity.Failure("\(certificate) is not a certificate chain in PEM format")
            ) { try identity.reread() }
            try FileManager.default.removeItem(atPath: certificate)
            #expect(throws: TLSIdentity.Failure("cannot read \(certificate)")) { try identity.reread() }
            #expect(identity.expiresAt == before)
        }
    }

    /// A start with such a key file is refused, so a reload is too.
    @Test(arguments: [0o644, 0o604, 0o660, 0o602]) func keyThatOthersCanAccessIsRefused(
        mode: Int
    ) async throws {
        try await withCertificate { certificate, key in
            let identity = try TLSIdentity(certificate: certificate, key: key)
            let before = identity.expiresAt
            try Self.writePair(certificate, key, lasting: 7_200)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
            let failure = TLSIdentity.Failure(
                "\(key) contains secrets, but other users can read or change it: run 'chmod 600' on it")
            #expect(throws: failure) { try identity.reread() }
            #expect(throws: failure) { try TLSIdentity(certificate: certificate, key: key) }
            #expect(identity.expiresAt == before)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
            #expect(try identity.reread() && identity.expiresAt > before)
        }
    }

    @Test func followerLogsEachEventOnce() async throws {
        try await withCertificate { certificate, key in
            try Self.writePair(certificate, key, lasting: 20 * 86_400)
            let log = LogLines()
            let identity = try TLSIdentity(certificate: certificate, key: key)
            var follower = CertificateFollower(identity, logger: Logger(label: "test") { _ in log })
            let now = Date()
            follower.look(at: now)
            #expect(log.take() == [])
            // 13 days before the expiry, and once a day.
            for hours in [0, 23, 24] { follower.look(at: now + 7 * 86_400 + Double(hours * 3_600)) }
            #expect(log.take() == Array(repeating: "warning: the certificate expires soon", count: 2))
            let good = try String(contentsOfFile: key, encoding: .utf8)
            try Self.write("x", toKey: key)
            for _ in 0..<2 { follower.look(at: now) }
            #expect(
                log.take() == [
                    "error: the changed certificate or key cannot be used: the previous pair stays in use"
                ])
            try Self.write(good, toKey: key)
            for _ in 0..<2 { follower.look(at: now) }
            #expect(log.take() == ["notice: the certificate and its key can be used again"])
            try Self.writePair(certificate, key, lasting: -60)
            for _ in 0..<2 { follower.look(at: now) }
            #expect(
                log.take() == [
                    "notice: new connections use the changed certificate",
                    "warning: the certificate has expired",
                ])
        }
    }

    private final class LogLines: LogHandler {
        private let lines = Mutex<[String]>([])
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level): \(event.message)") }
        }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    /// A connection whose bytes the test moves.
    private func embedded(
        _ certificate: String, _ key: String, speaking protocol: String = "http/1.1"
    ) throws -> (EmbeddedChannel, EmbeddedChannel) {
        let (server, client) = (EmbeddedChannel(), EmbeddedChannel())
        try RunningServer.configure(
            tls: try TLSIdentity(certificate: certificate, key: key).context, server, ScriptedResponder(),
            ConnectionSettings())
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.applicationProtocols = [`protocol`]
        try client.pipeline.syncOperations.addHandler(
            try NIOSSLClientHandler(
                context: NIOSSLContext(configuration: configuration), serverHostname: nil))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        try server.connect(to: address).wait()
        try client.connect(to: address).wait()
        try Self.pump(server, client)
        return (server, client)
    }

    private static func pump(_ server: EmbeddedChannel, _ client: EmbeddedChannel) throws {
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            for (from, to) in [(client, server), (server, client)] {
                from.embeddedEventLoop.run()
                while let bytes = try? from.readOutbound(as: ByteBuffer.self), to.isActive {
                    hasMoved = hasMoved || bytes.readableBytes > 0
                    _ = try? to.writeInbound(bytes)
                }
            }
        }
    }

    @Test func requestUnderWayIsNotIdle() async throws {
        try await withCertificate { certificate, key in
            let (server, client) = try embedded(certificate, key)
            let connection = try server.pipeline.syncOperations.handler(type: HTTP1Connection.self)
            var numbers: [Int] = []
            connection.start = { _, _, number in numbers.append(number) }
            try client.writeOutbound(ByteBuffer(string: "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"))
            try Self.pump(server, client)
            server.embeddedEventLoop.advanceTime(by: .minutes(5))
            #expect(server.isActive)
            connection.respond(with: ServerResponse(.ok), try #require(numbers.first))
            try Self.pump(server, client)
            let response = try #require(try client.readInbound(as: ByteBuffer.self))
            #expect(String(buffer: response).hasPrefix("HTTP/1.1 200 OK\r\n"))
            // The server sends close_notify, and waits only briefly for the response.
            server.embeddedEventLoop.advanceTime(by: .seconds(70))
            #expect(!server.isActive)
        }
    }

    @Test func connectionWhoseClientReadsNothingIsCut() async throws {
        try await withCertificate { certificate, key in
            let (server, _) = try embedded(certificate, key, speaking: "h2")
            let recorder = CloseRecorder()
            recorder.holdsWrites = true
            try server.pipeline.syncOperations.addHandler(recorder, position: .first)
            server.pipeline.fireUserInboundEventTriggered(RoomIsWanted())
            server.embeddedEventLoop.run()
            #expect(server.isActive)
            server.embeddedEventLoop.advanceTime(by: .seconds(30))
            #expect(!server.isActive)
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

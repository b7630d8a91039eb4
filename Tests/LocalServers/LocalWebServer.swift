import Foundation
public import NIOCore
import NIOHTTP1
import NIOPosix
public import NIOSSL
import ProcessSupport

/// A web server on 127.0.0.1, over HTTP or HTTPS.
public struct LocalWebServer: Sendable {
    public struct Request: Sendable {
        public let host: String
        public let path: String
        public let method: String
        public let headers: [(name: String, value: String)]
        public let body: [UInt8]
    }

    public struct Page: Sendable {
        public var status: Int
        public var headers: [(String, String)]
        public var body: [UInt8]
        /// Whether the connection stays open after the body, as if more bytes followed.
        public var isUnended: Bool
        /// Whether the end of the connection ends the body, as in HTTP/1.0. Over TLS it then ends without close_notify.
        public var isCutOff = false

        public init(
            _ body: String, status: Int = 200,
            headers: [(String, String)] = [("Content-Type", "application/json")],
            isUnended: Bool = false
        ) {
            self.status = status
            self.headers = headers
            self.body = Array(body.utf8)
            self.isUnended = isUnended
        }
    }

    public let port: Int

    /// Addresses of this machine, of its network, and other spellings of them that a tenant could write.
    public static let hostsThatAreNotPublic = [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "localhost", "10.0.0.1",
        "169.254.169.254", "172.16.0.1", "192.168.1.1", "100.64.0.1", "[::1]", "[::]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "[fd00::1]",
        "127.0.0.1.", "LOCALHOST", "%6c%6f%63%61%6c%68%6f%73%74", "user@127.0.0.1", "example.com@127.0.0.1",
    ]

    /// Runs the closure with a server.
    /// - Parameters:
    ///   - speaksOldTLSOnly: Whether the server supports no TLS version later than 1.1.
    ///   - signal: The server sends no response before this future is complete; nil to respond at once.
    ///   - pages: Nil for no response at all.
    public static func lend<Result: Sendable>(
        over certificate: TestCertificate? = nil, speaksOldTLSOnly: Bool = false,
        respondingAfter signal: EventLoopFuture<Void>? = nil,
        _ pages: @escaping @Sendable (Request) -> Page?,
        _ body: (LocalWebServer) async throws -> Result
    ) async throws -> Result {
        let tls = try certificate.map { try $0.serverContext(speaksOldTLSOnly: speaksOldTLSOnly) }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(PageHandler(pages: pages, signal: signal))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(LocalWebServer(port: listener.localAddress?.port ?? 0)))
        } catch {
            result = .failure(error)
        }
        try await listener.close()
        return try result.get()
    }
}

private final class PageHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let pages: @Sendable (LocalWebServer.Request) -> LocalWebServer.Page?
    private let signal: EventLoopFuture<Void>?

    init(
        pages: @escaping @Sendable (LocalWebServer.Request) -> LocalWebServer.Page?,
        signal: EventLoopFuture<Void>?
    ) {
        self.pages = pages
        self.signal = signal
    }

    private var head: HTTPRequestHead?
    private var requestBody = ByteBuffer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            requestBody.clear()
        case .body(let part):
            requestBody.writeImmutableBuffer(part)
        case .end:
            response(context)
        }
    }

    private func response(_ context: ChannelHandlerContext) {
        guard let head,
            let page = pages(
                .init(
                    host: head.headers.first(name: "Host") ?? "", path: head.uri,
                    method: head.method.rawValue,
                    headers: head.headers.map { (name: $0.name, value: $0.value) },
                    body: Array(requestBody.readableBytesView)))
        else { return }
        guard let signal else { return write(page, context) }
        signal.hop(to: context.eventLoop).assumeIsolated().whenComplete { _ in self.write(page, context) }
    }

    private func write(_ page: LocalWebServer.Page, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders(page.headers)
        if page.isCutOff {
            headers.add(name: "Connection", value: "close")
        } else if page.isUnended {
            headers.add(name: "Transfer-Encoding", value: "chunked")
        } else {
            headers.add(name: "Content-Length", value: "\(page.body.count)")
        }
        let response = HTTPResponseHead(
            version: page.isCutOff ? .http1_0 : .http1_1, status: .init(statusCode: page.status),
            headers: headers)
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: page.body)))), promise: nil)
        if page.isCutOff {
            let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
            let lowest = NIOLoopBound(tls ?? context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
                // Closes below TLS, which would send close_notify.
                lowest.value.close(promise: nil)
            }
            return
        }
        if !page.isUnended { context.write(wrapOutboundOut(.end(nil)), promise: nil) }
        context.flush()
    }
}

/// A self-signed certificate in separate files.
public struct TestCertificate: Sendable {
    let directory: URL
    public var path: String { directory.appendingPathComponent("certificate.pem").path }
    var keyPath: String { directory.appendingPathComponent("key.pem").path }

    /// - Parameter speaksOldTLSOnly: Whether the server supports no TLS version later than 1.1.
    public func serverContext(speaksOldTLSOnly: Bool = false) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: keyPath, format: .pem)))
        if speaksOldTLSOnly {
            configuration.minimumTLSVersion = .tlsv1
            configuration.maximumTLSVersion = .tlsv11
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Runs the closure with a certificate for names.
    public static func lend<Result>(
        for names: [String], _ body: (TestCertificate) async throws -> Result
    ) async throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let certificate = TestCertificate(directory: directory)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=\(names[0])", "-addext",
            "subjectAltName=" + names.map { "DNS:\($0)" }.joined(separator: ","), "-keyout",
            certificate.keyPath, "-out", certificate.path,
        ]
        process.standardError = FileHandle.nullDevice
        let status = try await process.runToEnd()
        guard status == 0 else { throw CocoaError(.fileWriteUnknown) }
        return try await body(certificate)
    }
}

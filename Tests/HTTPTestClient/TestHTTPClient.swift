import AsyncHTTPClient
package import HTTPServer
package import HTTPTypes
package import IPAddresses
package import NIOCore
import NIOHTTP1

/// Sends requests to a responder.
package struct TestHTTPClient: Sendable {
    private let send: @Sendable (TestRequest) async throws -> TestResponse

    /// Calls the responder's task in this process.
    package init(_ responder: any ServerResponder, peer: IPAddress? = nil) {
        send = { try await $0.response(of: responder, to: peer) }
    }

    /// Sends requests over connections to a server on this machine.
    package init(port: Int) {
        send = { try await $0.response(ofServerAt: port) }
    }

    /// - Parameters:
    ///   - uri: The path and query.
    ///   - authority: The field `Host`.
    package func execute(
        uri: String, method: HTTPRequest.Method, headers: HTTPFields = [:], body: ByteBuffer? = nil,
        authority: String = "localhost"
    ) async throws -> TestResponse {
        try await send(
            TestRequest(method: method, target: uri, authority: authority, headers: headers, body: body))
    }
}

package struct TestResponse: Sendable {
    package let status: HTTPResponse.Status
    package let headers: HTTPFields
    package let body: ByteBuffer
}

private struct TestRequest: Sendable {
    let method: HTTPRequest.Method
    let target: String
    let authority: String
    let headers: HTTPFields
    let body: ByteBuffer?

    /// Not shut down: it lives as long as the tests.
    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))

    func response(of responder: any ServerResponder, to peer: IPAddress?) async throws -> TestResponse {
        let request = ServerRequest(method, target, authority: authority, peer: peer, fields: headers)
        let response = await responder.respond(to: request, body: ServerRequestBody(body ?? ByteBuffer()))
        return TestResponse(
            status: response.status, headers: response.allFields,
            body: method == .head ? ByteBuffer() : try await Self.collect(response.body))
    }

    private static func collect(_ body: ServerResponse.Body) async throws -> ByteBuffer {
        switch body {
        case .empty: return ByteBuffer()
        case .bytes(let bytes): return ByteBuffer(bytes: bytes)
        case .buffer(let bytes): return bytes
        case .stream(_, let write):
            let collected = Collected()
            try await write(BodyWriter { await collected.add($0) })
            return await collected.bytes
        case .cut: throw ChannelError.eof
        }
    }

    private actor Collected {
        private(set) var bytes = ByteBuffer()
        func add(_ piece: ByteBuffer) { bytes.writeImmutableBuffer(piece) }
    }

    func response(ofServerAt port: Int) async throws -> TestResponse {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(target)")
        request.method = HTTPMethod(rawValue: method.rawValue)
        request.headers.add(name: "Host", value: authority)
        for field in headers { request.headers.add(name: field.name.rawName, value: field.value) }
        if let body { request.body = .bytes(body) }
        // As long as a busy machine may need.
        let response = try await Self.client.execute(request, timeout: .minutes(10))
        var fields = HTTPFields()
        for (name, value) in response.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return TestResponse(
            status: HTTPResponse.Status(code: Int(response.status.code)), headers: fields,
            body: try await response.body.collect(upTo: 1 << 30))
    }
}

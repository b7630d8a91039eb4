import Formats
import Foundation
import HTTPTestClient
import HTTPTypes
import Logging
import Lookups
import NIOCore
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI
@testable import HTTPServer

/// Requests to which the event loop responds, and data that the responder keeps for each connection.
@Suite struct APIResponderTests {
    /// A connection from 127.0.0.1.
    private struct Connection {
        let api: TestAPI
        let responder: APIResponder
        let memory = ConnectionMemory(peer: IPAddress("127.0.0.1"))

        static let found = "/v1/lookup?url=https://example.com/restaurants/restaurant_a"

        init(limits: RequestLimits = RequestLimits(), trusting proxies: [AddressRange] = []) {
            api = TestAPI(limits: limits)
            let start = ContinuousClock.now
            var settings = api.settings
            settings.trustedProxies = proxies
            responder = APIResponder(
                settings, api.dependencies, RequestObserver(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { start })
        }

        /// - Returns: Nil if the request is left to a task.
        func response(
            _ method: HTTPRequest.Method = .get, _ target: String = found, key: String?,
            fields: HTTPFields = [:], body: String = ""
        ) -> ServerResponse? {
            var fields = fields
            if let key { fields[.authorization] = "Bearer \(key)" }
            let request = ServerRequest(
                method, target, authority: "a", peer: memory.peer, fields: fields)
            guard case .atOnce(let length, let respond) = responder.reply(to: request, on: memory),
                body.utf8.count <= length
            else { return nil }
            return respond(ByteBuffer(string: body))
        }
    }

    @Test func onlyRequestsFromMemoryAreAnsweredOnTheEventLoop() {
        let connection = Connection()
        let key = connection.api.secret.text
        #expect(connection.response(key: key)?.status == .ok)
        for (method, target, fields) in [
            (.get, "/livez", [:]), (.head, Connection.found, [:]), (.delete, "/v1/lookup", [:]),
            (.get, "//v1/lookup", [:]), (.get, "http://a\(Connection.found)", [:]),
            (.get, "\(Connection.found)#a", [:]),
            (.post, "/v1/confirmations", [.contentEncoding: "gzip"]),
            (.post, "/v1/confirmations", [.doorstepAssertion: "a"]),
        ] as [(HTTPRequest.Method, String, HTTPFields)] {
            #expect(
                connection.response(method, target, key: key, fields: fields) == nil, "\(method) \(target)")
        }
    }

    /// A long body would block the other connections of the event loop.
    @Test(arguments: [0, 1]) func longBodyIsLeftToATask(excess: Int) {
        let connection = Connection()
        let response = connection.response(
            .post, "/v1/payloads", key: connection.api.secret.text,
            fields: [.contentType: "application/json"],
            body: String(repeating: " ", count: Endpoint.maximumBodyLengthAtOnce + excess))
        #expect(response?.status == (excess == 0 ? .badRequest : nil))
    }

    @Test func revokedKeyIsRejectedOnOpenConnection() throws {
        let connection = Connection()
        let key = connection.api.secret.text
        for _ in 0..<2 { #expect(connection.response(key: key)?.status == .ok) }
        var table = try #require(connection.api.table.current).table
        table.remove(.keys, of: TenantID(number: 1), key: ["\(KeyID(UUID(number: 2)))"])
        connection.api.table.replace(by: table, from: .database, asOf: Date())
        for _ in 0..<2 { #expect(connection.response(key: key)?.status == .unauthorized) }
    }

    /// Clients of one proxy share a connection.
    @Test func keyIsCheckedPerRequest() {
        let connection = Connection()
        let api = connection.api
        let unknown = String(api.secret.text.dropLast()) + (api.secret.text.hasSuffix("a") ? "b" : "a")
        let keys: [(String?, HTTPResponse.Status)] = [
            (api.secret.text, .ok), (unknown, .unauthorized), (api.secret.text, .ok),
            (api.suspended.text, .forbidden), (api.publishable.text, .ok), (nil, .unauthorized),
            ("", .unauthorized), (api.publishable.text, .ok),
        ]
        for (key, status) in keys { #expect(connection.response(key: key)?.status == status, "\(key ?? "")") }
    }

    @Test(arguments: [false, true]) func rateLimitedResponseIsDelayed(isProxy: Bool) throws {
        let once = RequestLimits(key: RateLimit(perSecond: 1, burst: 1))
        let proxies = isProxy ? [try #require(AddressRange("127.0.0.1"))] : []
        let connection = Connection(limits: once, trusting: proxies)
        let key = connection.api.secret.text
        let first = try #require(connection.response(key: key))
        #expect(first.status == .ok && first.delay == nil)
        let second = try #require(connection.response(key: key))
        #expect(second.status == .tooManyRequests && second.delay?.duration == .seconds(1))
    }

    @Test(arguments: ["a b", "", "é", "a\"b", String(repeating: "a", count: 129)])
    func unsafeRequestIDIsReplaced(id: String) throws {
        let response = try #require(Connection().response(key: nil, fields: [.requestID: id]))
        let sent = try #require(response.allFields[.requestID])
        #expect(response.status == .unauthorized && sent.wholeMatch(of: /[0-9a-f]{32}/) != nil)
    }

    /// The error has the header fields of every response, and the request ID in its body.
    @Test(arguments: [
        (RequestDefect.syntax, 400, "malformed_request"), (.headerLength, 431, "header_too_large"),
        (.host, 400, "malformed_request"), (.transferCoding, 501, "unsupported_transfer_coding"),
    ])
    func malformedInputIsAProblem(defect: RequestDefect, status: Int, code: String) async throws {
        let response = Connection().responder.refusal(of: defect)
        let fields = response.allFields
        let body = String(buffer: try await response.body.collected())
        let id = try #require(fields[.requestID])
        #expect(response.status.code == status && body.contains("\"code\":\"\(code)\""))
        #expect(body.contains("\"requestID\":\"\(id)\"") && id.count == 32)
        #expect(fields[.contentType] == "application/problem+json" && fields[.cacheControl] == "no-store")
    }

    @Test func pathHasTheMethodsOfItsEndpoints() throws {
        let tree = PathTree(
            [HTTPRequest.Method.get, .put].map { method in
                Endpoint(method, "/a/{id}", .open { _ in APIResponse(.ok) })
            })
        let match = try #require(tree.match("/a/x%20y"))
        let get = try #require(match.endpoint(for: .head))
        #expect(match.methods == [.get, .head, .put] && match.endpoint(for: .delete) == nil)
        #expect(match.parameters(in: get.path) == ["id": "x%20y"])
    }
}

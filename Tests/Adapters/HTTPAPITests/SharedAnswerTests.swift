import NIOCore
import Testing

@testable import HTTPAPI

/// What anyone may ask for, again and again, before any of it is read.
@Suite struct SharedAnswerTests {
    @Test func sharedResponseBodiesAreInMemoryOnce() throws {
        let api = TestAPI()
        try api.proveHost()
        let routes = [
            OpenAPIDocument.route, ProblemPages.routes[0], ProblemPages.routes[1],
            SiteAssociationRoutes(table: api.table).routes[0],
        ]
        for route in routes {
            guard case .open(let handler) = route.handler else {
                Issue.record("\(route.path) is not for everyone")
                continue
            }
            let addresses = try (0..<2).map { _ in
                let answer = try handler(
                    APIRequest(
                        client: Client(address: Client.Address(nil), isBehindProxy: false),
                        parameters: ["code": "not_found"], authority: TestAPI.host, fields: RequestFields()))
                let body = try #require(answer.body?.buffer, "\(route.path)")
                #expect(body.readableBytes > 0)
                return body.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
            }
            #expect(addresses[0] == addresses[1], "\(route.path)")
        }
    }
}

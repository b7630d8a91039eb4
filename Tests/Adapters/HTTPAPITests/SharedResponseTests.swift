import NIOCore
import Testing

@testable import HTTPAPI

/// Documents that anyone can request repeatedly, without reading the responses.
@Suite struct SharedResponseTests {
    @Test func sharedResponseBodiesAreInMemoryOnce() throws {
        let api = TestAPI()
        try api.proveHost()
        let endpoints = [
            OpenAPIDocument.endpoint, ProblemPages.endpoints[0], ProblemPages.endpoints[1],
            SiteAssociationEndpoints(table: api.table).endpoints[0],
        ]
        for endpoint in endpoints {
            guard case .open(let handler) = endpoint.handler else {
                Issue.record("\(endpoint.path) is not for everyone")
                continue
            }
            let addresses = try (0..<2).map { _ in
                let response = try handler(
                    APIRequest(
                        client: Client(address: Client.Address(nil), isBehindProxy: false),
                        parameters: ["code": "not_found"], authority: TestAPI.host, fields: RequestFields()))
                let body = try #require(response.body?.buffer, "\(endpoint.path)")
                #expect(body.readableBytes > 0)
                return body.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
            }
            #expect(addresses[0] == addresses[1], "\(endpoint.path)")
        }
    }
}

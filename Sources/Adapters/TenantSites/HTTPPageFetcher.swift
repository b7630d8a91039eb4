public import Administration
import AsyncHTTPClient
import NIOHTTP1
public import OutboundHTTP

/// Fetches pages: one GET each.
public struct HTTPPageFetcher: PageFetcher {
    private let client: OutboundClient

    public init(_ client: OutboundClient) {
        self.client = client
    }

    public func fetch(_ url: String, limit: Int) async throws(NoResponse) -> Page {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "*/*")
        do throws(OutboundError) {
            let response = try await client.execute(request, limit: limit)
            return Page(
                status: response.status, contentType: response.contentType, location: response.location,
                body: response.body, isCutOff: response.isCutOff, contentCoding: response.contentCoding)
        } catch {
            throw NoResponse(error.detail)
        }
    }
}

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

    public func fetch(_ url: String, limit: Int) async throws(NoAnswer) -> Page {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "*/*")
        do throws(OutboundError) {
            let answer = try await client.execute(request, limit: limit)
            return Page(
                status: answer.status, contentType: answer.contentType, location: answer.location,
                body: answer.body, isCutOff: answer.isCutOff, contentCoding: answer.contentCoding)
        } catch {
            throw NoAnswer(error.detail)
        }
    }
}

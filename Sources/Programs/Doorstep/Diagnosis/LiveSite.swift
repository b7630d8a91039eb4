import Administration
import Invocation

/// The site of an invocation URL, as it is served now.
struct LiveSite {
    let association: SiteCheck
    let page: Result<Page, NoResponse>

    /// The maximum length that is read, because the tag is in the page's head.
    private static let pageLimit = 262_144

    /// Fetches the host's association file and the page at the URL, each once, without following redirects.
    /// - Parameter clip: The clip that the file must list.
    init(_ url: InvocationURL, _ host: DomainName, clip: Clip?, _ fetcher: some PageFetcher) async {
        async let association = SiteCheck.run(
            SiteCheck.url(of: host), clip: clip?.appID, app: clip?.parentAppID, fetcher)
        async let page = Self.page(url, fetcher)
        (self.association, self.page) = await (association, page)
    }

    private static func page(
        _ url: InvocationURL, _ fetcher: some PageFetcher
    ) async -> Result<Page, NoResponse> {
        do throws(NoResponse) {
            return .success(try await fetcher.fetch(url.canonicalWithoutFragment, limit: pageLimit))
        } catch {
            return .failure(error)
        }
    }
}

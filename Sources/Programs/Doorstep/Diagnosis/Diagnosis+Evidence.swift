import Administration
import AppStoreSync
import Foundation
import Invocation
import Lookups
import OutboundHTTP
import Tenancy
import TenantSites

extension Diagnosis {
    /// The tenant's data that concerns a URL.
    struct Evidence {
        let table: TenantTable
        /// The matching experience.
        let match: TenantTable.Match?
        /// The clip of the matching experience.
        let clip: Clip?
        /// The tenant's claim of the URL's host.
        let domain: DomainRecord?
        /// The last check of App Store Connect; nil if the clip is not connected.
        let registration: LatestCheck?
        /// The site's response, if it was requested.
        let site: LiveSite?
    }

    /// The means for fetching the site.
    struct SiteQuestion: Sendable {
        let settings: OutboundClient.Settings
        /// An address and a port to connect to instead of the site's own.
        var place: String?

        /// The site's response; nil for Apple's own links, which do not lead to a site of the tenant.
        fileprivate func ask(_ url: InvocationURL, _ clip: Clip?) async throws -> LiveSite? {
            guard url.isMatchable, url.host != DefaultLink.host, let host = try? DomainName(url.host) else {
                return nil
            }
            let detour = place.flatMap { OutboundClient.Detour(around: host.text, to: $0) }
            return try await OutboundClient.withClient(settings, detour: detour) { client in
                await LiveSite(url, host, clip: clip, HTTPPageFetcher(client))
            }
        }
    }

    /// Reads the tenant's data that concerns a URL, and fetches the site if the tenant has claimed its host or the URL matches
    /// an experience.
    /// - Parameter text: The URL as the caller wrote it.
    init(
        of text: String, in table: TenantTable, asking question: SiteQuestion?,
        clip: (BundleID) async throws -> Clip?, domain: (DomainName) async throws -> DomainRecord?,
        registration: (BundleID) async throws -> LatestCheck?
    ) async throws {
        let url: InvocationURL
        do throws(InvocationURLError) {
            url = try InvocationURL(text)
        } catch {
            self.init(error, text: text)
            return
        }
        let match = table.match(url)
        var known: Clip?
        var latest: LatestCheck?
        if let match {
            known = try await clip(match.experience.clip)
            latest = try await registration(match.experience.clip)
        }
        var claim: DomainRecord?
        if let host = try? DomainName(url.host) { claim = try await domain(host) }
        // Only sites that concern the tenant are fetched; otherwise any key with the scope `read` could make the server fetch
        // any site.
        let isOwn = match != nil || claim != nil
        self.init(
            url, text: text,
            Evidence(
                table: table, match: match, clip: known, domain: claim, registration: latest,
                site: isOwn ? try await question?.ask(url, known) : nil))
    }
}

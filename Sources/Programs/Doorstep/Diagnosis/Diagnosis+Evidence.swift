import Administration
import AppStoreSync
import DomainProof
import Foundation
import Invocation
import Lookups
import OutboundHTTP
import Tenancy

extension Diagnosis {
    /// What is known of the tenant that bears on a URL.
    struct Evidence {
        let table: TenantTable
        /// What the URL matches.
        let match: TenantTable.Match?
        /// The clip of that.
        let clip: Clip?
        /// The tenant's claim of the URL's host.
        let domain: DomainRecord?
        /// What was found when App Store Connect was looked at last; nil where the clip is not connected.
        let registration: LatestCheck?
        /// What the site says of itself, if it was asked.
        let site: LiveSite?
    }

    /// How a site is asked.
    struct SiteQuestion: Sendable {
        let settings: OutboundClient.Settings
        /// An address and a port to ask at, instead of the site's own.
        var place: String?

        /// What the site says; nil for Apple's own, which says nothing of a tenant.
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

    /// Reads of a tenant's what bears on a URL, and asks the site where there is a question: one whose host the tenant has
    /// claimed, or where the URL matches an experience.
    /// - Parameter text: the URL as it was given.
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
        // Nobody's sites are asked but those that the tenant has to do with: else any key that may read could have the
        // server ask anything.
        let isOwn = match != nil || claim != nil
        self.init(
            url, text: text,
            Evidence(
                table: table, match: match, clip: known, domain: claim, registration: latest,
                site: isOwn ? try await question?.ask(url, known) : nil))
    }
}

package import AppSiteAssociation
package import Lookups
import Synchronization
import Tenancy

/// The association files that were asked for, as long as the table they were written from stays.
///
/// Anyone can ask, and to write a large file takes far longer than to look something up.
final class SiteFileCache: Sendable {
    private struct State {
        var version: Int?
        var files: [String: APIResponse.Shared] = [:]
    }

    private let state = Mutex(State())

    /// Nil for a host that nobody has proved.
    func file(of host: String, in table: LiveLookupIndex.State) -> APIResponse.Shared? {
        let known = state.withLock { $0.version == table.version ? $0.files[host] : nil }
        if let known { return known }
        guard let site = table.table.site(ofHost: host) else { return nil }
        let file = APIResponse.Shared(SiteAssociation(site).serialized())
        state.withLock { state in
            if state.version != table.version { state = State(version: table.version) }
            state.files[host] = file
        }
        return file
    }
}

extension SiteAssociation {
    package init(_ site: LookupIndex.Site) {
        var ids: [String: AppID] = [:]
        let clips = site.clips.map { clip in
            let id = AppID(prefix: clip.appIDPrefix, bundleID: clip.bundleID)
            ids[clip.bundleID.text] = id
            return Clip(id: id, app: AppID(prefix: clip.appIDPrefix, bundleID: clip.parentBundleID))
        }
        self.init(
            clips: clips,
            links: site.links?.compactMap { link in ids[link.clip.text].map { (link.group, $0) } },
            // Checked when it was stored: a version that refuses it serves the rest.
            content: site.content.flatMap { try? AssociationContent(parsing: $0.utf8) })
    }
}

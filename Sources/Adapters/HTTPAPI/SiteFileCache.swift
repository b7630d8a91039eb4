package import Invocation
package import Lookups
import Synchronization
import Tenancy

/// Caches the requested association files until the lookup index changes.
///
/// Anyone can request association files, and writing a large one takes much longer than a lookup.
final class SiteFileCache: Sendable {
    private struct State {
        var version: Int?
        var files: [String: APIResponse.Shared] = [:]
    }

    private let state = Mutex(State())

    /// The file of a host; nil if no tenant has proved the host.
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
            // The content was checked when it was stored. If this version refuses it, the file is served without it.
            content: site.content.flatMap { try? AssociationContent(parsing: $0.utf8) })
    }
}

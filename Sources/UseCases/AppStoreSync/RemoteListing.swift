import Cards
import Formats

/// All pages of one listing of a clip's experiences.
///
/// Apple cuts pages by offset in an undefined order, so rows can occur twice or be missing. [observed]
public struct RemoteListing: Sendable, Hashable {
    /// Each once, ordered by identifier.
    public let experiences: [RemoteExperience]
    /// Whether there are as many as App Store Connect counts, and none came twice with different content.
    public let isComplete: Bool

    /// - Parameter total: The pages' `meta.paging.total`; nil if they have none.
    public init(_ rows: [RemoteExperience], total: Int?) {
        let versions = Dictionary(grouping: rows, by: \.id).mapValues { Set($0) }
        experiences = versions.values.compactMap { versions in
            versions.min { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
        }.sorted { $0.id < $1.id }
        isComplete = versions.count == total && versions.values.allSatisfy { $0.count == 1 }
    }
}

extension RemoteExperience {
    /// Chooses between versions of one experience in the same way, whatever order the pages came in.
    fileprivate var sortKey: [String] {
        let card = JSONValue.object(content.card.json).text
        return [
            link, status.rawValue, placeStatus?.rawValue ?? "", "\(content.isPoweredBy)", card,
            unreadable ?? "",
        ]
    }
}

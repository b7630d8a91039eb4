import Tenancy

/// The experiences of one tenant, arranged so that the most specific one for an invocation is found quickly.
///
/// A path trie per host leads to at most one node per path component of the invocation; at each node a trie
/// over the sorted query items of the registered URLs is walked with the invocation's items. The time depends
/// on the URL, not on how many experiences are registered: 100,000 on one path that differ by the value of an
/// item cost one look-up per item of the URL. The worst case is a tenant that registers many combinations of
/// the same items: at each node no more combinations are visited than the invocation's items form, nor than
/// are registered.
public struct ExperienceIndex: Sendable {
    private struct PathNode: Sendable {
        var children: [String: Int] = [:]
        var queryRoot: Int?
    }

    private struct QueryNode: Sendable {
        var children: [String: Int] = [:]

        /// Those registered with exactly the items on the way here, first the one that precedes the others.
        var experiences: [Experience] = []
    }

    private var hosts: [String: Int] = [:]
    private var pathNodes: [PathNode] = []
    private var queryNodes: [QueryNode] = []
    private var defaultExperiences: [BundleID: Experience] = [:]

    /// Any order gives the same index; of two alike the one that precedes the other is found.
    public init(_ experiences: some Sequence<Experience>) {
        for experience in experiences { insert(experience) }
        for index in queryNodes.indices where queryNodes[index].experiences.count > 1 {
            queryNodes[index].experiences.sort { $0.precedes($1) }
        }
    }

    /// The experience that the invocation launches, or nil when none matches.
    ///
    /// When no registered URL matches a default link, the default experience of the clip that the link names
    /// is found, whatever URL it is registered with [Apple: the link opens the default experience; the order
    /// is ours].
    /// - Parameter kinds: the kinds to choose among.
    public func mostSpecific(
        for invocation: InvocationURL, among kinds: Set<ExperienceKind> = Set(ExperienceKind.allCases)
    ) -> Experience? {
        guard invocation.isMatchable else { return nil }
        let query = Query(invocation)
        for node in pathNodes(for: invocation).reversed() {
            if let root = pathNodes[node].queryRoot,
                let found = best(from: root, query: query, invocation: invocation, among: kinds)
            {
                return found
            }
        }
        guard kinds.contains(.default), let link = DefaultLink(invocation) else { return nil }
        return defaultExperiences[link.clip]
    }

    private mutating func insert(_ experience: Experience) {
        let url = experience.url
        var node = hosts[url.host] ?? appendPathNode()
        hosts[url.host] = node
        for component in url.pathComponents {
            let child = pathNodes[node].children[component] ?? appendPathNode()
            pathNodes[node].children[component] = child
            node = child
        }
        var queryNode = pathNodes[node].queryRoot ?? appendQueryNode()
        pathNodes[node].queryRoot = queryNode
        for item in url.queryItemTexts {
            let child = queryNodes[queryNode].children[item] ?? appendQueryNode()
            queryNodes[queryNode].children[item] = child
            queryNode = child
        }
        queryNodes[queryNode].experiences.append(experience)

        guard experience.kind == .default else { return }
        if let known = defaultExperiences[experience.clip], !experience.precedes(known) { return }
        defaultExperiences[experience.clip] = experience
    }

    private mutating func appendPathNode() -> Int {
        pathNodes.append(PathNode())
        return pathNodes.count - 1
    }

    private mutating func appendQueryNode() -> Int {
        queryNodes.append(QueryNode())
        return queryNodes.count - 1
    }

    /// The nodes of the invocation's host, and of each longer part of its path.
    private func pathNodes(for invocation: InvocationURL) -> [Int] {
        guard let root = hosts[invocation.host] else { return [] }
        var nodes = [root]
        for component in invocation.pathComponents {
            guard let child = pathNodes[nodes[nodes.count - 1]].children[component] else { break }
            nodes.append(child)
        }
        return nodes
    }

    /// The items of an invocation, by place in their order and the other way round.
    private struct Query {
        let items: [String]
        let places: [String: Int]

        init(_ invocation: InvocationURL) {
            items = invocation.queryItemTexts
            places = Dictionary(uniqueKeysWithValues: zip(items, items.indices))
        }
    }

    private func best(
        from root: Int, query: Query, invocation: InvocationURL, among kinds: Set<ExperienceKind>
    ) -> Experience? {
        var best: Experience?
        var unvisited = [(node: root, nextItem: 0)]
        while let (index, nextItem) = unvisited.popLast() {
            let node = queryNodes[index]
            if let found = node.experiences.first(where: {
                kinds.contains($0.kind) && $0.admits(invocation)
            }), best.map(found.precedes) ?? true {
                best = found
            }
            // A child's item is greater than every item on the way to it, so the smaller side can lead.
            if node.children.count < query.items.count - nextItem {
                for (item, child) in node.children {
                    if let place = query.places[item] { unvisited.append((child, place + 1)) }
                }
            } else {
                for place in query.items.indices[nextItem...] {
                    if let child = node.children[query.items[place]] { unvisited.append((child, place + 1)) }
                }
            }
        }
        return best
    }
}

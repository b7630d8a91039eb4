import Invocation
import Tenancy

extension LookupIndex {
    typealias Place = RecordTable<ExperienceHeader>.Place

    /// The position of an experience in the index; valid until the index changes.
    struct Found: Sendable {
        let place: Place
        let isByDefaultLink: Bool
    }

    /// Returns the match for ``TenantTable/match(_:preferringAdvanced:otherThan:)``.
    ///
    /// The time depends on the URL, not on the number of experiences. The search makes one hash lookup for each number of path
    /// components at which the host has experiences. If these experiences have queries, it makes one more for each item of the URL.
    /// If a tenant registers many combinations of the same items, the search tries combinations of the URL's items up to
    /// ``mostProbes``. Beyond that, it returns the most specific experience among the tried combinations. The server's seed
    /// determines which combinations these are.
    ///
    /// - Parameters:
    ///   - locations: Excludes experiences that are bound to other locations; nil excludes none.
    ///   - other: An experience to exclude.
    func find(
        _ url: InvocationURL, of tenant: TenantIndex, preferringAdvanced prefersAdvanced: Bool = false,
        boundTo locations: Set<LocationIdentifier>? = nil, otherThan other: Place? = nil
    ) -> Found? {
        var probesLeft = Self.mostProbes
        return find(
            url, of: tenant, preferringAdvanced: prefersAdvanced, boundTo: locations, otherThan: other,
            probesLeft: &probesLeft)
    }

    /// - Parameter probesLeft: The number of combinations of query items that may still be tried.
    func find(
        _ url: InvocationURL, of tenant: TenantIndex, preferringAdvanced prefersAdvanced: Bool = false,
        boundTo locations: Set<LocationIdentifier>? = nil, otherThan other: Place? = nil,
        probesLeft: inout Int
    ) -> Found? {
        guard url.isMatchable else { return nil }
        var hash = hostHash(tenant)
        hash.combine(url.bytes.span.extracting(url.hostRange))
        if let depths = hosts[hash.value] {
            let place = withQueryItems(of: url, hash: hostHash(tenant), ifUsed: depths.queries != 0) {
                let search = Search(
                    tenant: tenant, items: $0, prefersAdvanced: prefersAdvanced, locations: locations,
                    other: other)
                return deepest(search, url, depths, hash, probesLeft: &probesLeft)
            }
            if let place { return Found(place: place, isByDefaultLink: false) }
        }
        return DefaultLink(url).flatMap {
            defaultExperience(of: $0.clip, tenant, boundTo: locations, otherThan: other)
        }
    }

    /// The maximum number of combinations of query items that are tried for one URL: the work of ten lookups over
    /// HTTP, so that no catalogue blocks an event loop. A URL with eight items and a short path never reaches it. [ours]
    static let mostProbes = 4_096
    /// The number of probes that a registered combination counts as: its experiences are compared.
    static let probesOfRegistered = 4

    /// The initial hash state of a tenant's experiences.
    func hostHash(_ tenant: TenantIndex) -> ByteHash {
        var hash = ByteHash(seed: seed)
        hash.combine(UInt64(tenant) << 8 | UInt64(Namespace.experience.rawValue))
        return hash
    }

    /// A query item of an invocation.
    fileprivate struct QueryItem {
        let hash: UInt64
        let range: Range<Int>
    }

    private struct Search {
        let tenant: TenantIndex
        /// The invocation's items, sorted by hash; empty if the host has no experiences with queries.
        let items: UnsafeBufferPointer<QueryItem>
        let prefersAdvanced: Bool
        let locations: Set<LocationIdentifier>?
        let other: Place?
    }

    private typealias Candidate = (place: Place, header: ExperienceHeader)

    /// The best experiences of one path.
    private struct Best {
        var ofAnyKind: Candidate?
        /// Searched only if advanced ones are preferred.
        var advanced: Candidate?
    }

    /// A prefix of an invocation's path.
    private struct Prefix {
        let length: Int
        let hash: UInt64
    }

    private static var prefixLimit: Int { URLPrefix.maximumPathComponents + 1 }

    /// Tries the prefixes of the path from the longest to the shortest.
    private func deepest(
        _ search: Search, _ url: InvocationURL, _ depths: Depths, _ host: ByteHash, probesLeft: inout Int
    ) -> Place? {
        let bytes = url.bytes.span
        var hash = host
        return withUnsafeTemporaryAllocation(of: Prefix.self, capacity: Self.prefixLimit) { prefixes in
            prefixes[0] = Prefix(length: url.hostRange.upperBound, hash: hash.value)
            var count = 1
            let deepest = UInt64.bitWidth - depths.paths.leadingZeroBitCount
            bytes.forEachPathComponent(in: url.pathRange) { component in
                guard count < min(deepest, Self.prefixLimit) else { return false }
                hash.combine(bytes.extracting(component))
                prefixes[count] = Prefix(length: component.upperBound, hash: hash.value)
                count += 1
                return true
            }
            var deepestOfAnyKind: Place?
            for depth in (0..<count).reversed() where depths.paths >> UInt64(depth) & 1 != 0 {
                let hasQueries = depths.queries >> UInt64(depth) & 1 != 0
                let best = best(
                    search, url, prefixes[depth], hasQueries: hasQueries, probesLeft: &probesLeft)
                if let advanced = best.advanced { return advanced.place }
                deepestOfAnyKind = deepestOfAnyKind ?? best.ofAnyKind?.place
                if deepestOfAnyKind != nil, !search.prefersAdvanced { break }
            }
            return deepestOfAnyKind
        }
    }

    /// Hashes and sorts the items once, because each path and each candidate needs them.
    private func withQueryItems<Result>(
        of url: InvocationURL, hash: ByteHash, ifUsed isUsed: Bool,
        _ body: (UnsafeBufferPointer<QueryItem>) -> Result
    ) -> Result {
        let query = url.queryRange
        guard isUsed, !query.isEmpty else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
        let bytes = url.bytes.span
        var itemCount = 0
        bytes.forEachQueryItem(in: query) { _ in
            itemCount += 1
            return true
        }
        return withUnsafeTemporaryAllocation(of: QueryItem.self, capacity: itemCount) { buffer in
            var count = 0
            bytes.forEachQueryItem(in: query) { range in
                buffer[count] = QueryItem(hash: hash.item(bytes.extracting(range)), range: range)
                count += 1
                return true
            }
            var items = UnsafeMutableBufferPointer(rebasing: buffer[..<count])
            items.sort { $0.hash < $1.hash }
            return body(UnsafeBufferPointer(items))
        }
    }

    /// The best experience of one path and its queries.
    private func best(
        _ search: Search, _ url: InvocationURL, _ prefix: Prefix, hasQueries: Bool, probesLeft: inout Int
    ) -> Best {
        var best = Best()
        choose(search, url, prefix, node: prefix.hash, among: &best)
        guard hasQueries else { return best }
        descend(
            search, url, prefix, ByteHash(seed: prefix.hash), search.items[...], probesLeft: &probesLeft,
            among: &best)
        return best
    }

    /// Visits the nodes below a node. Each of them has one more of the items.
    private func descend(
        _ search: Search, _ url: InvocationURL, _ prefix: Prefix, _ node: ByteHash,
        _ items: Slice<UnsafeBufferPointer<QueryItem>>,
        probesLeft: inout Int, among best: inout Best
    ) {
        for index in items.indices
        where index == items.startIndex || items[index].hash != items[index - 1].hash {
            guard probesLeft > 0 else { return }
            probesLeft -= 1
            var child = node
            child.combine(items[index].hash)
            guard let reaching = queryNodes.first(child.value, { count, _, _ in count }) else { continue }
            probesLeft = max(0, probesLeft - (Self.probesOfRegistered - 1))
            let ending = choose(search, url, prefix, node: child.value, among: &best)
            // If all experiences on this node end here, no further item can match.
            if ending < reaching {
                descend(
                    search, url, prefix, child, items[(index + 1)...], probesLeft: &probesLeft, among: &best)
            }
        }
    }

    /// Visits each experience of a node. Keeps an experience that matches and takes precedence over the best one so far.
    ///
    /// - Returns: The number of experiences, whether they match or not.
    @discardableResult
    private func choose(
        _ search: Search, _ url: InvocationURL, _ prefix: Prefix, node: UInt64,
        among best: inout Best
    ) -> UInt32 {
        var count: UInt32 = 0
        _ = experiences.first(node) { header, text, place in
            count += 1
            guard isMatch(header, text, search, url, prefix),
                Self.isBound(header, text, to: search.locations), place != search.other
            else { return nil as Never? }
            let found = (place, header)
            if best.ofAnyKind.map({ precedes(header, text, $0) }) ?? true { best.ofAnyKind = found }
            if search.prefersAdvanced, header.kind == ExperienceKind.advanced.number,
                best.advanced.map({ precedes(header, text, $0) }) ?? true
            {
                best.advanced = found
            }
            return nil
        }
        return count
    }

    private func precedes(_ header: ExperienceHeader, _ text: Span<UInt8>, _ other: Candidate) -> Bool {
        if header.queryItemCount != other.header.queryItemCount {
            return header.queryItemCount > other.header.queryItemCount
        }
        if header.kind != other.header.kind { return header.kind < other.header.kind }
        return experiences.read(other.place) { otherHeader, otherText in
            text.extracting(0..<Int(header.urlLength))
                .precedes(otherText.extracting(0..<Int(otherHeader.urlLength)))
        }
    }

    /// Whether a record with the searched hash matches the URL and may be launched. Different URLs can have the same hash.
    private func isMatch(
        _ header: ExperienceHeader, _ text: Span<UInt8>, _ search: Search, _ url: InvocationURL,
        _ prefix: Prefix
    ) -> Bool {
        let length = Int(header.matchLength)
        let bytes = url.bytes.span
        guard header.tenant == search.tenant, length == prefix.length,
            text.extracting(0..<length).isEqual(to: bytes.extracting(0..<length))
        else { return false }
        let registered = text.extracting(0..<Int(header.urlLength))
        if header.queryItemCount > 0, !hasItems(search, url, of: registered, from: length + 1) {
            return false
        }
        switch ExperienceKind(header.kind) {
        case .advanced: return true
        case .demo:
            let end = url.queryRange.isEmpty ? url.pathRange.upperBound : url.queryRange.upperBound
            return registered.isEqual(to: bytes.extracting(0..<end))
        case .default:
            // A default link is matched only by default links of its clip: the bundle ID comes first
            // [Apple].
            guard bytes.extracting(url.hostRange).isEqual(to: DefaultLink.host) else { return true }
            return DefaultLink(url)?.clip == clips[Int(header.clip)].bundleID
        }
    }

    /// Whether an experience is unbound or bound to a location of the set; nil allows any.
    private static func isBound(
        _ header: ExperienceHeader, _ text: Span<UInt8>, to locations: Set<LocationIdentifier>?
    ) -> Bool {
        guard let locations, header.binding == .location else { return true }
        let name = String(copying: text.extracting(Int(header.urlLength)..<text.count))
        return (try? LocationIdentifier(name)).map(locations.contains) ?? false
    }

    /// Whether each query item of a registered URL is among the invocation's.
    private func hasItems(
        _ search: Search, _ url: InvocationURL, of registered: Span<UInt8>, from start: Int
    ) -> Bool {
        let bytes = url.bytes.span
        let itemHash = hostHash(search.tenant)
        var hasAll = true
        registered.forEachQueryItem(in: start..<registered.count) { range in
            let wanted = registered.extracting(range)
            let hash = itemHash.item(wanted)
            let equals = search.items[search.items.firstIndex(notBelow: hash)...].prefix { $0.hash == hash }
            hasAll = equals.contains { bytes.extracting($0.range).isEqual(to: wanted) }
            return hasAll
        }
        return hasAll
    }

    /// The index of the clip whose default link the URL is, if the clip has no default experience.
    func clipWithoutDefaultExperience(openedBy url: InvocationURL, of tenant: TenantIndex) -> Int? {
        guard let link = DefaultLink(url),
            let clip = clipIndices[ClipName(tenant: tenant, bundleID: link.clip.text)],
            clips[Int(clip)].defaultURL == nil, clips[Int(clip)].owner != nil || clips[Int(clip)].isUnreadable
        else { return nil }
        return Int(clip)
    }

    /// The default experience of a clip without a registered one, launched by the clip's default link. It is not bound to a
    /// location. [ours]
    func missingDefaultExperience(of clip: Int) -> IndexedExperience {
        let entry = clips[clip]
        return IndexedExperience(
            url: DefaultLink(to: entry.bundleID).text, kind: .default, clip: entry.bundleID,
            clipIsMultiBusiness: entry.isMultiBusiness, binding: .unbound, pathComponentCount: 1)
    }

    /// Returns the default experience of a clip, whatever its URL.
    private func defaultExperience(
        of clip: BundleID, _ tenant: TenantIndex, boundTo locations: Set<LocationIdentifier>?,
        otherThan other: Place?
    ) -> Found? {
        guard let clip = clipIndices[ClipName(tenant: tenant, bundleID: clip.text)],
            let url = clips[Int(clip)].defaultURL,
            let shape = URLShape(url.span)
        else { return nil }
        let hashes = ExperienceHashes(url.span, shape, host: hostHash(tenant))
        return experiences.first(hashes.own) { header, text, place in
            guard header.tenant == tenant, header.kind == ExperienceKind.default.number, header.clip == clip,
                text.extracting(0..<Int(header.urlLength)).isEqual(to: url.span),
                Self.isBound(header, text, to: locations), place != other
            else { return nil }
            return Found(place: place, isByDefaultLink: true)
        }
    }
}

extension UnsafeBufferPointer<LookupIndex.QueryItem> {
    /// The index of the first item whose hash is at least this one, by binary search.
    fileprivate func firstIndex(notBelow hash: UInt64) -> Int {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                self[middle].hash < hash ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}

extension Span<UInt8> {
    /// Whether this text precedes another one in the order of bytes.
    fileprivate func precedes(_ other: Span<UInt8>) -> Bool {
        withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in mine.lexicographicallyPrecedes(theirs) }
        }
    }
}

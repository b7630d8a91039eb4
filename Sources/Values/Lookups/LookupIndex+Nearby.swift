import Geodesy
import Invocation

extension LookupIndex {
    /// The index of a tenant's locations by coordinate, and of the experiences that lead to them.
    struct NearbyIndex: Sendable {
        /// A pair for each location: the code of its cell, and its hash.
        var locations = OrderedPairs()
        /// A pair for each experience that is bound to a location: its key from ``boundKeys(_:_:)``, and its hash.
        var bound = OrderedPairs()
        /// A pair for each experience whose rule can make a URL for any location: its key from ``readerKeys(_:)``, and its hash.
        var readers = OrderedPairs()
        /// Each other experience, without demos: its own hash twice. With ``bound`` and ``readers``, this lists the tenant's
        /// experiences.
        var others = OrderedPairs()
        /// A pair for each location and each clip with an experience that is bound to it: the location's hash, and the clip.
        var boundClips = OrderedPairs()
        /// The locations with bound experiences of a clip, in the order of ``locations``. A search for a clip uses it to skip
        /// locations that only another clip leads to.
        var ofClips: [ClipIndex: OrderedPairs] = [:]
        /// Whether ``boundClips`` and ``ofClips`` are out of date until ``LookupIndex/settle()``.
        var isGathering = false

        var memory: Int {
            locations.memory + bound.memory + readers.memory + others.memory + boundClips.memory
                + ofClips.values.reduce(0) { $0 + $1.memory }
        }

        fileprivate mutating func settle() {
            locations.settle()
            bound.settle()
            readers.settle()
            others.settle()
        }

        mutating func compact() {
            locations.compact()
            bound.compact()
            readers.compact()
            others.compact()
            boundClips.compact()
            for clip in ofClips.keys { ofClips[clip]?.compact() }
        }

        /// The locations to which experiences of the clip may lead; while rows are gathered, it may include
        /// others.
        func candidates(of clip: ClipIndex, hasReaders: Bool) -> OrderedPairs {
            isGathering || hasReaders ? locations : ofClips[clip] ?? OrderedPairs()
        }

        fileprivate func isBound(_ location: UInt64, _ clip: ClipIndex) -> Bool {
            var isBound = false
            forEachClip(boundTo: location) {
                isBound = $0 == clip
                return !isBound
            }
            return isBound
        }

        fileprivate func forEachClip(boundTo location: UInt64, _ body: (ClipIndex) -> Bool) {
            boundClips.forEach(in: location...location) { body(ClipIndex(truncatingIfNeeded: $0.second)) }
        }
    }

    /// Sorts a tenant's gathered pairs into the index.
    mutating func settleNearby(_ tenant: Int) {
        nearby[tenant].settle()
        guard nearby[tenant].isGathering else { return }
        var links: [OrderedPairs.Pair] = []
        nearby[tenant].bound.forEach(in: 0...UInt64.max) { pair in
            _ = experiences.first(pair.second) { header, text, _ in
                guard Int(header.tenant) == tenant, header.binding == .location else { return nil as Never? }
                let location = text.extracting(Int(header.urlLength)..<text.count)
                links.append(
                    OrderedPairs.Pair(
                        first: hash(.location, header.tenant, location), second: UInt64(header.clip)))
                return nil
            }
            return true
        }
        links.sort(by: <)
        var boundClips = OrderedPairs()
        var ofClips: [ClipIndex: OrderedPairs] = [:]
        for (index, link) in links.enumerated() where index == 0 || links[index - 1] < link {
            boundClips.gather(link)
            forEachCell(ofLocation: link.first, TenantIndex(tenant)) { cell in
                ofClips[ClipIndex(truncatingIfNeeded: link.second), default: OrderedPairs()]
                    .gather(OrderedPairs.Pair(first: cell, second: link.first))
            }
        }
        boundClips.settle()
        for clip in ofClips.keys { ofClips[clip]?.settle() }
        nearby[tenant].boundClips = boundClips
        nearby[tenant].ofClips = ofClips
        nearby[tenant].isGathering = false
    }

    /// Visits the cell of each location with this hash. Usually there is only one.
    private func forEachCell(ofLocation hash: UInt64, _ tenant: TenantIndex, _ body: (UInt64) -> Void) {
        _ = locations.first(hash) { header, _, _ in
            guard header.tenant == tenant, let center = header.center else { return nil as Never? }
            body(LocationCell(of: center.position).codes.lowerBound)
            return nil
        }
    }

    // MARK: Updates

    /// The changes to the index that a record can cause.
    enum NearbyChange {
        case add, remove
        /// Adds one of many rows, which ``LookupIndex/settle()`` sorts in.
        case gather
    }

    /// Adds a location to the index, or removes it.
    mutating func note(_ header: LocationHeader, _ hash: UInt64, _ change: NearbyChange) {
        guard let center = header.center else { return }
        let tenant = Int(header.tenant)
        let pair = OrderedPairs.Pair(first: LocationCell(of: center.position).codes.lowerBound, second: hash)
        nearby[tenant].locations.make(change, pair)
        if change == .gather { nearby[tenant].isGathering = true }
        guard !nearby[tenant].isGathering else { return }
        var clips: [ClipIndex] = []
        nearby[tenant].forEachClip(boundTo: hash) {
            clips.append($0)
            return true
        }
        for clip in clips { nearby[tenant].ofClips[clip, default: OrderedPairs()].make(change, pair) }
    }

    /// Adds a clip's experience that is bound to a location to the index of the clip's locations, or
    /// removes it.
    private mutating func note(
        _ location: UInt64, boundBy clip: ClipIndex, of tenant: TenantIndex, _ change: NearbyChange
    ) {
        let index = Int(tenant)
        if change == .gather { nearby[index].isGathering = true }
        guard !nearby[index].isGathering else { return }
        let isKnown = nearby[index].isBound(location, clip)
        if change == .add, isKnown { return }
        if change == .remove {
            guard isKnown else { return }
            // Another experience may be bound to the location, too.
            var isLeft = false
            nearby[index].bound.forEach(in: boundKeys(location, clip)) { _ in
                isLeft = true
                return false
            }
            guard !isLeft else { return }
        }
        nearby[index].boundClips.make(change, OrderedPairs.Pair(first: location, second: UInt64(clip)))
        var cells: [UInt64] = []
        forEachCell(ofLocation: location, tenant) { cells.append($0) }
        for cell in cells {
            nearby[index].ofClips[clip, default: OrderedPairs()]
                .make(change, OrderedPairs.Pair(first: cell, second: location))
        }
        if nearby[index].ofClips[clip]?.count == 0 { nearby[index].ofClips[clip] = nil }
    }

    /// Adds an experience to the index, or removes it.
    ///
    /// - Parameters:
    ///   - location: The identifier of the location that it is bound to, if any.
    ///   - url: The registered URL.
    ///   - hash: The experience's hash.
    mutating func note(
        _ header: ExperienceHeader, boundTo location: Span<UInt8>, _ url: Span<UInt8>, _ hash: UInt64,
        _ change: NearbyChange
    ) {
        let tenant = Int(header.tenant)
        switch header.binding {
        case .unbound: noteOther(header, hash, change)
        case .location:
            let location = self.hash(.location, header.tenant, location)
            let keys = boundKeys(location, header.clip)
            let pair = OrderedPairs.Pair(first: keys.lowerBound | header.boundRank(url), second: hash)
            nearby[tenant].bound.make(change, pair)
            note(location, boundBy: header.clip, of: header.tenant, change)
        case .rule:
            guard header.kind != ExperienceKind.demo.number else { return }
            switch rules[Int(header.rule)] {
            case .path(1), .query:
                let keys = readerKeys(header.clip)
                let pair = OrderedPairs.Pair(
                    first: keys.lowerBound | header.readerRank(url), second: hash)
                nearby[tenant].readers.make(change, pair)
            case .path, .hash, .coordinates: noteOther(header, hash, change)
            }
        }
    }

    private mutating func noteOther(_ header: ExperienceHeader, _ hash: UInt64, _ change: NearbyChange) {
        guard header.kind != ExperienceKind.demo.number else { return }
        nearby[Int(header.tenant)].others.make(change, OrderedPairs.Pair(first: hash, second: hash))
    }

    /// Visits a tenant's experiences, without demos that are bound to no location, until the closure returns false. The closure may
    /// get records of others with the same hash.
    func forEachExperience(of tenant: TenantIndex, _ body: (ExperienceHeader, Span<UInt8>) -> Bool) {
        let index = nearby[Int(tenant)]
        var isOver = false
        for list in [index.bound, index.readers, index.others] where !isOver {
            list.forEach(in: 0...UInt64.max) { pair in
                _ = experiences.first(pair.second) { header, text, _ -> Bool? in
                    isOver = !body(header, text)
                    return isOver ? true : nil
                }
                return !isOver
            }
        }
    }

    /// The keys of a clip's experiences that are bound to a location; the lower bits contain their ranks.
    private func boundKeys(_ location: UInt64, _ clip: ClipIndex) -> ClosedRange<UInt64> {
        let key = ByteHash(seed: location).combined(with: UInt64(clip)) & ~0xFFF_FFFF
        return key...(key | 0xFFF_FFFF)
    }

    /// The keys of a clip's experiences whose rules read an identifier; the lower bits contain their ranks.
    private func readerKeys(_ clip: ClipIndex) -> ClosedRange<UInt64> {
        let key = UInt64(clip) << 32
        return key...(key | 0xFFFF_FFFF)
    }

    // MARK: URLs

    /// The maximum number of a clip's experiences to try among bound experiences, and among experiences that read identifiers.
    /// [ours]
    private static var mostTried: Int { 8 }

    /// The registered URLs of a clip's experiences that are bound to a location. Advanced experiences precede default ones, and
    /// these precede demo ones; then shorter URLs precede longer ones. [ours]
    func urls(boundTo identifier: LocationIdentifier, of clip: ClipIndex, _ tenant: TenantIndex) -> [String] {
        var found: [(rank: UInt64, url: String)] = []
        var text = identifier.text
        text.withUTF8 { bytes in
            let name = Span(_unsafeElements: bytes)
            let keys = boundKeys(hash(.location, tenant, name), clip)
            nearby[Int(tenant)].bound.forEach(in: keys) { pair in
                _ = experiences.first(pair.second) { header, text, _ in
                    let length = Int(header.urlLength)
                    let url = text.extracting(0..<length)
                    guard header.tenant == tenant, header.clip == clip, header.binding == .location,
                        keys.lowerBound | header.boundRank(url) == pair.first,
                        text.extracting(length..<text.count).isEqual(to: name)
                    else { return nil as Never? }
                    found.append((pair.first, String(copying: url)))
                    return nil
                }
                return found.count < Self.mostTried
            }
        }
        return Self.ordered(found, \.rank, \.url).map(\.url)
    }

    /// A clip's experiences whose rules read an identifier from the path or the query, with their
    /// registered URLs. Order: fewer path components first, then fewer query items, then the shorter URL.
    /// [ours]
    func readers(of clip: ClipIndex, _ tenant: TenantIndex) -> [(rule: IdentifierRule, url: String)] {
        var found: [(rank: UInt64, rule: IdentifierRule, url: String)] = []
        let keys = readerKeys(clip)
        nearby[Int(tenant)].readers.forEach(in: keys) { pair in
            _ = experiences.first(pair.second) { header, text, _ in
                let url = text.extracting(0..<Int(header.urlLength))
                guard header.tenant == tenant, header.clip == clip, header.binding == .rule,
                    header.kind != ExperienceKind.demo.number,
                    keys.lowerBound | header.readerRank(url) == pair.first
                else { return nil as Never? }
                found.append((pair.first, rules[Int(header.rule)], String(copying: url)))
                return nil
            }
            return found.count < Self.mostTried
        }
        return Self.ordered(found, \.rank, \.url).map { ($0.rule, $0.url) }
    }

    private static func ordered<Found>(
        _ found: [Found], _ rank: (Found) -> UInt64, _ url: (Found) -> String
    ) -> [Found] {
        guard found.count > 1 else { return found }
        return found.sorted { one, other in
            rank(one) == rank(other)
                ? url(one).utf8.lexicographicallyPrecedes(url(other).utf8) : rank(one) < rank(other)
        }
    }
}

extension OrderedPairs {
    fileprivate mutating func make(_ change: LookupIndex.NearbyChange, _ pair: Pair) {
        switch change {
        case .add: insert(pair)
        case .remove: remove(pair)
        case .gather: gather(pair)
        }
    }
}

extension LookupIndex.LocationHeader {
    /// Nil if the numbers are not a coordinate. No index contains such numbers.
    var center: Coordinate? { try? Coordinate(latitude: latitude, longitude: longitude) }
}

extension LookupIndex.ExperienceHeader {
    /// The rank among experiences that are bound to one location: 28 bits.
    fileprivate func boundRank(_ url: Span<UInt8>) -> UInt64 {
        (UInt64(kind) << 12 | UInt64(urlLength)) << 14 | Self.digest(url, bits: 14)
    }

    /// The rank among experiences that read identifiers: 32 bits.
    fileprivate func readerRank(_ url: Span<UInt8>) -> UInt64 {
        ((UInt64(pathComponentCount) << 5 | UInt64(queryItemCount)) << 12 | UInt64(urlLength)) << 9
            | Self.digest(url, bits: 9)
    }

    /// Part of a hash of the registered URL. It is the same on every server, so that ties have the same
    /// order everywhere.
    private static func digest(_ url: Span<UInt8>, bits: UInt64) -> UInt64 {
        var hash = ByteHash(seed: 1)
        hash.combine(url)
        return hash.value >> (64 - bits)
    }
}

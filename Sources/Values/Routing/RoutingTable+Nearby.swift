import Geodesy
import Invocation

extension RoutingTable {
    /// What is found of a tenant by where it is, and by what leads there.
    struct NearbyIndex: Sendable {
        /// Each location: the code of its cell, and its hash.
        var locations = OrderedPairs()
        /// Each experience that is bound to a location: ``boundKeys(_:_:)``, and its own hash.
        var bound = OrderedPairs()
        /// Each experience of which a URL can be made for any location: ``readerKeys(_:)``, and its own hash.
        var readers = OrderedPairs()

        var memory: Int { locations.memory + bound.memory + readers.memory }

        mutating func settle() {
            locations.settle()
            bound.settle()
            readers.settle()
        }

        mutating func compact() {
            locations.compact()
            bound.compact()
            readers.compact()
        }
    }

    // MARK: Upkeep

    /// What may be done to the index with a record.
    enum NearbyChange {
        case add, remove
        /// Adds one of many, for ``RoutingTable/settle()``.
        case gather
    }

    /// Has a location in the index, or no longer.
    mutating func note(_ header: LocationHeader, _ hash: UInt64, _ change: NearbyChange) {
        guard let center = header.center else { return }
        let cell = PlaceCell(of: center.position)
        nearby[Int(header.tenant)].locations.make(
            change, OrderedPairs.Pair(first: cell.codes.lowerBound, second: hash))
    }

    /// Has an experience in the index, or no longer.
    /// - Parameters:
    ///   - location: the identifier of the location that it is bound to, if it is.
    ///   - url: the registered one.
    ///   - hash: its own.
    mutating func note(
        _ header: ExperienceHeader, boundTo location: Span<UInt8>, _ url: Span<UInt8>, _ hash: UInt64,
        _ change: NearbyChange
    ) {
        let tenant = Int(header.tenant)
        switch header.binding {
        case .unbound: return
        case .location:
            let keys = boundKeys(self.hash(.location, header.tenant, location), header.clip)
            let pair = OrderedPairs.Pair(first: keys.lowerBound | header.boundRank(url), second: hash)
            nearby[tenant].bound.make(change, pair)
        case .rule:
            guard header.kind != ExperienceKind.demo.number else { return }
            switch rules[Int(header.rule)] {
            case .path(1), .query:
                let keys = readerKeys(header.clip)
                let pair = OrderedPairs.Pair(
                    first: keys.lowerBound | header.readerRank(url), second: hash)
                nearby[tenant].readers.make(change, pair)
            case .path, .hash, .coordinates: return
            }
        }
    }

    /// Under which the experiences of a clip stand that are bound to a location: in the lower bits their ranks.
    private func boundKeys(_ location: UInt64, _ clip: ClipIndex) -> ClosedRange<UInt64> {
        let key = ByteHash(seed: location).combined(with: UInt64(clip)) & ~0xFFF_FFFF
        return key...(key | 0xFFF_FFFF)
    }

    /// Under which the experiences of a clip stand whose rules read an identifier: in the lower bits their ranks.
    private func readerKeys(_ clip: ClipIndex) -> ClosedRange<UInt64> {
        let key = UInt64(clip) << 32
        return key...(key | 0xFFFF_FFFF)
    }

    // MARK: URLs

    /// Of one clip so many experiences that are bound to a location are tried, and so many that read identifiers. [ours]
    private static var mostTried: Int { 8 }

    /// The registered URLs of a clip's experiences that are bound to a location: advanced ones before default ones before
    /// demo ones, then the shorter. [ours]
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

    /// A clip's experiences whose rules read an identifier from the path or the query, with their registered URLs: those
    /// with fewer path components before others, then with fewer query items, then the shorter. [ours]
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
    fileprivate mutating func make(_ change: RoutingTable.NearbyChange, _ pair: Pair) {
        switch change {
        case .add: insert(pair)
        case .remove: remove(pair)
        case .gather: gather(pair)
        }
    }
}

extension RoutingTable.LocationHeader {
    /// Nil for numbers that are no place's, which no table holds.
    var center: Coordinate? { try? Coordinate(latitude: latitude, longitude: longitude) }
}

extension RoutingTable.ExperienceHeader {
    /// Which of two experiences that are bound to one location comes first: 28 bits.
    fileprivate func boundRank(_ url: Span<UInt8>) -> UInt64 {
        (UInt64(kind) << 12 | UInt64(urlLength)) << 14 | Self.digest(url, bits: 14)
    }

    /// Which of two experiences that read identifiers comes first: 32 bits.
    fileprivate func readerRank(_ url: Span<UInt8>) -> UInt64 {
        ((UInt64(pathComponentCount) << 5 | UInt64(queryItemCount)) << 12 | UInt64(urlLength)) << 9
            | Self.digest(url, bits: 9)
    }

    /// Part of a hash of the registered URL, the same on every server: so are the first of many that are alike otherwise.
    private static func digest(_ url: Span<UInt8>, bits: UInt64) -> UInt64 {
        var hash = ByteHash(seed: 1)
        hash.combine(url)
        return hash.value >> (64 - bits)
    }
}

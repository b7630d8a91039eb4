public import Cards
public import Invocation
import Tenancy

extension TenantTable {
    /// Returns the experiences whose canonical URL the closure accepts, in no order. The closure gets the URL in UTF-8. If the
    /// table is restricted to locations, the result contains only experiences that are bound to these locations.
    ///
    /// The time is linear in the number of experiences of all tenants in the index: a few hundredths of a microsecond for each.
    public func experiences(where isWanted: (_ url: Span<UInt8>) -> Bool) -> [IndexedExperience] {
        guard let index else { return [] }
        let table = snapshot.table
        var found: [IndexedExperience] = []
        table.experiences.forEach { header, text in
            guard header.tenant == index else { return }
            if let restriction {
                guard case .location(let location) = table.experience(header, text).binding,
                    restriction.contains(location)
                else { return }
            }
            if isWanted(text.extracting(0..<Int(header.urlLength))) {
                found.append(table.experience(header, text))
            }
        }
        return found
    }

    /// Returns the advanced or default experience whose URL is most similar to a URL that leads to no location; nil if none is
    /// similar.
    ///
    /// The most similar URL shares the most bytes with the given one at its beginning and its end. It must share more than half of
    /// its text after `https://`. For ties, the shorter URL wins, then the smaller one. [ours]
    ///
    /// Compares at most ``mostCompared`` of the tenant's experiences, in no order.
    public func nearestExperience(
        to url: InvocationURL, otherThan other: String?
    ) -> IndexedExperience? {
        nearestExperience(to: url, otherThan: other, comparing: Self.mostCompared)
    }

    /// The most experiences that are compared with one URL: a few milliseconds. [ours]
    static let mostCompared = 50_000

    func nearestExperience(
        to url: InvocationURL, otherThan other: String?, comparing maximum: Int
    ) -> IndexedExperience? {
        guard let index, restriction == nil else { return nil }
        let table = snapshot.table
        let text = Array(url.canonicalWithoutFragment.utf8)
        let excluded = other.map { Array($0.utf8) }
        var best: (score: Int, text: [UInt8], experience: IndexedExperience)?
        var left = maximum
        func compare(_ header: LookupIndex.ExperienceHeader, _ bytes: Span<UInt8>) {
            guard header.tenant == index, ExperienceKind(header.kind) != .demo else { return }
            let registered = bytes.extracting(0..<Int(header.urlLength))
            let score = registered.commonLength(with: text.span) - URLShape.schemeLength
            guard 2 * score > registered.count - URLShape.schemeLength, score >= best?.score ?? 0,
                excluded.map({ registered.isEqual(to: $0.span) }) != true
            else { return }
            let copy = Array(copying: registered)
            if let best, best.score == score {
                guard
                    copy.count < best.text.count
                        || copy.count == best.text.count && copy.lexicographicallyPrecedes(best.text)
                else { return }
            }
            best = (score, copy, table.experience(header, bytes))
        }
        table.forEachExperience(of: index) { header, bytes in
            guard left > 0 else { return false }
            left -= 1
            compare(header, bytes)
            return true
        }
        return best?.experience
    }

    /// Returns the texts of an experience's own card in its default language; nil if it has none.
    public func text(of experience: Experience) -> CardText? {
        guard let index else { return nil }
        let text = snapshot.table.card(
            experience.kind.cardNamespace, index, experience.url.canonical.utf8.span
        ).text
        guard text.title != nil || text.subtitle != nil else { return nil }
        return try? CardText(
            title: text.title.map { String(decoding: $0, as: UTF8.self) },
            subtitle: text.subtitle.map { String(decoding: $0, as: UTF8.self) })
    }
}

extension Span<UInt8> {
    /// The number of bytes that two texts share at their beginnings, plus those of the rest that they share at their ends.
    fileprivate func commonLength(with other: Span<UInt8>) -> Int {
        let limit = Swift.min(count, other.count)
        var first = 0
        while first < limit, self[first] == other[first] { first += 1 }
        var last = 0
        while last < limit - first, self[count - 1 - last] == other[other.count - 1 - last] { last += 1 }
        return first + last
    }
}

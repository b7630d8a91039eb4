import Invocation
import PropertyTesting
import Testing
import ValueFixtures

@testable import Lookups

/// URLs with the maximum number of query items, and hosts that register many combinations of them.
@Suite struct HostileQueryTests {
    /// About 700 different items of minimal length.
    private static let items: [String] = {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789").map(String.init)
        let all = letters + letters.flatMap { first in letters.map { first + $0 } }
        var length = "https://example.com/".utf8.count
        return all.prefix { item in
            length += item.utf8.count + 1
            return length <= InvocationURL.maximumLength
        }
    }()

    private static func registered(_ items: some Sequence<String>) throws -> Experience {
        try .advanced("https://example.com?" + items.joined(separator: "&"))
    }

    private static func invocation() throws -> InvocationURL {
        try InvocationURL("https://example.com/?" + items.joined(separator: "&"))
    }

    /// The URL has over 2^600 combinations of items. The search tries items only below registered combinations: at most each item
    /// once per node. A catalogue can have a million nodes, so the work has a limit too (`workOfOneLookupIsLimited`).
    @Test func lookupEndsForURLWithManyQueryItems() throws {
        #expect(Self.items.count > 600)
        var random = SplitMix64(seed: 6)
        let experiences = try (0..<100).map { _ in
            var chosen: Set<String> = []
            while chosen.count < URLPrefix.maximumQueryItems { chosen.insert(random.pick(Self.items)) }
            return try Self.registered(chosen.sorted())
        }
        let table = try LookupIndex(experiences)
        #expect(table.queryNodes.count <= experiences.count * URLPrefix.maximumQueryItems)
        let most = (table.queryNodes.count + 1) * Self.items.count
        #expect(most > LookupIndex.mostProbes)
        var probesLeft = most + 1
        #expect(try table.find(Self.invocation(), of: 0, probesLeft: &probesLeft) != nil)
        #expect(probesLeft > 0 && probesLeft < most)
        // The work limit may skip the smallest combinations, but not all.
        let found = try #require(try table.mostSpecific(for: Self.invocation()))
        #expect(experiences.contains { IndexedExperience($0) == found })
    }

    /// All combinations of eight items are registered, and the URL contains all items. The work limit is not reached.
    @Test func lookupPrefersAllItemsAmongAllCombinations() throws {
        let eight = Array(Self.items.prefix(8))
        let experiences = try (1..<1 << 8).map { combination in
            try Self.registered(
                eight.enumerated().filter { combination >> $0.offset & 1 != 0 }.map(\.element))
        }
        let table = try LookupIndex(experiences)
        #expect(table.queryNodes.count == experiences.count)
        let url = try InvocationURL("https://example.com/?" + eight.joined(separator: "&"))
        var probesLeft = LookupIndex.mostProbes
        #expect(table.find(url, of: 0, probesLeft: &probesLeft) != nil && probesLeft > 0)
        #expect(try table.mostSpecific(for: url) == IndexedExperience(Self.registered(eight)))
    }

    /// All pairs of 300 items are registered, and the URL contains all items. Without a limit, a lookup would try more than 45,000
    /// combinations.
    @Test func workOfOneLookupIsLimited() throws {
        let items = Self.items.prefix(300)
        var experiences: [Experience] = []
        for (index, item) in items.enumerated() {
            for other in items.dropFirst(index + 1) {
                experiences.append(try Self.registered([item, other]))
            }
        }
        let table = try LookupIndex(experiences)
        let url = try Self.invocation()
        var probesLeft = LookupIndex.mostProbes
        #expect(table.find(url, of: 0, probesLeft: &probesLeft) != nil)
        #expect(probesLeft == 0)
    }

    @Test func lookupHandlesRepeatedQueryItem() throws {
        let table = try LookupIndex([Self.registered(["a"]), Self.registered(["a", "b"])])
        let repeated = String(repeating: "a&", count: 1_000)
        #expect(
            try table.mostSpecific(for: "https://example.com?\(repeated)")?.url == "https://example.com?a")
        let both = try table.mostSpecific(for: "https://example.com?b&\(repeated)")
        #expect(both?.url == "https://example.com?a&b")
    }

    @Test func lookupFindsSmallestOfManySingleItemURLs() throws {
        let table = try LookupIndex(Self.items.map { try Self.registered([$0]) })
        #expect(try table.mostSpecific(for: Self.invocation())?.url == "https://example.com?0")
    }
}

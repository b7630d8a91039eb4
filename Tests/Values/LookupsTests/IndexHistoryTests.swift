import Formats
import Foundation
import Geodesy
import Invocation
import PropertyTesting
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

/// Compares an index after many changes with indexes that are made from the remaining rows.
@Suite struct IndexHistoryTests {
    private struct RowKey: Hashable {
        let relation: IndexRelation
        let tenant: TenantID
        let key: [String]
        /// The key as bytes, because `String` compares composed and decomposed characters as equal.
        let bytes: [[UInt8]]

        init(_ relation: IndexRelation, of tenant: TenantID, _ key: [String]) {
            self.relation = relation
            self.tenant = tenant
            self.key = key
            bytes = key.map { Array($0.utf8) }
        }

        static func == (one: Self, other: Self) -> Bool {
            one.relation == other.relation && one.tenant == other.tenant && one.bytes == other.bytes
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(relation)
            hasher.combine(tenant)
            hasher.combine(bytes)
        }
    }

    private struct Rows {
        /// Each row, and the clip that it is the default experience of.
        var rows: [RowKey: (row: IndexRow, defaultOf: String?)] = [:]

        /// An index of all rows, or of one tenant's rows, inserted in random order.
        func table(of tenant: TenantID? = nil) throws -> LookupIndex {
            var table = LookupIndex()
            for (key, value) in rows where tenant == nil || key.tenant == tenant {
                try table.set(key.relation, value.row)
            }
            return table
        }
    }

    private struct Answers: Equatable {
        var experiences: [IndexedExperience?] = []
        var areByDefaultLink: [Bool?] = []
        /// The presentation of each URL's experience and location.
        var presentations: [Presentation?] = []
        var locations: [Location?] = []
        /// The locations near one location, each with its URL.
        var nearby: [[NearbyLocation]?] = []
        var urls: [String?] = []
        var holders: [KeyHolder?] = []
        /// For each host of this tenant: the clips, and the URLs with their clips.
        var sites: [String?] = []
        var revoked: [Bool] = []

        init(_ table: LookupIndex, of tenant: TenantID, _ questions: Questions) {
            let mine = table.of(tenant)
            for (url, prefersAdvanced) in questions.urls {
                let match = mine.match(url, preferringAdvanced: prefersAdvanced)
                experiences.append(match?.experience)
                areByDefaultLink.append(match?.isByDefaultLink)
                let lookup = mine.lookUp(url)
                presentations.append(
                    lookup.experience.map { mine.presentation(of: $0, at: lookup.location) })
            }
            locations = questions.identifiers.map { mine.location($0) }
            nearby = questions.urls.prefix(4).map { url, _ in
                try? mine.nearby(
                    mine.launch(by: url), from: Coordinate(latitude: 52, longitude: 13),
                    within: NearbyLocation.maximumDistance, limit: 50
                ).locations
            }
            urls = questions.codes.map { mine.url(ofShortCode: $0)?.canonical }
            holders = questions.digests.map { table.keyHolder(of: $0, at: questions.now) }
                .map { $0?.tenant == tenant ? $0 : nil }
            revoked = IndexHistoryTests.attestKeys.map { mine.isRevoked(attestKey: $0) }
            sites = IndexHistoryTests.hosts.map { host in
                guard let site = table.site(ofHost: host), site.tenant == tenant else { return nil }
                let clips = site.clips.map { "\($0.teamID).\($0.bundleID) \($0.parentBundleID)" }.sorted()
                let urls = site.links?.map { "\($0.group) \($0.clip)" }.sorted()
                let pages = table.provedHost(host).map { "\($0.pages) \($0.tenant)" }
                return "\(clips) \(urls ?? []) \(site.content ?? "-") \(pages ?? "-")"
            }
        }
    }

    private struct Questions {
        var urls: [(InvocationURL, Bool)] = []
        var identifiers: [LocationIdentifier] = []
        var codes: [String] = []
        var digests: [[UInt8]] = []
        var now = Date.year2000
    }

    private static let tenants = (1...3).map { TenantID(number: $0) }
    private static let clips = ["com.example.A.Clip", "com.example.B.Clip"]
    private static let identifiers = ["a", "b", "caf\u{E9}", "cafe\u{301}"]
    private static let codes = ["x", "X", "y"]

    private static let attestKeys = (0..<4).map { [UInt8](repeating: $0, count: 32) }

    private static let hosts = ["a.example", "b.example"]

    private static func url(_ random: inout SplitMix64) -> String {
        var text = "https://" + random.pick(hosts)
        for _ in 0..<random.below(3) { text += "/" + random.pick(["x", "y"]) }
        let items = Set((0..<random.below(4)).map { _ in random.pick(["p=1", "p=2", "q", "r"]) })
        return items.isEmpty ? text : text + "?" + items.sorted().joined(separator: "&")
    }

    /// A digest that no other key has.
    private static func digest(_ number: Int) -> [UInt8] {
        [UInt8](bigEndian: UInt64(number)) + [UInt8](repeating: 0, count: 24)
    }

    private static func questions(_ random: inout SplitMix64, issued: Int) throws -> Questions {
        var questions = Questions()
        for _ in 0..<12 {
            let text =
                random.oneIn(4)
                ? "https://appclip.apple.com/id?p=" + random.pick(clips) : url(&random)
            questions.urls.append((try InvocationURL(text), random.oneIn(3)))
        }
        questions.identifiers = try identifiers.map { try LocationIdentifier($0) }
        questions.codes = codes
        questions.digests = (max(0, issued - 12)...issued).map(digest)
        questions.now = Date.year2000.addingTimeInterval(Double(random.below(20)))
        return questions
    }

    /// Makes a row and its key.
    private static func row(
        _ relation: IndexRelation, of tenant: TenantID, _ random: inout SplitMix64, issued: inout Int
    ) -> (row: IndexRow, key: [String], defaultOf: String?) {
        let clip = random.pick(clips)
        switch relation {
        case .tenants: return (.tenant(tenant, isSuspended: random.oneIn(2)), [], nil)
        case .clips:
            let row = IndexRow.clip(
                tenant, clip, isMultiBusiness: random.oneIn(2), appStoreID: random.pick([nil, "1", "2"]),
                card: random.pick([nil, #"{"texts": {"EN": {"title": "E"}, "DE": {"title": "F"}}}"#]))
            return (row, [clip], nil)
        case .keys:
            issued += 1
            let id = KeyID(UUID(number: UInt8(random.below(4))))
            let expiry = random.oneIn(2) ? Int64(random.below(20)) * 1_000_000 : nil
            let row = IndexRow.key(
                tenant, id, digest(issued), kind: random.pick(KeyKind.allCases), expiresAt: expiry,
                locations: random.oneIn(2) ? nil : random.pick(identifiers))
            return (row, [id.description], nil)
        case .domains:
            let host = random.pick(hosts)
            let content = random.oneIn(2) ? "{\"a\":\(random.below(3))}" : nil
            let row = IndexRow.domain(
                tenant, host, content: content, pages: random.pick(DomainPages.allCases))
            return (row, [host], nil)
        case .locations:
            let identifier = random.pick(identifiers)
            let row = IndexRow.location(
                tenant, identifier, name: random.pick(["one", "two"]),
                latitude: random.pick([52, 52.001, 52.3, -90]), radius: Double(1 + random.below(500)),
                details: random.pick([nil, "{}", #"{"phone": "1"}"#, #"{"phone": "2", "e": "3"}"#]),
                card: random.pick([nil, nil, #"{"texts": {"EN": {"title": "A"}}}"#]),
                cardImage: random.pick([nil, String(repeating: "a1", count: 32)]))
            return (row, [identifier], nil)
        case .experiences:
            let kind = random.pick(ExperienceKind.allCases)
            let url = url(&random)
            let binding = random.below(3)
            let row = IndexRow.experience(
                tenant, kind.rawValue, url, clip: clip,
                location: binding == 1 ? random.pick(identifiers) : nil,
                rule: binding == 2 ? random.pick(["path:1", "query:p", "hash:q"]) : nil,
                title: random.pick([nil, "B", "C"]),
                card: random.pick([nil, #"{"texts": {"EN": {"subtitle": "D"}}}"#]))
            return (row, [kind.rawValue, url], kind == .default ? clip : nil)
        case .shortCodes:
            let code = random.pick(codes)
            return (.shortCode(tenant, code, url(&random)), [code], nil)
        case .revokedAttestKeys:
            let key = random.pick(attestKeys)
            return (.revokedAttestKey(tenant, key), ["\\x" + Base16.text(key)], nil)
        }
    }

    @Test func tableAfterHistoryEqualsTableOfRemainingRows() throws {
        var random = SplitMix64(seed: 5)
        var table = LookupIndex()
        var rows = Rows()
        var issued = 0
        var copies: [(table: LookupIndex, questions: Questions, responses: [Answers])] = []
        var found = 0
        var near = 0
        var described = 0

        func remove(_ key: RowKey) {
            table.remove(key.relation, of: key.tenant, key: key.key)
            rows.rows[key] = nil
        }

        for step in 1...4_000 {
            let tenant = random.pick(Self.tenants)
            let relation = random.oneIn(2) ? .experiences : random.pick(IndexRelation.allCases)
            let (row, key, defaultOf) = Self.row(relation, of: tenant, &random, issued: &issued)
            let rowKey = RowKey(relation, of: tenant, key)
            switch random.below(100) {
            case 0..<75:
                // A clip has one default experience. The row of the other default is removed before or after the new one is set.
                let other = rows.rows.first { known in
                    defaultOf != nil && known.key.tenant == tenant && known.value.defaultOf == defaultOf
                        && known.key != rowKey
                }
                let isRemovedFirst = random.oneIn(2)
                if let other, isRemovedFirst { remove(other.key) }
                // A host is proved for one tenant. The row of the other tenant is removed before or after the new one is set.
                let taken = rows.rows.keys.first {
                    relation == .domains && $0.relation == .domains && $0.key == key && $0.tenant != tenant
                }
                if let taken, isRemovedFirst { remove(taken) }
                try table.set(relation, row)
                rows.rows[rowKey] = (row, defaultOf)
                if let other, !isRemovedFirst { remove(other.key) }
                if let taken, !isRemovedFirst { remove(taken) }
            case 75..<98: remove(rowKey)
            case 98:
                table.removeAll(relation, of: tenant)
                rows.rows = rows.rows.filter { $0.key.relation != relation || $0.key.tenant != tenant }
            default: table.compact()
            }
            guard step % 40 == 0 else { continue }

            let questions = try Self.questions(&random, issued: issued)
            let fresh = try rows.table()
            let reread = try table.fileBytes().reread()
            var all: [Answers] = []
            for tenant in Self.tenants {
                let responses = Answers(table, of: tenant, questions)
                #expect(responses == Answers(fresh, of: tenant, questions), "step \(step)")
                #expect(responses == Answers(reread, of: tenant, questions), "step \(step)")
                let alone = try rows.table(of: tenant)
                #expect(responses == Answers(alone, of: tenant, questions), "step \(step), alone")
                near += responses.nearby.reduce(0) { $0 + ($1?.count ?? 0) }
                found += responses.experiences.count { $0 != nil } + responses.holders.count { $0 != nil }
                described += responses.sites.count { $0?.contains("https") == true }
                all.append(responses)
            }
            #expect(table.experienceCount == rows.rows.keys.count { $0.relation == .experiences })
            #expect(table.locationCount == rows.rows.keys.count { $0.relation == .locations })
            #expect(table.tenantCount == rows.rows.keys.count { $0.relation == .tenants })
            if step % 400 == 0 { copies.append((table, questions, all)) }
        }
        for copy in copies {
            #expect(Self.tenants.map { Answers(copy.table, of: $0, copy.questions) } == copy.responses)
        }
        #expect(found > 1_000)
        #expect(near > 100)
        #expect(described > 100)
        for tenant in Self.tenants { table.removeAll(.experiences, of: tenant) }
        #expect(table.experienceCount == 0)
        #expect(table.queryNodes.count == 0)
        for tenant in Self.tenants { table.removeAll(.clips, of: tenant) }
        #expect(table.hosts.count == 0 && table.rules.count == 0 && table.clipIndices.isEmpty)
    }
}

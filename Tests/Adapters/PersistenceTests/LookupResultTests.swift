import Administration
import Foundation
import Geodesy
import Invocation
import Lookups
import Persistence
import PostgreSQL
import PropertyTesting
import Tenancy
import TestSupport
import Testing

/// Compares lookups in the index with results that SQL computes from the tables.
@Suite struct LookupResultTests {
    private static let hosts = ["a.example", "a.example", "b.example", "x-1.c.example", "appclip.apple.com"]
    private static let components = [
        "x", "y", "X", "", "%2F", "%C3%A9", "e%CC%81", "%FF", "id", "a%25b", "7",
    ]
    private static let items = [
        "p=1", "p=2", "p", "q", "r=%22", "r=%5C", "r=%C3%A9", "{}", "a,b=NULL", "NULL", "c=k1", "c=k%202",
        "c=K1",
        "p=x", "p=7", "p=%FF",
    ]
    private static let identifiers = [
        "x", "y", "X", "/", "é", "e\u{301}", "id", "a%b", "7", "1", "2", "\"", "\\", "Ü",
    ]
    private static let codes = ["k1", "k 2", "7", "x", "é"]
    private static let rules = [
        "path:1", "path:2", "query:p", "query:r", "hash:c", "hash:p", "coordinates:p,q",
    ]

    private static func clips(_ owner: String) -> [String] { (0..<40).map { "com.\(owner).App\($0).Clip" } }

    private static func url(_ random: inout SplitMix64, longest: Int, clips: [String]) -> String {
        let host = random.pick(hosts)
        if host == "appclip.apple.com", !random.oneIn(4) {
            let more = random.oneIn(2) ? "" : "&\(random.pick(items))"
            return "https://\(host)/id?p=\(random.pick(clips))\(more)"
        }
        var text = "https://" + host
        for _ in 0..<random.below(longest + 1) { text += "/" + random.pick(components) }
        let count = random.below(3) * random.below(3)
        let query = (0..<count).map { _ in random.pick(items) }
        return text + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// A URL as people write it: registered, longer than a registered one, a part of one, or random.
    private static func invocation(
        _ random: inout SplitMix64, _ registered: [String], clips: [String]
    ) -> String {
        if random.oneIn(3) {
            return url(&random, longest: 6, clips: clips)
                .replacing(
                    "https://a.example", with: random.oneIn(9) ? "http://a.example" : "HTTPS://A.example:443")
        }
        let parts = random.pick(registered).split(separator: "?", omittingEmptySubsequences: false)
        var path = String(parts[0])
        switch random.below(6) {
        case 0, 1: path += "/" + random.pick(components)
        case 2: path += "/" + random.pick(components) + "/" + random.pick(components)
        case 3:
            let components = path.split(separator: "/", omittingEmptySubsequences: false)
            if components.count > 3 { path = components.dropLast().joined(separator: "/") }
        default: break
        }
        var query = parts.dropFirst().flatMap { $0.split(separator: "&").map(String.init) }
        if random.oneIn(2) { query.append(random.pick(items)) }
        if random.oneIn(3) { query.reverse() }
        let fragment = random.oneIn(8) ? "#p=1" : ""
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")) + fragment
    }

    private static func experiences(
        _ random: inout SplitMix64, _ urls: [String], clips: [String]
    ) -> [ExperienceRecord] {
        var records: [String: ExperienceRecord] = [:]
        var defaults: Set<String> = []
        for url in urls {
            let kind = random.pick([.advanced, .advanced, .advanced, .demo, .default] as [ExperienceKind])
            // A default link is registered for the clip that it names.
            let named = url.split(separator: "p=").last.map { String($0.prefix { $0 != "&" }) }
            let clip = named.flatMap { clips.contains($0) ? $0 : nil } ?? random.pick(clips)
            let binding = random.below(4)
            let record = try? ExperienceRecord.sample(
                url, kind: kind, clip: clip, location: binding == 0 ? random.pick(identifiers) : nil,
                rule: binding == 1 || binding == 2 ? random.pick(rules) : nil)
            guard let record, kind != .default || defaults.insert(clip).inserted else { continue }
            records["\(kind) \(record.experience.url)"] = record
        }
        return Array(records.values)
    }

    /// Gives two tenants the same URLs, locations and codes, with different clips, bindings and names.
    private static func fill(
        _ stores: Stores, _ tenant: TenantID, _ owner: String, _ urls: [String], _ random: inout SplitMix64
    ) async throws {
        let clips = clips(owner)
        for (number, clip) in clips.enumerated() {
            try await stores.createClip(clip, multiBusiness: number % 2 == 0, of: tenant)
        }
        var locations: [LocationRecord] = []
        for identifier in identifiers {
            locations.append(
                try .sample(
                    identifier, name: "\(identifier) of \(owner)",
                    latitude: Double.random(in: -90...90, using: &random),
                    longitude: Double.random(in: -180...180, using: &random),
                    radius: Double.random(in: 1...500, using: &random)))
        }
        try await stores.importLocations(locations, of: tenant)
        // Only one tenant has this location.
        try await stores.importLocations([.sample("only \(owner)")], of: tenant)
        try await stores.importShortCodes(
            codes.map { try .sample($0, "https://a.example/\(owner)?\($0.utf8.count)") }, of: tenant)
        let outcome = try await stores.importExperiences(
            experiences(&random, urls, clips: clips), of: tenant)
        #expect(outcome.problems == nil)
    }

    private static let count = 100_000

    /// A lookup and its result in the index, as fields of a COPY.
    ///
    /// The test computes the value that an identifier rule reads without code of the index.
    private static func row(
        _ id: Int, _ text: String, _ tenant: TenantID, _ table: LookupIndex, prefersAdvanced: Bool
    ) throws -> [String?] {
        let url = try InvocationURL(text)
        let question: [String?] = [
            String(id), tenant.description, prefersAdvanced ? "t" : "f", url.canonicalWithoutFragment,
        ]
        let table = table.of(tenant)
        guard let match = table.match(url, preferringAdvanced: prefersAdvanced) else {
            return question + [String?](repeating: nil, count: 14)
        }
        let experience = match.experience
        var location: String?
        var rule: String?
        switch experience.binding {
        case .unbound: break
        case .location(let identifier): location = identifier.text
        case .rule(let found): rule = found.description
        }
        var identifier = location
        var code: String?
        switch experience.readIdentifier(in: url, by: match) {
        case .identifier(let read): identifier = read.text
        case .shortCode(let read): code = read
        case .absent, .place: break
        }
        let found = try identifier.flatMap { try table.location(LocationIdentifier($0)) }
        return question + [
            experience.kind.rawValue, experience.url, experience.clip.text,
            experience.clipIsMultiBusiness ? "t" : "f", location, rule, match.isByDefaultLink ? "t" : "f",
            rule.flatMap { value(of: $0, in: url.canonicalWithoutFragment, after: experience.url) },
            found?.identifier.text, found?.name, found?.region.center.latitude.description,
            found?.region.center.longitude.description, found?.region.radius.meters.description,
            code.flatMap { table.url(ofShortCode: $0)?.canonical },
        ]
    }

    private static func value(of rule: String, in url: String, after registered: String) -> String? {
        func parts(_ text: String) -> (path: [Substring], query: [Substring]) {
            let parts = text.split(separator: "?", maxSplits: 1)
            return (
                parts[0].split(separator: "/", omittingEmptySubsequences: false),
                parts.count < 2 ? [] : parts[1].split(separator: "&")
            )
        }
        let argument = rule.split(separator: ":")[1]
        let text: Substring?
        if rule.hasPrefix("path:") {
            let index = parts(registered).path.count + (Int(argument) ?? 0) - 1
            let path = parts(url).path
            text = index < path.count ? path[index] : nil
        } else {
            let item = parts(url).query.first { $0 == argument || $0.hasPrefix(argument + "=") }
            text = item?.dropFirst(argument.count + 1)
        }
        guard let text, !text.isEmpty else { return nil }
        return String(text).removingPercentEncoding
    }

    @Test(.timeLimit(.minutes(30))) func lookupsMatchWhatSQLComputes() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            var random = SplitMix64(seed: 7)
            var urls: [String] = []
            for _ in 0..<3_000 { urls.append(Self.url(&random, longest: 5, clips: Self.clips("one"))) }
            try await Self.fill(stores, tenant, "one", urls, &random)
            try await Self.fill(stores, other, "two", urls, &random)
            let table = try await stores.loadTable()
            let questions = urls
            let clips = Self.clips("one").prefix(20) + Self.clips("two").prefix(20)
            let parts = try await withThrowingTaskGroup(of: [[String?]].self) { group in
                for part in 0..<4 {
                    group.addTask {
                        var random = SplitMix64(seed: UInt64(part))
                        return try stride(from: part, to: Self.count, by: 4).map { id in
                            let text = Self.invocation(&random, questions, clips: Array(clips))
                            return try Self.row(
                                id, text, random.oneIn(3) ? other : tenant, table,
                                prefersAdvanced: random.oneIn(8))
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.execute(script: Self.questionTable)
                    let copied = try await transaction.copyIn("COPY given FROM STDIN") { writer in
                        for row in parts.joined() { try await writer.writeRow(row) }
                    }
                    #expect(copied == Self.count)
                    try await transaction.execute(script: Self.computation)
                    for row in try await transaction.execute(Self.differences) {
                        Issue.record("\(try row.decode(at: 0, as: String.self))")
                    }
                    let (matched, links, located, read, coded, advanced) = try await transaction.execute(
                        Self.metrics
                    ).one().decode(Int.self, Int.self, Int.self, Int.self, Int.self, Int.self)
                    // Each case occurred often enough.
                    #expect((Self.count / 2..<Self.count * 9 / 10).contains(matched), "\(matched)")
                    for (name, number) in [
                        ("by default link", links), ("located", located), ("read from the URL", read),
                        ("by short code", coded), ("advanced ones first", advanced),
                    ] {
                        #expect(number > 1_000, "\(name): \(number)")
                    }
                }
            }
        }
    }

    private static let questionTable = """
        CREATE TEMPORARY TABLE given (
            id int, tenant_id uuid, prefers_advanced bool, asked text COLLATE "C",
            kind text, url text COLLATE "C", bundle_id text, multi_business bool, location_identifier text COLLATE "C",
            identifier_rule text, is_by_link bool, value text COLLATE "C", identifier text COLLATE "C", name text,
            latitude float8, longitude float8, radius float8, code_url text
        ) ON COMMIT DROP
        """

    /// SQL computes from the tables: the host, path and query items of each lookup; all experiences that are prefixes of it; the
    /// first of these by the rules, or the default experience of the clip in a default link, registered or not; and the location.
    private static let computation = """
        SET LOCAL work_mem = '64MB';
        SET LOCAL jit = off;
        ANALYZE given;
        CREATE TEMPORARY TABLE question ON COMMIT DROP AS
        SELECT id, tenant_id, prefers_advanced, asked, value,
            string_to_array(substr(split_part(asked, '?', 1), 9), '/') AS path,
            coalesce(string_to_array(nullif(substr(asked, nullif(strpos(asked, '?'), 0) + 1), ''), '&'), '{}') AS items
        FROM given WHERE asked LIKE 'https://%';
        CREATE TEMPORARY TABLE prefix ON COMMIT DROP AS
        SELECT DISTINCT id, tenant_id, array_to_string(path[1:n], '/') COLLATE "C" AS match_key, item
        FROM question, generate_series(1, cardinality(path)) AS n, unnest(ARRAY[''] || items) AS item;
        CREATE TEMPORARY TABLE registered ON COMMIT DROP AS
        SELECT *, substr(split_part(url, '?', 1), 9) AS match_key, ARRAY(
            SELECT DISTINCT i FROM unnest(string_to_array(substr(url, nullif(strpos(url, '?'), 0) + 1), '&')) AS i
            ORDER BY i) AS query_items
        FROM doorstep.experiences;
        ANALYZE question, prefix, registered;

        CREATE TEMPORARY TABLE link ON COMMIT DROP AS
        SELECT id, tenant_id, substr(items[1], 3) COLLATE "C" AS bundle_id FROM question
        WHERE path = '{appclip.apple.com,id}' AND items[1] LIKE 'p=%';
        CREATE TEMPORARY TABLE direct ON COMMIT DROP AS
        SELECT DISTINCT ON (q.id) q.id, e.*
        FROM question q JOIN prefix p USING (id)
        JOIN registered e
            ON e.tenant_id = q.tenant_id AND e.match_key = p.match_key AND coalesce(e.query_items[1], '') = p.item
        LEFT JOIN link l ON l.id = q.id
        WHERE e.query_items <@ q.items
            AND CASE
                WHEN e.kind = 'demo' THEN e.url = q.asked
                WHEN e.kind = 'default' AND split_part(e.match_key, '/', 1) = 'appclip.apple.com'
                    THEN l.bundle_id IS NOT DISTINCT FROM e.bundle_id
                ELSE true
            END
        ORDER BY q.id, q.prefers_advanced AND e.kind = 'advanced' DESC,
            cardinality(string_to_array(e.match_key, '/')) DESC, cardinality(e.query_items) DESC,
            array_position('{advanced,default,demo}', e.kind), e.url;
        CREATE TEMPORARY TABLE chosen ON COMMIT DROP AS
        SELECT *, false AS is_by_link FROM direct
        UNION ALL
        SELECT l.id, e.*, true FROM link l JOIN question q USING (id)
        JOIN registered e ON e.tenant_id = l.tenant_id AND e.bundle_id = l.bundle_id AND e.kind = 'default'
        WHERE NOT EXISTS (SELECT FROM direct d WHERE d.id = l.id);

        CREATE TEMPORARY TABLE unregistered ON COMMIT DROP AS
        SELECT l.id, 'default' AS kind, 'https://appclip.apple.com/id?p=' || l.bundle_id AS url, l.bundle_id,
            k.multi_business, true AS is_by_link
        FROM link l JOIN doorstep.clips k USING (tenant_id, bundle_id)
        WHERE NOT EXISTS (SELECT FROM chosen c WHERE c.id = l.id);

        CREATE TEMPORARY TABLE expected ON COMMIT DROP AS
        SELECT g.id, coalesce(c.kind, u.kind) AS kind, coalesce(c.url, u.url) AS url,
            coalesce(c.bundle_id, u.bundle_id) AS bundle_id, coalesce(k.multi_business, u.multi_business) AS multi_business,
            c.location_identifier, c.identifier_rule, coalesce(c.is_by_link, u.is_by_link) AS is_by_link,
            l.identifier, l.name, l.latitude, l.longitude, l.radius, s.url AS code_url
        FROM given g
        LEFT JOIN chosen c ON c.id = g.id
        LEFT JOIN unregistered u ON u.id = g.id
        LEFT JOIN doorstep.clips k ON k.tenant_id = g.tenant_id AND k.bundle_id = c.bundle_id
        LEFT JOIN doorstep.locations l ON l.tenant_id = g.tenant_id AND l.identifier = CASE
            WHEN c.identifier_rule LIKE 'path:%' AND NOT c.is_by_link OR c.identifier_rule LIKE 'query:%' THEN g.value
            ELSE c.location_identifier END
        LEFT JOIN doorstep.short_codes s
            ON s.tenant_id = g.tenant_id AND c.identifier_rule LIKE 'hash:%' AND s.code = g.value
        """

    private static let differences: Query = """
        SELECT concat_ws(' ', g.asked, 'gave', g.kind, g.url, g.identifier, g.code_url, 'for', e.kind, e.url, e.identifier,
            e.code_url)
        FROM given g JOIN expected e USING (id)
        WHERE (g.kind, g.url, g.bundle_id, g.multi_business, g.location_identifier, g.identifier_rule, g.is_by_link,
                g.identifier, g.name, g.latitude, g.longitude, g.radius, g.code_url)
            IS DISTINCT FROM
            (e.kind, e.url, e.bundle_id, e.multi_business, e.location_identifier, e.identifier_rule, e.is_by_link,
                e.identifier, e.name, e.latitude, e.longitude, e.radius, e.code_url)
        ORDER BY id LIMIT 10
        """

    private static let metrics: Query = """
        SELECT count(kind), count(*) FILTER (WHERE e.is_by_link), count(e.location_identifier),
            count(*) FILTER (WHERE e.identifier IS NOT NULL AND e.identifier_rule IS NOT NULL),
            count(e.code_url), count(*) FILTER (WHERE q.prefers_advanced AND kind IS NOT NULL)
        FROM expected e JOIN (SELECT id, prefers_advanced FROM given) q USING (id)
        """

    @Test func hashRuleFollowsImportedShortCode() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.importExperiences(
                [
                    .sample("https://example.com/s", rule: "hash:c"),
                    .sample("https://example.com/long", rule: "path:1"),
                ], of: tenant)
            try await stores.importShortCodes(
                [
                    .sample("k 1", "https://EXAMPLE.com/long/a/?menu=today"),
                    .sample("k2", "https://example.com/s?c=k%201"),
                ], of: tenant)
            let table = try await stores.loadTable().of(tenant)
            // A code does not lead to another code. An unknown code has no location.
            for (query, identifier) in [("k%201", "a"), ("k2", nil), ("K%201", nil)] {
                let url = try InvocationURL("https://example.com/s?c=\(query)")
                let found = table.lookUp(url)
                #expect(found.location?.identifier.text == identifier, "\(query)")
            }
        }
    }

    /// An index does not change while newer versions replace it.
    @Test func lookupIndexIsASnapshot() async throws {
        try await Stores.withTenant { stores, tenant in
            let a = try LocationIdentifier("a")
            try await stores.importLocations([.sample("a", radius: 1)], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            let before = try await followed.refreshed()
            try await stores.importLocations([.sample("a", radius: 2)], of: tenant)
            let after = try await followed.refreshed()
            #expect(before.of(tenant).location(a)?.region.radius.meters == 1)
            #expect(after.of(tenant).location(a)?.region.radius.meters == 2)
        }
    }
}

/// Warnings about the experiences of one tenant.
///
/// The exact rules [ours]:
/// - `rawPrefixDivergence`: the URL's text begins with the text of another URL that is not a prefix of it
///   by components, and the URL between them is not registered. Example: beside `/store` and
///   `/store2/menu`, `/store2/other` would lead to `/store` by raw text and leads to nothing by components.
///   If `/store2` itself is registered, both readings agree.
/// - `shadowed`: another experience has the same host, path and set of query items and takes precedence, so
///   it is chosen for every invocation that both match. Experiences with longer paths cannot shadow one on
///   every path: its own URL always remains. The clip's default link still reaches a shadowed default
///   experience.
/// - `queryTie`: another experience of the same kind has the same host, path and number of query items, but
///   other items, and no name has different values in the two. An invocation with each name once can match
///   both. One finding per experience, naming the one that is chosen. Names given twice in one URL are
///   ignored.
/// - `codeUnfit`: an advanced experience whose URL is refused by `AppClipCodeURL`.
/// - `codeTooLong`: an advanced experience whose URL is too long for a code by its estimated size. The URL of a
///   code is often longer than the experience's.
/// - `demoLink`: a demo experience whose URL has another host than Apple's, or a query.
///
/// The first and the third rule ignore demo experiences, which match only their own URL.
public struct ExperienceLint: Sendable {
    /// The warnings, by code and then in order of precedence of the experiences; independent of the input's
    /// order.
    public let findings: [LintFinding]

    public init(_ experiences: some Sequence<Experience>) {
        let ordered = experiences.sorted { $0.precedes($1) }
        let prefixes = ordered.filter { $0.kind != .demo }
        findings =
            Self.rawPrefixDivergences(prefixes) + Self.queryTies(prefixes) + Self.shadowed(ordered)
            + Self.codes(ordered) + Self.demoLinks(ordered)
    }

    private static func rawPrefixDivergences(_ experiences: [Experience]) -> [LintFinding] {
        // In byte order, a text follows its prefixes, and only texts that share them are between.
        let byText = experiences.sorted {
            $0.url != $1.url
                ? $0.url.canonical.utf8.lexicographicallyPrecedes($1.url.canonical.utf8) : $0.precedes($1)
        }
        let texts = Set(experiences.map(\.url.canonical))
        var findings: [LintFinding] = []
        var prefixes: [Experience] = []
        for experience in byText where prefixes.last?.url != experience.url {
            while let last = prefixes.last,
                !experience.url.canonical.utf8.starts(with: last.url.canonical.utf8)
            {
                prefixes.removeLast()
            }
            if let longest = prefixes.last, !longest.url.isPrefix(of: experience.url),
                !texts.contains(experience.url.firstPart(after: longest.url))
            {
                findings.append(
                    LintFinding(code: .rawPrefixDivergence, experience: experience, other: longest))
            }
            prefixes.append(experience)
        }
        return findings.sorted { $0.experience.precedes($1.experience) }
    }

    private static func shadowed(_ experiences: [Experience]) -> [LintFinding] {
        var first: [ShadowKey: Experience] = [:]
        return experiences.compactMap { experience in
            let key = ShadowKey(path: experience.url.hostAndPath, items: experience.url.queryItems)
            guard let other = first[key] else {
                // A demo matches one text only, so it shadows no others.
                if experience.kind != .demo, experience.isOpenToItsPrefix { first[key] = experience }
                return nil
            }
            return LintFinding(code: .shadowed, experience: experience, other: other)
        }
    }

    /// The URLs that no App Clip Code can have, then those that are too long for one.
    private static func codes(_ experiences: [Experience]) -> [LintFinding] {
        var unfit: [LintFinding] = []
        var tooLong: [LintFinding] = []
        for experience in experiences where experience.kind == .advanced {
            switch (try? AppClipCodeURL(experience.url.canonical))?.fit {
            case .refused: unfit.append(LintFinding(code: .codeUnfit, experience: experience, other: nil))
            case .tooLong: tooLong.append(LintFinding(code: .codeTooLong, experience: experience, other: nil))
            case .fits, .unknown, nil: break
            }
        }
        return unfit + tooLong
    }

    private static func demoLinks(_ experiences: [Experience]) -> [LintFinding] {
        experiences.filter { $0.kind == .demo && !$0.isDemoLink }
            .map { LintFinding(code: .demoLink, experience: $0, other: nil) }
    }

    private struct ShadowKey: Hashable {
        let path: [String]
        let items: [QueryItem]
    }
}

extension ExperienceLint {
    private struct TieGroup: Hashable {
        let path: [String]
        let count: Int
        let kind: ExperienceKind
    }

    /// The experiences of one tie group that use the same names, for lookup by the values of some of them.
    private struct SameNames {
        let names: [String]
        private(set) var experiences: [Experience] = []
        private var firstByValues: [[String]: [[String]: Experience]] = [:]

        init(names: [String]) {
            self.names = names
        }

        /// - Parameter experience: An experience that comes after those appended before it.
        mutating func append(_ experience: Experience) {
            experiences.append(experience)
            for shared in firstByValues.keys {
                let values = experience.url.values(of: shared)
                if firstByValues[shared]?[values] == nil { firstByValues[shared]?[values] = experience }
            }
        }

        /// Returns the first experience with these values for some of the names.
        mutating func first(where shared: [String], are values: [String]) -> Experience? {
            if firstByValues[shared] == nil {
                firstByValues[shared] = Dictionary(
                    experiences.map { ($0.url.values(of: shared), $0) },
                    uniquingKeysWith: { first, _ in first })
            }
            return firstByValues[shared]?[values]
        }
    }

    /// The maximum number of lookups in one tie group, which only thousands of URLs with different names
    /// would exceed.
    private static let maximumTieLookUps = 1_000_000

    private static func queryTies(_ experiences: [Experience]) -> [LintFinding] {
        let eligible = experiences.filter { !$0.url.queryItems.isEmpty && $0.url.hasEachNameOnce }
        let groups = Dictionary(grouping: eligible) {
            TieGroup(path: $0.url.hostAndPath, count: $0.url.queryItems.count, kind: $0.kind)
        }
        return groups.values.flatMap(tiesInGroup).sorted { $0.experience.precedes($1.experience) }
    }

    /// - Parameter experiences: In order of precedence.
    private static func tiesInGroup(_ experiences: [Experience]) -> [LintFinding] {
        var families: [SameNames] = []
        var places: [[String]: Int] = [:]
        var findings: [LintFinding] = []
        var lookUps = 0
        for experience in experiences {
            let names = experience.url.queryItems.map(\.name).sorted()
            for place in families.indices where families[place].names != names {
                lookUps += 1
                guard lookUps <= maximumTieLookUps else { return findings }
                let shared = names.filter(families[place].names.contains)
                if let other = families[place].first(where: shared, are: experience.url.values(of: shared)) {
                    findings.append(LintFinding(code: .queryTie, experience: experience, other: other))
                    break
                }
            }
            let place = places[names] ?? families.count
            if place == families.count { families.append(SameNames(names: names)) }
            places[names] = place
            families[place].append(experience)
        }
        return findings
    }
}

extension Experience {
    /// Whether every invocation with the URL as prefix may launch this experience.
    fileprivate var isOpenToItsPrefix: Bool {
        kind == .advanced || kind == .default && DefaultLink(url) == nil
    }
}

extension URLPrefix {
    /// Whether this prefix matches every invocation that the other matches.
    fileprivate func isPrefix(of other: URLPrefix) -> Bool {
        host == other.host && other.pathComponents.starts(with: pathComponents)
            && queryItems.allSatisfy(other.queryItems.contains)
    }

    /// The beginning of the text that completes the component or query item in which another URL's text
    /// ends.
    fileprivate func firstPart(after prefix: URLPrefix) -> String {
        let rest = canonical.utf8.dropFirst(prefix.canonical.utf8.count)
        let isInQuery = prefix.canonical.utf8.contains(UInt8(ascii: "?"))
        let end = rest.firstIndex {
            isInQuery ? $0 == UInt8(ascii: "&") : $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?")
        }
        return String(canonical[..<(end ?? canonical.endIndex)])
    }

    fileprivate var hasEachNameOnce: Bool {
        Set(queryItems.map(\.name)).count == queryItems.count
    }

    /// The values of some names, each of which occurs once in the query.
    fileprivate func values(of names: [String]) -> [String] {
        names.map { name in queryItems.first { $0.name == name }?.value ?? "" }
    }
}

extension URLPrefix {
    /// Host and path: equal for two experiences that match the same paths.
    fileprivate var hostAndPath: [String] { [host] + pathComponents }
}

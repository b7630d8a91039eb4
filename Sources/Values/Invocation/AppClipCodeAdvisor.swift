import Codes

/// The advice on how to shorten a URL in an App Clip Code.
///
/// Most advice is Apple's ("Follow practices that allow for efficient encoding" and the following sections);
/// the better URL is [ours]. Advice is given only if the estimated size falls by more than 3 bits. Names of
/// query items are free as `p`, `p1` … if the path is empty or one listed word, and nothing follows the query.
/// [observed]
struct AppClipCodeAdvisor {
    /// The most effective advice first.
    private(set) var advice: [AppClipCodeURL.Advice] = []

    /// The smallest saving that is worth an advice, in bits; the estimate of a difference varies by this much.
    private static let minimumSaving = 3.0

    private let bits: Double
    private let host: String
    private let pathComponents: [String]
    private let queryItems: [(name: String, value: String)]
    private let fragment: String?
    private let hasTrailingSlash: Bool

    /// - Parameter text: the URL as written: canonical form has no trailing slash.
    init(_ url: InvocationURL, text: String) {
        host = url.host
        pathComponents = url.pathComponents
        queryItems = url.queryItems.map { ($0.name, $0.value) }
        fragment = url.fragment

        hasTrailingSlash = text.prefix { $0 != "?" && $0 != "#" }.hasSuffix("/")
        guard let size = CodeSizeEstimator.estimate(text) else {
            bits = 0
            return
        }
        bits = size.bits
        if hasTrailingSlash { add(.trailingSlash, url.canonical) }
        adviseOnText()
        adviseOnHost()
        adviseOnPath()
        adviseOnQuery()
        advice.sort { $0.savedBits > $1.savedBits }
    }

    private mutating func adviseOnText() {
        if (pathComponents + queryItems.map(\.value)).contains(where: Self.isNameWithCapitals) {
            let lowercased = { (text: String) in Self.isNameWithCapitals(text) ? text.lowercased() : text }
            add(
                .lowerCase,
                urlText(
                    path: pathComponents.map(lowercased),
                    query: queryItems.map { ($0.name, lowercased($0.value)) }))
        }
        if queryItems.isEmpty, let last = pathComponents.last, let dot = last.lastIndex(of: "."),
            dot > last.startIndex,
            ["html", "htm", "php"].contains(last[dot...].dropFirst())
        {
            add(.fileExtension, urlText(path: pathComponents.dropLast() + [String(last[..<dot])]))
        }
        let kept = queryItems.filter { !$0.name.hasPrefix("utm_") }
        if kept.count < queryItems.count { add(.trackingParameters, urlText(query: kept)) }
    }

    private mutating func adviseOnHost() {
        let bare = host.hasPrefix("www.") ? String(host.dropFirst(4)) : host
        if bare != host { add(.wwwSubdomain, urlText(host: bare)) }
        guard bare != registrable else { return }
        let better = "appclip." + registrable
        if !host.hasPrefix("appclip.") { add(.appclipSubdomain, urlText(host: better)) }
        if bare.dropLast(registrable.count + 1).contains(".") { add(.subdomains, urlText(host: better)) }
    }

    /// The host without subdomains, estimated without a list of public suffixes: two labels, or three under
    /// a country's code if the second is short, as in `example.co.uk`. [ours]
    private var registrable: String {
        let labels = host.split(separator: ".")
        let isUnderCountry =
            labels.count > 2 && labels[labels.count - 1].count == 2 && labels[labels.count - 2].count <= 3
        return labels.suffix(isUnderCountry ? 3 : 2).joined(separator: ".")
    }

    private mutating func adviseOnPath() {
        if let fragment, !fragment.isEmpty, queryItems.isEmpty {
            add(.fragment, urlText(query: named([fragment]), keepsFragment: false))
        }
        guard let first = pathComponents.first, fragment == nil else { return }
        if pathComponents.count > 1, !Self.isDecimal(first), !ListedWords.contains(first) {
            add(.pathWord, urlText(path: Array(pathComponents.dropFirst())))
        }
        let kept = ListedWords.contains(first) ? [first] : []
        let moved = Array(pathComponents.dropFirst(kept.count)) + queryItems.map(\.value)
        guard kept.count < pathComponents.count, moved.allSatisfy(Self.isNumber) else { return }
        add(.pathComponents, urlText(path: kept, query: named(moved)))
    }

    /// Whether names of query items can be left out: the path is empty or one listed word, and nothing
    /// follows the query.
    private var leavesNamesOut: Bool {
        fragment == nil && !hasTrailingSlash && pathComponents.count <= 1
            && pathComponents.allSatisfy { ListedWords.contains($0) }
            && queryItems.allSatisfy { !$0.value.isEmpty }
    }

    private mutating func adviseOnQuery() {
        let values = queryItems.map(\.value)
        let renamed = named(values)
        if leavesNamesOut, queryItems.map(\.name) != renamed.map(\.name) {
            add(.queryNames, urlText(query: renamed))
        }

        if values.contains(where: Self.isLongText) {
            let numbered = zip(queryItems, 1...).map { item, number in
                (item.name, Self.isLongText(item.value) ? String(number) : item.value)
            }
            add(.decimalValues, urlText(query: numbered))
        }
        if (pathComponents + values).contains(where: Self.isUniqueIdentifier) {
            let numbered = zip(pathComponents + values, 1...).map { text, number in
                Self.isUniqueIdentifier(text) ? String(number) : text
            }
            add(
                .uniqueIdentifier,
                urlText(
                    path: Array(numbered.prefix(pathComponents.count)),
                    query: Array(zip(queryItems.map(\.name), numbered.dropFirst(pathComponents.count)))))
        }
    }

    /// Adds an advice that saves enough. If two codes have the same better URL, the later and more specific one
    /// remains.
    private mutating func add(_ code: AppClipCodeURL.Advice.Code, _ better: String) {
        guard let size = CodeSizeEstimator.estimate(better), bits - size.bits > Self.minimumSaving else {
            return
        }
        advice.removeAll { $0.better == better }
        advice.append(
            AppClipCodeURL.Advice(code: code, better: better, savedBits: Int((bits - size.bits).rounded())))
    }

    /// The URL with some parts replaced.
    private func urlText(
        host: String? = nil, path: [String]? = nil, query: [(name: String, value: String)]? = nil,
        keepsFragment: Bool = true
    ) -> String {
        var text = "https://" + (host ?? self.host)
        for component in path ?? pathComponents { text += "/" + component }
        let items = (query ?? queryItems).map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
        if !items.isEmpty { text += "?" + items.joined(separator: "&") }
        if keepsFragment, let fragment { text += "#" + fragment }
        return text
    }

    /// The values under Apple's ordered names: `p`, `p1`, `p2`.
    private func named(_ values: [String]) -> [(name: String, value: String)] {
        zip(values, 0...).map { value, number in (number == 0 ? "p" : "p\(number)", value) }
    }

    private static func isDecimal(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit)
    }

    /// Whether a text is a number without leading zeros.
    private static func isNumber(_ text: String) -> Bool {
        isDecimal(text) && (text == "0" || !text.hasPrefix("0"))
    }

    /// Whether a text is not decimal and has more than one character: a single one needs less than a number.
    private static func isLongText(_ text: String) -> Bool { text.utf8.count > 1 && !isDecimal(text) }

    /// Whether a text has capitals and reads like words, which random codes do not: only words are shorter in
    /// lower case. [observed]
    private static func isNameWithCapitals(_ text: String) -> Bool {
        let vowels = text.utf8.count { "aeiouAEIOU".utf8.contains($0) }
        return text.utf8.count > 4 && text.contains(where: \.isUppercase) && 4 * vowels >= text.utf8.count
            && !text.utf8.contains(where: \.isASCIIDigit)
    }

    /// Whether a text is a UUID, with or without its hyphens.
    private static func isUniqueIdentifier(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return [[8, 4, 4, 4, 12], [32]].contains(groups.map(\.count))
            && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }
}

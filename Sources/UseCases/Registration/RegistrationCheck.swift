public import Foundation
public import JSON
public import Tenancy

/// What was found when somebody looked at App Store Connect.
public struct RegistrationCheck: Sendable {
    public let clip: BundleID
    public let checkedAt: Date
    /// All but the rows, as `doorstep appstore plan --format json` has it, and what Apple has of the sites.
    public let summary: JSONObject
    /// How many experiences are how, by names that stay the same; one may be counted by several.
    public let counts: [String: Int]
    /// Those of which there is something to say.
    public let rows: [Row]
    /// What there is at Apple that should not be: whoever is told of it is told again when it is another.
    public let findings: [JSONValue]
    /// URLs of these.
    public let findingURLs: [String]

    public struct Row: Sendable {
        public let url: String
        /// The identifier of the location that the experience is bound to, where the catalogue has it.
        public let location: String?
        public let json: JSONObject

        public init(url: String, location: String?, json: JSONObject) {
            self.url = url
            self.location = location
            self.json = json
        }
    }
}

extension RegistrationCheck {
    /// - Parameter domains: nil where they are not known.
    init(
        _ survey: RegistrationSurvey, domains: [AssociatedDomain]?, of clip: BundleID, at now: Date
    ) {
        var summary = survey.summary
        let sites = domains?.map { JSONValue.object($0.json) }
        summary["domains"] = sites.map(JSONValue.array) ?? .null
        let drifted = Set(survey.drifted.map(\.url))
        let missing = Set(survey.missing)
        var findings: [JSONValue] = []
        var urls: [String] = []
        for row in survey.plan.rows {
            guard let finding = row.finding(isDrifted: drifted.contains(row.url)) else { continue }
            findings.append(.object(finding))
            urls.append(row.url)
        }
        var counts = [
            "changes": survey.plan.rows.count(where: \.step.isChange),
            "drifted": drifted.subtracting(missing).count,
            "missing": missing.count,
        ]
        for (name, count) in survey.counts where ["blocked", "unmanaged", "in_step"].contains(name) {
            counts[name] = count
        }
        for (name, count) in survey.placeCounts { counts["place_\(name)"] = count }
        self.init(
            clip: clip, checkedAt: now, summary: summary, counts: counts,
            rows: survey.shownRows(withUnmanaged: true).map { row in
                Row(url: row.url, location: survey.location(of: row.url), json: row.json)
            }, findings: findings, findingURLs: urls)
    }

    /// What webhooks are told.
    public var message: JSONObject {
        [
            "clip": .string(clip.text), "checkedAt": JSONValue(checkedAt),
            "counts": .object(counts.reduce(into: [:]) { $0[$1.key] = JSONValue($1.value) }),
            "findings": JSONValue(findingURLs.count),
            "urls": .array(findingURLs.prefix(Self.maximumURLs).map(JSONValue.string)),
        ]
    }

    /// A message names no more. [ours]
    private static let maximumURLs = 100
}

extension RegistrationPlan.Row {
    /// What of it is to be told; nil where nothing at Apple is other than it should be.
    ///
    /// A place that Apple is still looking for, and a language that the card has not, are as somebody here left them.
    fileprivate func finding(isDrifted: Bool) -> JSONObject? {
        let told = findings.filter {
            switch $0 {
            case .placePending, .languageMissing: false
            case .duplicate, .unlisted, .placeNotMatched, .placeRewritten: true
            }
        }
        var json: JSONObject = ["url": .string(url)]
        switch step {
        case .unmanaged(let ids): json["unmanaged"] = .array(ids.map(JSONValue.string))
        case _ where isDrifted: json["drifted"] = .object(self.json)
        case _ where told.isEmpty: return nil
        default: break
        }
        json["findings"] = .array(told.map { .object($0.json) })
        return json
    }
}

/// What was found last of a clip, for who asks a server: App Store Connect is not asked for it.
public struct LatestCheck: Sendable, Hashable {
    public let clip: BundleID
    /// Nil where it was never seen.
    public let checkedAt: Date?
    public let summary: JSONObject?
    /// Why nothing could be seen when somebody looked last; nil where it could.
    public let failure: String?

    public init(clip: BundleID, checkedAt: Date?, summary: JSONObject?, failure: String?) {
        self.clip = clip
        self.checkedAt = checkedAt
        self.summary = summary
        self.failure = failure
    }
}

extension LatestCheck {
    /// What Apple's cache had of a site; nil where that is not known.
    public func domain(_ host: String) -> AssociatedDomain? {
        (summary?["domains"]?.arrayValue ?? []).compactMap(AssociatedDomain.init(json:)).first {
            $0.host.lowercased() == host
        }
    }
}

/// Where the latest checks are kept.
public protocol LatestChecks: Sendable {
    /// Of each connected clip of the tenant, by bundle ID.
    func latest(of tenant: TenantID) async throws -> [LatestCheck]
    /// The rows after a URL, ordered by URL.
    /// - Parameter locations: identifiers of those that are asked for; nil for all rows.
    func rows(
        of clip: BundleID, of tenant: TenantID, within locations: [String]?, after url: String?, limit: Int
    ) async throws -> [RegistrationCheck.Row]
}

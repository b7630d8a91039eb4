public import Formats
public import Foundation
public import Tenancy

/// The result of a check of App Store Connect.
public struct SyncCheck: Sendable {
    public let clip: BundleID
    public let checkedAt: Date
    /// Everything except the rows, in the form of `doorstep appstore plan --format json`, with the clip's release and the state
    /// of its sites.
    public let summary: JSONObject
    /// The numbers of experiences by state, with stable names. An experience may count for several states.
    public let counts: [String: Int]
    /// The experiences with a finding.
    public let rows: [Row]
    /// The differences at Apple; receivers are notified again if they change.
    public let findings: [JSONValue]
    /// URLs of these.
    public let findingURLs: [String]

    public struct Row: Sendable {
        public let url: String
        /// The identifier of the experience's location, if the catalogue has the experience.
        public let location: String?
        public let json: JSONObject

        public init(url: String, location: String?, json: JSONObject) {
            self.url = url
            self.location = location
            self.json = json
        }
    }
}

extension SyncCheck {
    /// - Parameters:
    ///   - release: Nil if it is unknown.
    ///   - domains: Nil if they are unknown.
    init(
        _ survey: SyncSurvey, release: ClipRelease?, domains: [AssociatedDomain]?, of clip: BundleID,
        at now: Date
    ) {
        var summary = survey.summary
        let sites = domains?.map { JSONValue.object($0.json) }
        summary["domains"] = sites.map(JSONValue.array) ?? .null
        summary["release"] = (release?.json).map(JSONValue.object) ?? .null
        // It is read as a whole, however many there are.
        for name in ["missing", "defaultExperiences", "uncodable"] {
            summary[name] = .array(Array((summary[name]?.arrayValue ?? []).prefix(Self.maximumURLs)))
        }
        let drifted = Set(survey.drifted.map(\.url))
        let missing = Set(survey.missing)
        // An item that the catalogue no longer has has no row.
        let forgotten = missing.subtracting(survey.plan.rows.map(\.url)).sorted()
        var findings = forgotten.map { JSONValue.object(["url": .string($0), "missing": true]) }
        var urls = forgotten
        for row in survey.plan.rows {
            guard let finding = row.finding(isMissing: missing.contains(row.url)) else { continue }
            findings.append(.object(finding))
            urls.append(row.url)
        }
        var counts = [
            "changes": survey.plan.rows.count(where: \.step.isChange),
            "drifted": drifted.subtracting(missing).count,
            "missing": missing.count,
            "unlisted": survey.findingCounts.first { $0.name == "unlisted" }?.count ?? 0,
        ]
        for (name, count) in survey.counts where ["blocked", "unmanaged", "in_step"].contains(name) {
            counts[name] = count
        }
        for (name, count) in survey.placeCounts { counts["place_\(name)"] = count }
        self.init(
            clip: clip, checkedAt: now, summary: summary, counts: counts,
            rows: survey.shownRows(withUnmanaged: true).filter {
                // A link that was created at Apple may have any length. Rows with longer ones are counted, but not stored.
                $0.url.utf8.count <= Self.maximumURLLength
            }.map { row in
                Row(url: row.url, location: survey.location(of: row.url), json: row.json)
            }, findings: findings, findingURLs: urls)
    }

    /// The data of the webhook event.
    public var message: JSONObject {
        [
            "clip": .string(clip.text), "checkedAt": JSONValue(checkedAt),
            "counts": JSONValue(counts),
            "findings": JSONValue(findingURLs.count),
            "urls": .array(findingURLs.prefix(Self.maximumURLs).map(JSONValue.string)),
        ]
    }

    /// The maximum length of a list in a message or a summary. [ours]
    private static let maximumURLs = 100
    /// The maximum length of a stored row in bytes: the length of a canonical URL of the catalogue. [ours]
    private static let maximumURLLength = 2_048
}

extension SyncPlan.Row {
    /// The difference at Apple, independent of changes in the catalogue; nil if Apple has the applied state.
    ///
    /// A Maps place that is still pending and a language that the card lacks are not drift. An experience that is registered
    /// but not listed is reported by the list.
    fileprivate func finding(isMissing: Bool) -> JSONObject? {
        var json: JSONObject = [:]
        if isMissing { json["missing"] = true }
        switch step {
        case .unmanaged(let ids): json["unmanaged"] = .array(ids.map(JSONValue.string))
        case .blocked(let blocks):
            if blocks.contains(.deactivated) { json["deactivated"] = true }
            for case .unreadable(_, let member) in blocks { json["unreadable"] = .string(member) }
        case .update(_, let changes, _):
            let drifted = changes.filter { $0.cause != .intended }
            if !drifted.isEmpty {
                json["changes"] = .array(
                    drifted.map { .object(["path": .string($0.path), "old": $0.old ?? .null]) })
            }
        default: break
        }
        let told = findings.filter {
            switch $0 {
            case .placePending, .languageMissing, .unlisted: false
            case .duplicate, .placeNotMatched, .placeRewritten, .unreadable: true
            }
        }
        if !told.isEmpty { json["findings"] = .array(told.map { .object($0.json) }) }
        guard !json.isEmpty else { return nil }
        json["url"] = .string(url)
        return json
    }
}

/// The last check of a clip, for API requests; App Store Connect is not called.
public struct LatestCheck: Sendable, Hashable {
    public let clip: BundleID
    /// Nil if the clip was never checked.
    public let checkedAt: Date?
    public let summary: JSONObject?
    /// The reason why the last check failed; nil if it succeeded.
    public let failure: String?

    public init(clip: BundleID, checkedAt: Date?, summary: JSONObject?, failure: String?) {
        self.clip = clip
        self.checkedAt = checkedAt
        self.summary = summary
        self.failure = failure
    }
}

extension LatestCheck {
    /// Whether a version with the clip was on the App Store; nil if this is unknown.
    public var release: ClipRelease? { ClipRelease(json: summary?["release"]) }

    /// Whether Apple returned data about sites.
    public var knowsDomains: Bool { summary?["domains"]?.arrayValue != nil }

    /// The state of a site in Apple's cache; nil if unknown.
    public func domain(_ host: String) -> AssociatedDomain? {
        (summary?["domains"]?.arrayValue ?? []).compactMap(AssociatedDomain.init(json:)).first {
            $0.host.lowercased() == host
        }
    }
}

/// The store of the latest checks.
public protocol LatestChecks: Sendable {
    /// For the tenant's connected clips, by bundle ID: all, or the named one.
    /// - Parameter summarized: Whether to include the summary of the check.
    func latest(of tenant: TenantID, clip: BundleID?, summarized: Bool) async throws -> [LatestCheck]
    /// The rows after a URL, ordered by URL.
    /// - Parameter locations: The identifiers of the requested rows; nil for all rows.
    func rows(
        of clip: BundleID, of tenant: TenantID, within locations: [String]?, after url: String?, limit: Int
    ) async throws -> [SyncCheck.Row]
}

extension LatestChecks {
    /// The connected clips that were not on the App Store at the last check of App Store Connect.
    public func unpublished(of tenant: TenantID) async throws -> Set<BundleID> {
        let checks = try await latest(of: tenant, clip: nil, summarized: true)
        return Set(checks.filter { $0.release?.isPublished == false }.map(\.clip))
    }

    /// The last check of a clip; nil if it is not connected.
    public func latest(of clip: BundleID, of tenant: TenantID) async throws -> LatestCheck? {
        try await latest(of: tenant, clip: clip, summarized: true).first
    }
}

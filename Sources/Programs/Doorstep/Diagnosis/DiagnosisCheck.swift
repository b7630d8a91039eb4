import Formats

/// One point of a diagnosis.
struct DiagnosisCheck: Sendable {
    enum Name: String {
        /// The URL in canonical form.
        case url
        case experience
        /// The experience that would match if the first one were missing.
        case next
        case location
        case domain
        /// Whether the site's association file names the clip.
        case association
        /// Apple's cache of that file, if the clip is connected to App Store Connect.
        case appleCache = "apple_cache"
        case advancedExperience = "advanced_experience"
        case published
        case smartAppBanner = "smart_app_banner"
        /// One launch in Apple's table.
        case launch
        case code
        /// A change that shortens the URL in a code.
        case advice
        case payload
    }

    enum Status: String {
        case ok
        /// The invocation works, but something else may be wrong.
        case warning
        case failed
        /// No source has the answer.
        case unknown
        /// The condition is not met, and need not be.
        case no
    }

    let name: Name
    let status: Status
    /// The reason why the point is not ok, as a name that stays the same across versions.
    let reason: String?
    /// The found value, as in a URL or the catalogue.
    let value: String?
    /// A sentence for people.
    let detail: String

    static func ok(_ name: Name, _ value: String?, _ detail: String) -> Self {
        Self(name: name, status: .ok, reason: nil, value: value, detail: detail)
    }

    static func warning(_ name: Name, _ reason: String, _ value: String? = nil, _ detail: String) -> Self {
        Self(name: name, status: .warning, reason: reason, value: value, detail: detail)
    }

    static func failed(_ name: Name, _ reason: String, _ value: String? = nil, _ detail: String) -> Self {
        Self(name: name, status: .failed, reason: reason, value: value, detail: detail)
    }

    static func unknown(_ name: Name, _ reason: String, _ value: String? = nil, _ detail: String) -> Self {
        Self(name: name, status: .unknown, reason: reason, value: value, detail: detail)
    }

    static func no(_ name: Name, _ reason: String, _ value: String? = nil, _ detail: String) -> Self {
        Self(name: name, status: .no, reason: reason, value: value, detail: detail)
    }

    var json: JSONObject {
        [
            "ios": name.diagnostic.map(JSONValue.string) ?? .null,
            "check": .string(name.rawValue), "status": .string(status.rawValue),
            "reason": reason.map(JSONValue.string) ?? .null, "value": value.map(JSONValue.string) ?? .null,
            "detail": .string(detail),
        ]
    }
}

extension DiagnosisCheck.Name {
    /// One of the five points that iOS's own App Clip diagnostics show for a URL.
    ///
    /// Source: Apple, "Testing the launch experience of your App Clip", which names the optional ones.
    fileprivate var diagnostic: String? {
        switch self {
        case .advancedExperience: "advanced experience registered (optional)"
        case .published: "clip published"
        case .association: "URL associated"
        case .code: "fits into an App Clip Code"
        case .smartAppBanner: "Smart App Banner on the website (optional)"
        default: nil
        }
    }
}

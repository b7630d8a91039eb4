import JSON

/// One point of a diagnosis.
struct DiagnosisCheck: Sendable {
    enum Name: String {
        /// The URL in canonical form.
        case url
        case experience
        /// The experience that would be chosen if that one were not there.
        case next
        case location
        case domain
        /// Whether the file that Doorstep serves for the domain names the clip.
        case association
        case code
        /// What would make the URL likelier to fit in a code.
        case advice
        case payload
    }

    enum Status: String {
        case ok
        /// The invocation works; something else about it may not be as wanted.
        case warning
        case failed
    }

    let name: Name
    let status: Status
    /// Why it is not ok, by a name that stays the same across versions.
    let reason: String?
    /// What was found, as it is written in a URL or in the catalogue.
    let value: String?
    /// For people.
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

    var json: JSONObject {
        [
            "check": .string(name.rawValue), "status": .string(status.rawValue),
            "reason": reason.map(JSONValue.string) ?? .null, "value": value.map(JSONValue.string) ?? .null,
            "detail": .string(detail),
        ]
    }
}

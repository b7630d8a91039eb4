import Formats
import Invocation
import Lookups

/// The result of a diagnosis: the lookup's response, and whether iPhones launch the clip with the URL.
struct DiagnosisVerdict {
    enum Code: String {
        case leads
        /// The lookup finds a location, but no source knows whether the site is associated with the clip.
        case launchUnknown = "launch_unknown"
        /// The lookup finds a location, but the site is not associated with the clip.
        case notLaunched = "not_launched"
        case noLocation = "no_location"
    }

    let code: Code
    /// The location's identifier; nil without a location, and if the URL contains the coordinates.
    let location: String?
    /// The reason why the URL does not lead to a launch at a location, as a name that stays the same across versions.
    let reason: String?
    /// A sentence for people. Its subject is the URL.
    let text: String
    /// The URL of the catalogue that is most similar to a URL without a location.
    let nearest: String?

    /// Whether no known fact prevents a launch at a location.
    var isWell: Bool { code == .leads || code == .launchUnknown }

    static func noLocation(reason: String, _ detail: String, nearest: String?) -> Self {
        let hint = nearest.map { "; the nearest registered URL is \($0)" } ?? ""
        return Self(
            code: .noLocation, location: nil, reason: reason, text: "leads to no location: \(detail)\(hint)",
            nearest: nearest)
    }

    static func location(_ location: Location, _ association: AssociationEvidence) -> Self {
        let leads =
            location.isEncodedInURL
            ? "leads to the signed location in the URL"
            : "leads to \(location.name ?? location.identifier.text)"
        let code: Code
        let text: String
        switch association {
        case .ok: (code, text) = (.leads, leads)
        case .unknown(_, let detail):
            (code, text) = (.launchUnknown, "\(leads); whether iPhones launch it is unknown: \(detail)")
        case .no(_, let detail):
            (code, text) = (.notLaunched, "\(leads), but iPhones will not launch it: \(detail)")
        }
        return Self(
            code: code, location: location.registeredIdentifier?.text, reason: association.reason, text: text,
            nearest: nil)
    }

    var json: JSONObject {
        [
            "code": .string(code.rawValue), "location": location.map(JSONValue.string) ?? .null,
            "reason": reason.map(JSONValue.string) ?? .null, "text": .string(text),
            "nearest": nearest.map(JSONValue.string) ?? .null,
        ]
    }
}

/// Whether a site's association file names a clip, according to all collected facts.
enum AssociationEvidence {
    case ok
    /// The associated values are the reason's name, and the reason in words.
    case unknown(String, String)
    case no(String, String)

    /// - Parameters:
    ///   - association: The file that the site or Doorstep serves.
    ///   - appleCache: The state of Apple's cache, from which devices get the file; nil if it was not read.
    init(_ association: DiagnosisCheck, appleCache: DiagnosisCheck?) {
        switch (association.status, appleCache?.status) {
        case (.failed, _): self = .no(association.reason ?? "", association.detail)
        // The cache may have been updated since.
        case (_, .warning): self = .unknown(appleCache?.reason ?? "", appleCache?.detail ?? "")
        case (.ok, _), (_, .ok): self = .ok
        default: self = .unknown(association.reason ?? "", association.detail)
        }
    }

    var reason: String? {
        switch self {
        case .ok: nil
        case .unknown(let reason, _), .no(let reason, _): reason
        }
    }
}

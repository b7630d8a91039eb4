import Invocation
import JSON
import Lookups

/// Where a URL leads: the lookup's response, and whether iPhones launch the clip there.
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
    /// The location's identifier; nil without one, and for a location that the URL itself holds.
    let location: String?
    /// Why the URL does not lead to a launch at a location, by a name that stays the same across versions.
    let reason: String?
    /// For people; its subject is the URL.
    let text: String
    /// The registered URL that is most like one without a location.
    let nearest: String?

    /// Whether nothing is known to prevent a launch at a location.
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

/// Whether a site's association file names a clip, by everything that was found out about it.
enum AssociationEvidence {
    case ok
    /// With the reason by its name and in words.
    case unknown(String, String)
    case no(String, String)

    /// - Parameters:
    ///   - association: the file as the site or Doorstep serves it.
    ///   - appleCache: The state of Apple's cache, from which devices get the file; nil if it was not read.
    init(_ association: DiagnosisCheck, appleCache: DiagnosisCheck?) {
        switch (association.status, appleCache?.status) {
        case (.failed, _): self = .no(association.reason ?? "", association.detail)
        // The cache may have been renewed since.
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

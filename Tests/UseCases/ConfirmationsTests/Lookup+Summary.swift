import Lookups

extension Lookup {
    /// The result with the URL of the experience. URLs of `example.com` are written without scheme and host.
    var summary: String {
        switch self {
        case .found(let experience, let location): "\(location.identifier) by \(experience.summary)"
        case .doesNotMatch: "doesNotMatch"
        case .noIdentifier(let experience): "noIdentifier in \(experience.summary)"
        case .unknownIdentifier(let experience): "unknownIdentifier in \(experience.summary)"
        case .shortCodeAgain(let experience): "shortCodeAgain in \(experience.summary)"
        }
    }
}

extension IndexedExperience {
    fileprivate var summary: Substring {
        let host = "https://example.com/"
        return url.dropFirst(url.hasPrefix(host) ? host.count : 0)
    }
}

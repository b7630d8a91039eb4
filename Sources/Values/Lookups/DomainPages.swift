/// Whether pages for people are shown at a domain, where somebody scans a code without an iPhone.
public enum DomainPages: String, Sendable, Hashable, CaseIterable {
    /// As where the paths of codes are led elsewhere, and only that of the association file is led here.
    case off
    case on
    /// And the URL of a short code leads on to the one that it stands for, where the tenant has proved that one's host too.
    ///
    /// Source: Apple, "Encoding a URL in an App Clip Code", "Use short URLs or redirects": both need an experience and their
    /// host's association.
    case redirectingShortCodes = "redirecting_short_codes"

    /// The first components of the paths that the API has for itself, at every host. [ours]
    public static let pathsOfAPI: Set<String> = ["v1", ".well-known", "openapi.json", "problems"]
}

/// Whether a domain shows pages for people who scan a code without an iPhone.
public enum DomainPages: String, Sendable, Hashable, CaseIterable {
    /// No pages: the proxy sends only the path of the association file to Doorstep.
    case off
    case on
    /// Pages, and the URL of a short code redirects to its target, if the tenant has verified the target's host, too.
    ///
    /// Source: Apple, "Encoding a URL in an App Clip Code", "Use short URLs or redirects": both need an experience and their
    /// host's association.
    case redirectingShortCodes = "redirecting_short_codes"

    /// The first components of the API's own paths, at every host. [ours]
    public static let pathsOfAPI: Set<String> = ["v1", ".well-known", "openapi.json", "problems"]
}

import Cards
import Invocation
import Lookups
import Tenancy

extension CatalogueLint {
    /// Warnings about the landing pages at a tenant's domains.
    ///
    /// Rules [ours]:
    /// - `noPreviewImage`: neither the card of an experience at such a domain, nor its clip's card, nor its location's card has an
    ///   image. If a rule reads the location: not every location has an image. Demo experiences and short codes have no page.
    /// - `shadowedByAPI`: the first component of the experience's path belongs to the API.
    /// - `notRedirected`: short codes are redirected, but not this one. No experience matches its URL, the URL contains a short code
    ///   again, or the tenant has not proved the URL's host. Apple requires experience and association for both URLs.
    public struct Pages: Sendable {
        /// The hosts where pages are shown, or will be shown once the host is proved.
        private var hosts: [String: DomainPages] = [:]
        private(set) var provedHosts: Set<String> = []
        private var clips: Set<BundleID> = []
        private var experiences: Set<Experience> = []
        private var locations: Set<LocationIdentifier> = []
        private var locationCount = 0

        /// No pages are shown.
        public init() {}

        public init(at domains: [DomainRecord], of clips: [Clip]) {
            for domain in domains {
                if domain.pages != .off { hosts[domain.name.text] = domain.pages }
                if domain.proof != nil { provedHosts.insert(domain.name.text) }
            }
            self.clips = Set(clips.filter { $0.card.image != nil }.map(\.bundleID))
        }

        mutating func note(_ record: ExperienceRecord) {
            if record.card.image != nil { experiences.insert(record.experience) }
        }

        mutating func note(_ record: LocationRecord) {
            locationCount += 1
            if record.card.image != nil { locations.insert(record.identifier) }
        }

        func findings(
            _ experiences: [Experience], _ codes: [(ShortCode, Lookup)]
        ) -> [CatalogueFinding] {
            guard !hosts.isEmpty else { return [] }
            let shown = experiences.filter { hosts[$0.url.host] != nil && $0.kind != .demo }
            return shown.filter { !hasImage($0) }.map { experience in
                CatalogueFinding(
                    .noPreviewImage, url: experience.url.canonical,
                    "the pages of \(experience.url) have no image: Messages shows no preview")
            }
                + shown.filter(Self.isOfAPI).map { experience in
                    CatalogueFinding(
                        .shadowedByAPI, url: experience.url.canonical,
                        "the API serves \(experience.url): no landing page is shown there")
                }
                + (shown.contains(where: redirects) ? codes.compactMap(notRedirected) : [])
        }

        private func hasImage(_ experience: Experience) -> Bool {
            if experiences.contains(experience) || clips.contains(experience.clip) {
                return true
            }
            return switch experience.binding {
            case .unbound, .rule(.coordinates): false
            case .location(let identifier): locations.contains(identifier)
            case .rule(.hash): true
            case .rule: locationCount > 0 && locations.count == locationCount
            }
        }

        private static func isOfAPI(_ experience: Experience) -> Bool {
            experience.url.pathComponents.first.map(DomainPages.pathsOfAPI.contains) ?? false
        }

        private func redirects(_ experience: Experience) -> Bool {
            guard case .rule(.hash) = experience.binding else { return false }
            return hosts[experience.url.host] == .redirectingShortCodes
        }

        private func notRedirected(_ code: ShortCode, _ lookup: Lookup) -> CatalogueFinding? {
            let reason: String
            switch lookup {
            case .doesNotMatch: reason = "no experience matches it"
            case .shortCodeAgain: reason = "it contains a short code too"
            case .found, .noIdentifier, .unknownIdentifier:
                guard !provedHosts.contains(code.url.host) else { return nil }
                reason = "its domain is not proved"
            }
            return CatalogueFinding(
                .notRedirected, url: code.url.canonical, shortCode: code.code,
                "the short code '\(code.code)' is not redirected to its URL: \(reason)")
        }
    }
}

public import Geodesy
public import Invocation
public import Lookups
public import Tenancy

/// Warnings about everything that a tenant has registered.
///
/// Rules beyond those of ``ExperienceLint`` [ours]:
/// - `missingDefaultExperience`: a clip has no default experience, which every clip needs [Apple].
/// - `unpublished`: according to App Store Connect, no version of the app with the clip is on the App Store.
/// - `unbound`: an advanced or default experience of a clip that serves many businesses has neither location nor rule.
/// - `notBusinessSpecific`: registered URLs lead to the location, but none of a clip of one business, and none of an advanced
///   experience bound to the location. Notifications for everyone at the location are refused. If there are very many rules of clips
///   of one business, not all are tried, and the location counts as notifiable.
/// - `unknownIdentifier`: the rule reads from the experience's own URL neither a location's identifier nor a short code.
/// - `deadShortCode`: the URL that a code stands for leads to no location.
/// - `unreachableLocation`: no bound URL, no short code and no URL made by an experience's rule leads to the location. If there
///   are very many rules, not all are tried, and the location counts as reachable.
/// - `nullIsland`: latitude and longitude are both within ``nullIslandDegrees`` of zero.
/// - `repeatedCoordinates`: an earlier location, by identifier, has the same coordinates.
/// - `misplacedCoordinates`: the location has no other within about 300 km, but would have one within about 200 km if its latitude
///   and longitude were exchanged, or if one of them had the other sign. A location that is itself far from all others is no evidence.
/// - `remoteLocation`: the location has no other within about 300 km, and this is true of at most 1 % of the tenant's locations.
/// - `smallRadius`: the radius is less than ``smallestRadius``.
/// - `wholeSite`: the association file of a proved host lets an app open every URL of the host, because the registered URLs have
///   too little in common for groups.
/// - `noPreviewImage`, `shadowedByAPI`, `notRedirected`: see ``Pages``.
public struct CatalogueLint: Sendable {
    /// The checked fields of a location.
    public struct Place: Sendable {
        public let identifier: LocationIdentifier
        public let region: CircularRegion

        public init(_ location: LocationRecord) {
            identifier = location.identifier
            region = location.region
        }
    }

    /// About twice the typical accuracy of a phone under open sky, which is 4.9 m according to GPS.gov ("GPS Accuracy"). Near
    /// buildings, the accuracy is worse. [ours]
    public static let smallestRadius = Distance(meters: 10)

    /// About a kilometre around latitude and longitude 0, in the Atlantic. [ours]
    public static let nullIslandDegrees = 0.01

    /// The warnings about experiences, then about codes, then about locations.
    public let findings: [CatalogueFinding]

    /// - Parameters:
    ///   - places: by identifier.
    ///   - unpublished: The clips that were not on the App Store at the last check of App Store Connect.
    ///   - table: Finds where a URL leads, without checking signatures.
    public init(
        clips: [Clip], experiences: [Experience], places: [Place], codes: [ShortCode],
        pages: Pages = Pages(), unpublished: Set<BundleID> = [], table: TenantTable
    ) {
        let experiences = experiences.sorted { $0.precedes($1) }
        let resolved = codes.map { ($0, table.lookUp(stored: $0.url)) }
        var reach = LocationReach(experiences, table)
        let multiBusiness = Set(clips.filter(\.isMultiBusiness).map(\.bundleID))
        // Without the rules that cannot count, which would be tried for each location.
        let naming = experiences.filter { experience in
            if case .rule = experience.binding { !multiBusiness.contains(experience.clip) } else { true }
        }
        var notifiable = LocationReach(naming, table, where: \.namesOneBusiness)
        for (_, lookup) in resolved {
            reach.insert(byCode: lookup)
            notifiable.insert(byCode: lookup)
        }
        findings =
            ExperienceLint(experiences).findings.map { CatalogueFinding($0) }
            + Self.missingDefaults(experiences, clips)
            + clips.filter { unpublished.contains($0.bundleID) }.map { clip in
                CatalogueFinding(
                    .unpublished, url: DefaultLink(to: clip.bundleID).text,
                    "\(clip.bundleID) is not on the App Store, according to the last check: only testers can launch it"
                )
            }
            + Self.unbound(experiences, multiBusiness)
            + Self.unknownIdentifiers(experiences, places, codes)
            + resolved.compactMap(Self.deadCode)
            + Self.places(places)
            + places.compactMap { place in
                guard reach.reaches(place.identifier) else {
                    return CatalogueFinding(
                        .unreachableLocation, location: place.identifier,
                        "no registered URL leads to the location '\(place.identifier)'")
                }
                guard !notifiable.reaches(place.identifier) else { return nil }
                return CatalogueFinding(
                    .notBusinessSpecific, location: place.identifier,
                    """
                    notifications for everyone at the location '\(place.identifier)' are refused: register an advanced experience \
                    that is bound to it
                    """)
            }
            + pages.findings(experiences, resolved)
            + Self.wholeSites(of: pages.provedHosts, experiences, clips)
    }

    /// Checks everything that a tenant has registered.
    /// - Parameters:
    ///   - unpublished: The clips that were not on the App Store at the last check of App Store Connect.
    ///   - table: Finds where a URL leads, without checking signatures.
    public init(
        _ catalogue: any CatalogueReader, unpublished: Set<BundleID> = [], table: TenantTable
    ) async throws {
        var (experiences, places, codes): ([Experience], [Place], [ShortCode]) = ([], [], [])
        let clips = try await catalogue.clips()
        var pages = Pages(at: try await catalogue.domains(), of: clips)
        try await catalogue.each(ExperienceRecord.self) { record in
            experiences.append(record.experience)
            pages.note(record)
        }
        try await catalogue.each(LocationRecord.self) { record in
            places.append(Place(record))
            pages.note(record)
        }
        try await catalogue.each(ShortCode.self) { codes.append($0) }
        self.init(
            clips: clips, experiences: experiences, places: places, codes: codes, pages: pages,
            unpublished: unpublished, table: table)
    }

    private static func missingDefaults(
        _ experiences: [Experience], _ clips: [Clip]
    ) -> [CatalogueFinding] {
        let complete = Set(experiences.filter { $0.kind == .default }.map(\.clip))
        return clips.filter { !complete.contains($0.bundleID) }.map { clip in
            let link = DefaultLink(to: clip.bundleID).text
            return CatalogueFinding(
                .missingDefaultExperience, url: link,
                "\(clip.bundleID) has no default experience: register \(link), with kind default")
        }
    }

    private static func unbound(
        _ experiences: [Experience], _ multiBusiness: Set<BundleID>
    ) -> [CatalogueFinding] {
        experiences.filter { experience in
            multiBusiness.contains(experience.clip) && experience.binding == .unbound
                && experience.kind != .demo
        }.map { experience in
            CatalogueFinding(
                .unbound, url: experience.url.canonical,
                "\(experience.clip) serves many businesses, but \(experience.url) is bound to none of them")
        }
    }

    private static func wholeSites(
        of hosts: Set<String>, _ experiences: [Experience], _ clips: [Clip]
    ) -> [CatalogueFinding] {
        let ids = Dictionary(clips.map { ($0.bundleID, $0) }, uniquingKeysWith: { first, _ in first })
        let listed = clips.map {
            SiteAssociation.Clip(
                id: $0.appID, app: $0.parentAppID)
        }
        let byHost = Dictionary(grouping: experiences.filter { hosts.contains($0.url.host) }, by: \.url.host)
        return byHost.sorted { $0.key < $1.key }.compactMap { host, experiences in
            let urls = experiences.compactMap { experience in
                ids[experience.clip].map { (url: experience.url, clip: $0.appID) }
            }
            let apps = SiteAssociation.appsOfWholeHost(clips: listed, urls: urls)
            guard !apps.isEmpty else { return nil }
            let names = apps.map(\.text).joined(separator: ", ")
            return CatalogueFinding(
                .wholeSite, url: "https://\(host)",
                """
                \(names) opens every URL of \(host) that no exclude of the domain's content matches, because the registered URLs \
                have no common prefix; register them below one path
                """)
        }
    }

    private static func unknownIdentifiers(
        _ experiences: [Experience], _ places: [Place], _ codes: [ShortCode]
    ) -> [CatalogueFinding] {
        let identifiers = Set(places.map(\.identifier))
        let codes = Set(codes.map { Array($0.code.utf8) })
        return experiences.compactMap { experience in
            guard case .rule(let rule) = experience.binding,
                let url = try? InvocationURL(experience.url.canonical)
            else { return nil }
            let name: String
            switch rule.read(url, after: experience.url) {
            case .identifier(let identifier) where !identifiers.contains(identifier):
                name = "the identifier '\(identifier)', but no location has it"
            case .shortCode(let code) where !codes.contains(Array(code.utf8)):
                name = "the short code '\(code)', which does not exist"
            default:
                return nil
            }
            return CatalogueFinding(
                .unknownIdentifier, url: experience.url.canonical, "\(experience.url) contains \(name)")
        }
    }

    private static func deadCode(_ code: ShortCode, _ lookup: Lookup) -> CatalogueFinding? {
        lookup.reason.map { reason in
            CatalogueFinding(
                .deadShortCode, url: code.url.canonical, shortCode: code.code,
                "the URL of the short code '\(code.code)' leads to no location: \(reason)")
        }
    }

    private static func places(_ places: [Place]) -> [CatalogueFinding] {
        var onNullIsland: [CatalogueFinding] = []
        var repeated: [CatalogueFinding] = []
        var small: [CatalogueFinding] = []
        var first: [Coordinate: LocationIdentifier] = [:]
        for place in places {
            let (center, identifier) = (place.region.center, place.identifier)
            if isOnNullIsland(place) {
                onNullIsland.append(
                    CatalogueFinding(
                        .nullIsland, location: identifier,
                        "the location '\(identifier)' has latitude and longitude 0"))
            }
            if let other = first[center] {
                repeated.append(
                    CatalogueFinding(
                        .repeatedCoordinates, location: identifier, other: other.text,
                        "the location '\(identifier)' has the same coordinates as '\(other)'"))
            } else {
                first[center] = identifier
            }
            if place.region.radius.meters < smallestRadius.meters {
                small.append(
                    CatalogueFinding(
                        .smallRadius, location: identifier,
                        "the radius of the location '\(identifier)' is smaller than the usual error of a phone's position"
                    ))
            }
        }
        return onNullIsland + repeated + remote(places) + small
    }

    private static func isOnNullIsland(_ place: Place) -> Bool {
        let center = place.region.center
        return max(center.latitude.magnitude, center.longitude.magnitude) < nullIslandDegrees
    }

    private static func remote(_ places: [Place]) -> [CatalogueFinding] {
        let remote = RemoteLocations(places.filter { !isOnNullIsland($0) })
        return remote.isolated.compactMap { place in
            if let mistake = remote.mistake(at: place) {
                return CatalogueFinding(
                    .misplacedCoordinates, location: place.identifier,
                    "the location '\(place.identifier)' is far from all others; perhaps \(mistake)")
            }
            guard remote.areFew else { return nil }
            return CatalogueFinding(
                .remoteLocation, location: place.identifier,
                "the location '\(place.identifier)' is far from all others")
        }
    }
}

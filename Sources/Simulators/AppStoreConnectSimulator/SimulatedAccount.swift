import Crypto
import Formats
import Foundation

/// The data of App Store Connect: apps and their clips, experiences, localizations and images. A value without a clock.
struct SimulatedAccount: Sendable {
    let apps: [AppStoreConnectSimulator.App]
    var knobs: Knobs
    private(set) var experiences: [String: SimulatedExperience] = [:]
    private(set) var localizations: [String: SimulatedLocalization] = [:]
    private(set) var images: [String: SimulatedImage] = [:]
    /// The identifiers of experiences in the order of creation.
    private(set) var order: [String] = []
    /// The experiences with a link, including removed ones.
    private var links: [String: [String]] = [:]
    /// The experiences with an image.
    private var users: [String: Set<String>] = [:]
    /// Images by the token in their upload URLs.
    private var secrets: [String: String] = [:]
    private var resourceCount = 0

    init(_ options: AppStoreConnectSimulator.Options) {
        apps = options.apps
        knobs = options.knobs
    }

    func clip(_ id: String) -> (clip: AppStoreConnectSimulator.Clip, app: AppStoreConnectSimulator.App)? {
        for app in apps {
            if let clip = app.clips.first(where: { $0.id == id }) { return (clip, app) }
        }
        return nil
    }

    /// An identifier that looks random, and is the same for the same history.
    mutating func newID() -> String {
        resourceCount += 1
        let digits = Base16.text(SHA256.hash(data: Array("resource \(resourceCount)".utf8)).prefix(16))
        return [(0, 8), (8, 4), (12, 4), (16, 4), (20, 12)].map { start, length in
            String(digits.dropFirst(start).prefix(length))
        }.joined(separator: "-")
    }

    // MARK: Experiences

    /// Whether requests find an experience. Removed ones may not be found.
    func experience(_ id: String) -> SimulatedExperience? {
        experiences[id].flatMap { $0.removed == nil || !knobs.removedAreGone ? $0 : nil }
    }

    /// Whether a link cannot be registered.
    func isTaken(_ link: String, exceptBy id: String?) -> Bool {
        knobs.refusesDuplicateLinks
            && (links[link] ?? []).contains { other in
                other != id && (experiences[other]?.removed == nil || !knobs.removedLinksAreFree)
            }
    }

    /// The number of experiences of a clip that are not removed.
    func count(ofClip id: String) -> Int {
        order.count { experiences[$0]?.clipID == id && experiences[$0]?.removed == nil }
    }

    func isUsed(_ image: String, exceptBy id: String?) -> Bool {
        !(users[image] ?? []).subtracting([id].compactMap(\.self)).isEmpty
    }

    mutating func store(_ experience: SimulatedExperience, _ texts: [SimulatedLocalization]) {
        if let old = experiences[experience.id] {
            for id in old.localizationIDs { localizations[id] = nil }
            users[old.imageID]?.remove(old.id)
        } else {
            order.append(experience.id)
            links[experience.link, default: []].append(experience.id)
        }
        for text in texts { localizations[text.id] = text }
        users[experience.imageID, default: []].insert(experience.id)
        experiences[experience.id] = experience
    }

    func texts(of experience: SimulatedExperience) -> [SimulatedLocalization] {
        experience.localizationIDs.compactMap { localizations[$0] }
    }

    /// The experiences of a clip in listings, in their order.
    func listed(
        ofClip id: String, filters: [String: Set<String>], at now: Date
    ) -> [SimulatedExperience] {
        let rows = order.compactMap { experiences[$0] }.filter { experience in
            guard experience.clipID == id, now.timeIntervalSince(experience.made) >= knobs.listingLag
            else { return false }
            if let removed = experience.removed, now.timeIntervalSince(removed) >= knobs.listingLag {
                guard !knobs.removedAreGone,
                    knobs.listsDeactivated || filters["status"]?.contains("DEACTIVATED") == true
                else { return false }
            }
            if filters.isEmpty { return true }
            let attributes = attributes(of: experience, at: now)
            return filters.allSatisfy { name, values in
                attributes[name]?.stringValue.map(values.contains) ?? false
            }
        }
        return knobs.scattersRows ? rows.sorted { $0.id < $1.id } : rows
    }

    /// The attributes in responses.
    func attributes(of experience: SimulatedExperience, at now: Date) -> JSONObject {
        var attributes = truth(of: experience, at: now)
        for (key, value) in experience.shown { attributes[key] = value }
        return attributes
    }

    private func truth(of experience: SimulatedExperience, at now: Date) -> JSONObject {
        var attributes = experience.attributes
        attributes["link"] = .string(experience.link)
        attributes["version"] = 1
        attributes["status"] = .string(
            experience.removed != nil
                ? "DEACTIVATED" : experience.isInTransfer ? "APP_TRANSFER_IN_PROGRESS" : "RECEIVED")
        guard let place = attributes["place"]?.objectValue else { return attributes }
        let names = (place["names"]?.arrayValue ?? []).compactMap(\.stringValue)
        let isKnown = knobs.unmatchedNames.isDisjoint(with: names)
        let isPending = now.timeIntervalSince(experience.placed) < knobs.placePending
        attributes["placeStatus"] = isPending ? "PENDING" : isKnown ? "MATCHED" : "NO_MATCH"
        if knobs.correctsPlaces, isKnown, !isPending {
            var corrected = place
            corrected["placeId"] = .string("I\(experience.id.prefix(8).uppercased())")
            if !names.isEmpty { corrected["names"] = .array(names.map { .string($0.uppercased()) }) }
            attributes["place"] = .object(corrected)
        }
        return attributes
    }

    // MARK: Builds

    /// Each app has one build, which contains all its clips.
    static func build(ofApp id: String) -> String { "build-\(id)" }
    static func version(ofApp id: String) -> String { "version-\(id)" }
    static func bundle(ofClip id: String) -> String { "bundle-\(id)" }
    static func clip(ofBundle id: String) -> String? {
        id.hasPrefix("bundle-") ? String(id.dropFirst("bundle-".count)) : nil
    }

    /// The state of Apple's cache for the hosts in the clip's entitlement. If these are unknown, for the hosts of its links.
    func domainStatus(ofClip id: String, at now: Date) -> JSONObject {
        let links = order.compactMap { experiences[$0] }.filter { $0.clipID == id }.compactMap {
            URL(string: $0.link)?.host?.lowercased()
        }
        let domains = (clip(id)?.clip.domains ?? Set(links)).sorted().map { host in
            var domain: JSONObject = [
                "domain": .string(host), "isValid": .bool(!knobs.unreachableDomains.contains(host)),
                "lastUpdatedDate": JSONValue(now),
            ]
            if knobs.unreachableDomains.contains(host) { domain["errorCode"] = "CANNOT_REACH_AASA_FILE" }
            return JSONValue.object(domain)
        }
        return ["domains": .array(domains), "lastUpdatedDate": JSONValue(now)]
    }

    // MARK: Images

    mutating func store(_ image: SimulatedImage) {
        images[image.id] = image
        secrets[image.secret] = image.id
    }

    func image(secret: String) -> SimulatedImage? { secrets[secret].flatMap { images[$0] } }

    mutating func change(_ id: String, _ body: (inout SimulatedImage) -> Void) {
        guard var image = images[id] else { return }
        body(&image)
        images[id] = image
    }
}

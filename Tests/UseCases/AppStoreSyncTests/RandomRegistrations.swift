import AppStoreSync
import Cards
import Geodesy
import Invocation
import PropertyTesting

/// A catalogue, its records and App Store Connect, in any combination of states.
struct RandomRegistrations {
    var state: SyncState
    var policy: SyncPolicy
    private var random: SplitMix64

    init(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let names = (0..<(2 + random.below(14))).map { "u\($0)" }
        var desired: [DesiredExperience] = []
        var applied: [AppliedExperience] = []
        var remote: [RemoteExperience] = []
        var removedIDs: Set<String> = []
        for name in names {
            if !random.oneIn(3) {
                var experience = try Registrations.desired(name, Self.content(&random))
                if random.oneIn(8) {
                    experience.obstacles = [random.pick(DesiredExperience.Obstacle.allCases)]
                }
                desired.append(experience)
            }
            let content =
                try random.oneIn(3) ? Self.content(&random) : desired.last?.content ?? Self.content(&random)
            switch random.below(8) {
            case 0..<5:
                applied.append(try Registrations.created(name, content, id: "own-\(name)"))
                if !random.oneIn(6) {
                    let now = try random.oneIn(3) ? Self.content(&random) : content
                    remote.append(Self.remote(name, now, id: "own-\(name)", &random))
                }
            case 5 where random.oneIn(4):
                applied.append(
                    AppliedExperience(
                        try Registrations.url(name), content, .creating(missingListings: random.below(4))))
            default: break
            }
            for other in 0..<3 where random.oneIn(5) {
                remote.append(
                    try Self.remote(name, Self.content(&random), id: "other-\(name)-\(other)", &random))
            }
            if random.oneIn(6) {
                removedIDs.insert("removed-\(name)")
                if random.oneIn(2) {
                    remote.append(
                        try Self.remote(name, Self.content(&random), id: "removed-\(name)", &random))
                }
            }
        }
        let isComplete = !random.oneIn(5)
        state = SyncState(
            desired: desired, applied: applied, removedIDs: removedIDs,
            listing: RemoteListing(remote, total: remote.count + (isComplete ? 0 : 1)))
        policy = SyncPolicy(
            primaryLanguage: .english, languages: [.english, .french], adopts: random.oneIn(2),
            allowedRemovals: random.oneIn(3) ? random.below(3) : 20,
            allowedMassRemoval: random.oneIn(3) ? 11 : nil)
        self.random = random
    }

    private static func content(_ random: inout SplitMix64) throws -> ExperienceContent {
        var content = try Registrations.content(
            random.oneIn(5) ? nil : random.pick(["A", "B"]), action: random.pick([nil, .open, .play]),
            subtitle: random.pick([nil, "S", "T"]), image: random.oneIn(8) ? nil : Registrations.image)
        content.isPoweredBy = random.oneIn(4)
        if random.oneIn(3) { content.card.texts[.french] = try CardText(title: random.pick(["C", "D"])) }
        if random.oneIn(12) { content.card.texts[.english] = nil }
        if random.oneIn(3) {
            var place = Place()
            place.names = random.pick([nil, ["N"], ["N", "M"]])
            place.mapAction = random.oneIn(3) ? nil : random.pick(Array(MapAction.allCases.prefix(2)))
            if !random.oneIn(4) {
                place.point = Place.DisplayPoint(
                    try Coordinate(latitude: Double(random.below(2)), longitude: 1.5))
            }
            content.card.place = place
        }
        return content
    }

    private static func remote(
        _ name: String, _ content: ExperienceContent, id: String, _ random: inout SplitMix64
    ) -> RemoteExperience {
        var remote = Registrations.remote(name, content, id: id)
        if random.oneIn(8) { remote.status = random.pick(RemoteExperience.Status.allCases) }
        remote.placeStatus = random.pick([nil] + RemoteExperience.PlaceStatus.allCases)
        return remote
    }

    func shuffled() -> SyncState {
        var random = random
        var state = state
        state.desired.shuffle(using: &random)
        state.applied.shuffle(using: &random)
        let rows = state.listing.experiences.shuffled(using: &random)
        state.listing = RemoteListing(rows, total: rows.count + (state.listing.isComplete ? 0 : 1))
        return state
    }

    /// Applies a plan to the records and to App Store Connect, which may continue to list removed experiences.
    func applying(_ plan: SyncPlan) throws -> SyncState {
        var random = random
        var applied = Dictionary(uniqueKeysWithValues: state.applied.map { ($0.url.canonical, $0) })
        var remote = Dictionary(uniqueKeysWithValues: state.listing.experiences.map { ($0.id, $0) })
        var removedIDs = state.removedIDs
        let desired = Dictionary(uniqueKeysWithValues: state.desired.map { ($0.url.canonical, $0) })
        func remove(_ id: String, at url: String) {
            applied[url] = nil
            removedIDs.insert(id)
            if random.oneIn(2) { remote[id] = nil }
        }
        for row in plan.rows {
            guard let wanted = desired[row.url] else {
                if case .remove(let id) = row.step { remove(id, at: row.url) }
                continue
            }
            let id: String
            switch row.step {
            case .create(let content):
                id = "new-\(row.url)"
                remote[id] = RemoteExperience(id: id, link: row.url, content)
            case .update(let known, _, let content), .adopt(let known, _, let content):
                id = known
                remote[id]?.content = content
            case .remove, .blocked, .unmanaged, .inStep: continue
            }
            applied[row.url] = AppliedExperience(wanted.url, wanted.content, .created(id: id))
        }
        return SyncState(
            desired: state.desired, applied: Array(applied.values), removedIDs: removedIDs,
            listing: RemoteListing(
                Array(remote.values), total: remote.count + (state.listing.isComplete ? 0 : 1)))
    }
}

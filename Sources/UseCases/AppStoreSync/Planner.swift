import Cards
import Invocation

/// Makes the rows of a plan.
struct Planner {
    private typealias Row = SyncPlan.Row
    private typealias Step = SyncPlan.Step
    private typealias Finding = SyncPlan.Finding
    private typealias Block = SyncPlan.Block

    private let policy: SyncPolicy
    private let listingIsComplete: Bool
    private var desired: [String: DesiredExperience] = [:]
    private var applied: [String: AppliedExperience] = [:]
    /// The experiences that Doorstep owns and the list contains.
    private var owned: [String: RemoteExperience] = [:]
    /// The others, by canonical URL and ordered by identifier.
    private var others: [String: [RemoteExperience]] = [:]

    init(_ state: SyncState, _ policy: SyncPolicy) throws(SyncError) {
        self.policy = policy
        listingIsComplete = state.listing.isComplete
        for experience in state.desired {
            let url = experience.url.canonical
            guard desired.updateValue(experience, forKey: url) == nil else { throw .desiredTwice(url: url) }
        }
        var ids: Set<String> = []
        for row in state.applied {
            let url = row.url.canonical
            guard applied.updateValue(row, forKey: url) == nil else { throw .appliedTwice(url: url) }
            guard let id = row.id else { continue }
            guard !state.removedIDs.contains(id), ids.insert(id).inserted else {
                throw .contradictoryID(id)
            }
        }
        for remote in state.listing.experiences where !state.removedIDs.contains(remote.id) {
            if ids.contains(remote.id) {
                owned[remote.id] = remote
            } else {
                others[remote.canonicalURL, default: []].append(remote)
            }
        }
    }

    func rows() -> [SyncPlan.Row] {
        var steps = desired.mapValues { step(for: $0) }
        for url in applied.keys where desired[url] == nil {
            steps[url] = step(forUndesired: url)
        }
        guardRemovals(&steps)
        for (url, remotes) in others where steps[url] == nil {
            steps[url] = .unmanaged(ids: remotes.map(\.id))
        }
        return steps.map { Row(url: $0.key, step: $0.value, findings: findings($0.key)) }
            .sorted { $0.url.utf8.lexicographicallyPrecedes($1.url.utf8) }
    }

    private func step(for desired: DesiredExperience) -> Step {
        let url = desired.url.canonical
        let row = applied[url]
        if let row, let id = row.id {
            let remote = owned[id]
            if let block = Self.block(remote) { return .blocked([block]) }
            let current = remote?.content ?? row.content
            let content = desired.content.inheriting(current)
            let changes = desired.content.changes(applied: row.content, remote: current).filter {
                !isByMaps($0, remote)
            }
            if remote?.status == .deactivated { return .blocked([.deactivated]) }
            if changes.isEmpty { return .inStep }
            let blocks = blocks(desired, content, remote)
            return blocks.isEmpty ? .update(id: id, changes, content) : .blocked(blocks)
        }
        let candidates = others[url] ?? []
        guard let candidate = candidates.first else {
            if row?.isUnsettled == true { return .blocked([.unsettledCreation]) }
            var blocks = blocks(desired, desired.content, nil)
            if desired.content.card.image == nil { blocks.append(.missing(path: "image")) }
            if !listingIsComplete { blocks.append(.incompleteListing) }
            return blocks.isEmpty ? .create(desired.content) : .blocked(blocks)
        }
        if let block = candidates.lazy.compactMap(Self.block).first { return .blocked([block]) }
        guard candidates.count == 1 else { return .blocked([.ambiguous(ids: candidates.map(\.id))]) }
        guard row != nil || policy.adopts else { return .blocked([.notOwned(id: candidate.id)]) }
        let content = desired.content.inheriting(candidate.content)
        let changes = desired.content.changes(applied: row?.content, remote: candidate.content)
        let blocks = blocks(desired, content, candidate)
        return blocks.isEmpty ? .adopt(id: candidate.id, changes, content) : .blocked(blocks)
    }

    /// An unreadable row is not changed, because a change would overwrite it. [ours]
    private static func block(_ remote: RemoteExperience?) -> Block? {
        remote.flatMap { remote in remote.unreadable.map { .unreadable(id: remote.id, $0) } }
    }

    /// Whether Maps has replaced our words by its own. Maps would replace ours again each time. The sent place only serves to find
    /// the place of Maps. [ours]
    ///
    /// Maps does not use the action or the category.
    private func isByMaps(_ change: FieldChange, _ remote: RemoteExperience?) -> Bool {
        remote?.placeStatus == .matched && change.cause == .drift && change.path.hasPrefix("place.")
            && !["place.mapAction", "place.relationship"].contains(change.path)
    }

    /// Reasons that prevent writing an experience.
    private func blocks(
        _ desired: DesiredExperience, _ content: ExperienceContent, _ remote: RemoteExperience?
    ) -> [Block] {
        var blocks = desired.obstacles.sorted { $0.rawValue < $1.rawValue }.map(Block.obstacle)
        switch remote?.status {
        case .deactivated: blocks.append(.deactivated)
        case .appTransferInProgress: blocks.append(.appTransfer)
        case .received, nil: break
        }
        let card = content.card
        if card.defaultLanguage == nil { blocks.append(.missing(path: "defaultLanguage")) }
        for language in Set([card.defaultLanguage, policy.primaryLanguage].compactMap(\.self)).sorted()
        where card.texts[language] == nil {
            blocks.append(.missing(path: "texts.\(language.rawValue)"))
        }
        if card.place?.isLocated == false { blocks.append(.missing(path: "place.displayPoint")) }
        return blocks
    }

    /// A removal before the guards have checked it, if there is something to remove.
    private func step(forUndesired url: String) -> Step {
        guard let row = applied[url] else { return .inStep }
        guard let id = row.id else {
            if row.isUnsettled { return .blocked([.unsettledCreation]) }
            return others[url].map { .unmanaged(ids: $0.map(\.id)) } ?? .inStep
        }
        if let block = Self.block(owned[id]) { return .blocked([block]) }
        return switch owned[id]?.status {
        case .received:
            if let since = row.undesiredSince, since > policy.removesWhatVanishedBefore {
                .blocked([.grace(since: since)])
            } else {
                .remove(id: id)
            }
        case .deactivated: .inStep
        case .appTransferInProgress: .blocked([.appTransfer])
        case nil: .blocked([.unlisted(id: id)])
        }
    }

    /// Blocks removals that are not allowed, all for the same reasons.
    private func guardRemovals(_ steps: inout [String: Step]) {
        let removals = steps.filter(\.value.isRemoval).keys
        let count = removals.count
        var blocks: [Block] = []
        if !listingIsComplete { blocks.append(.incompleteListing) }
        if applied.contains(where: { $0.value.isUnsettled && others[$0.key]?.count != 1 }) {
            blocks.append(.unsettledCreation)
        }
        if desired.isEmpty { blocks.append(.nothingDesired) }
        if count > policy.allowedRemovals { blocks.append(.tooManyRemovals(count: count)) }
        let named = policy.allowedMassRemoval ?? 0
        if SyncPolicy.isMassRemoval(count, desired: desired.count),
            policy.allowsFewer ? count > named : count != named
        {
            blocks.append(.massRemoval(count: count))
        }
        guard !blocks.isEmpty else { return }
        for url in removals { steps[url] = .blocked(blocks) }
    }

    private func findings(_ url: String) -> [Finding] {
        let candidates = others[url] ?? []
        let id = applied[url]?.id
        // An experience that may be adopted is already reported as blocked.
        let isCandidate = id == nil && desired[url] != nil
        var findings: [Finding] =
            isCandidate
            ? [] : candidates.compactMap { one in one.unreadable.map { .unreadable(id: one.id, $0) } }
        guard desired[url] != nil || applied[url] != nil else { return findings }
        if id == nil ? candidates.count > 1 : !candidates.isEmpty {
            findings.append(.duplicate(ids: candidates.map(\.id)))
        }
        if let id, owned[id] == nil { findings.append(.unlisted(id: id)) }
        let remote = id.map { owned[$0] } ?? (candidates.count == 1 ? candidates.first : nil)
        switch remote?.placeStatus {
        case .noMatch: findings.append(.placeNotMatched)
        case .pending: findings.append(.placePending)
        case .matched:
            if let row = applied[url], let content = desired[url]?.content, let remote {
                let changes = content.changes(applied: row.content, remote: remote.content)
                let paths = changes.filter { isByMaps($0, remote) }.map(\.path)
                if !paths.isEmpty { findings.append(.placeRewritten(paths: paths)) }
            }
        case nil: break
        }
        if let content = desired[url]?.content {
            let texts = (remote.map { content.inheriting($0.content) } ?? content).card.texts
            for language in policy.languages.sorted() where texts[language] == nil {
                findings.append(.languageMissing(language.rawValue))
            }
        }
        return findings
    }
}

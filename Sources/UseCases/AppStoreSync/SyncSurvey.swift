import Cards
import Foundation
import Invocation

/// The desired, the applied and the remote state of a clip's experiences, and the plan that follows.
public struct SyncSurvey: Sendable {
    public let clip: RegisteredClip
    /// The checked experience or location; nil for all.
    public let target: String?
    public let plan: SyncPlan
    public let forecast: SyncForecast
    /// Requests of an hour that may be sent.
    public let allowance: Int
    /// URLs of experiences that disappeared from Apple without a removal by Doorstep.
    public let missing: [String]
    /// URLs of default experiences, which are set on the page of the app's version.
    public let defaultExperiences: [String]
    public let listing: ExperienceListing
    let memory: SyncMemory
    let desired: [String: DesiredExperience]

    /// URLs of the plan that no App Clip Code can hold, by Apple's documentation or their estimated size.
    public var uncodableURLs: [String] {
        plan.rows.map(\.url).filter { url in
            desired[url] != nil && (try? AppClipCodeURL(url))?.fit.isExcluded == true
        }
    }

    /// Whether there are no changes and no blocks.
    public var isInStep: Bool {
        plan.rows.allSatisfy { row in
            switch row.step {
            case .inStep, .unmanaged: true
            default: false
            }
        }
    }

    /// The rows whose experience others changed or removed at Apple.
    public var drifted: [SyncPlan.Row] {
        let missing = Set(missing)
        return plan.rows.filter { row in
            switch row.step {
            case .update(_, let changes, _):
                changes.contains { $0.cause != .intended } || missing.contains(row.url)
            case .blocked(let blocks): blocks.contains(.deactivated) || missing.contains(row.url)
            default: missing.contains(row.url)
            }
        }
    }
}

extension SyncSurvey {
    /// The rows whose experience at Apple has a member that cannot be read.
    public var unreadable: [SyncPlan.Row] {
        plan.rows.filter { row in
            if case .blocked(let blocks) = row.step, blocks.contains(where: { $0.code == "unreadable" }) {
                return true
            }
            return row.isUnreadable
        }
    }
}

extension SyncRunner {
    /// The maximum number of requests for a list with duplicate or missing rows. [ours]
    private static let maximumListings = 5

    /// Reads the whole state.
    /// - Parameters:
    ///   - run: The run that may change the stored state; nil to change nothing.
    ///   - isAgain: Whether the target existed at the start of the run. A removed target has no rows left.
    func survey(
        _ wishes: Wishes, _ run: (any SyncRun)?, isAgain: Bool = false
    ) async throws -> SyncSurvey {
        let registered = try await patiently { () throws(ServiceFailure) in try await service.clip() }
        var memory = try await records.memory(at: clock.now())
        let listing = try await settledListing(of: registered, &memory, run)
        let missing = try await forgetWhatIsGone(&memory, listing.listing, run)
        let catalogue = try await records.catalogue()
        let desired = catalogue.experiences.map { experience in
            var desired = experience.desired(primaryLanguage: registered.primaryLanguage)
            let image = desired.content.card.image
            if memory.images.contains(where: { $0.digest == image && $0.phase == .failed }) {
                desired.obstacles.insert(.imageRejected)
            }
            if !wishes.retriesRefused, let refusal = memory.refusals[desired.url.canonical],
                refusal.content == desired.content
            {
                desired.obstacles.insert(.refusedBefore)
            }
            return desired
        }
        let plan = try SyncPlan(
            SyncState(
                desired: desired, applied: memory.applied, removedIDs: memory.removedIDs,
                listing: listing.listing),
            policy: SyncPolicy(
                primaryLanguage: registered.primaryLanguage, adopts: wishes.adopts,
                allowedRemovals: wishes.allowedRemovals, allowedMassRemoval: wishes.allowedMassRemoval,
                allowsFewer: wishes.isKept,
                removesWhatVanishedBefore: clock.now().addingTimeInterval(-wishes.grace)))
        let byURL = Dictionary(desired.map { ($0.url.canonical, $0) }) { first, _ in first }
        let narrowed = plan.narrowed(to: wishes.target, byURL)
        if let target = wishes.target, narrowed.rows.isEmpty, !isAgain, !wishes.isKept {
            throw SyncError.unknownTarget(target)
        }
        let complete = memory.images.filter { $0.phase == .complete && $0.holder == nil }
        return SyncSurvey(
            clip: registered, target: wishes.target, plan: narrowed,
            forecast: SyncForecast(
                narrowed, sizes: catalogue.imageSizes, uploaded: Set(complete.map(\.digest)),
                sharesImages: memory.sharesImages, listed: listing.listing.experiences.count),
            allowance: await pacer.allowance, missing: missing.within(wishes.target, narrowed),
            defaultExperiences: catalogue.defaultExperiences, listing: listing, memory: memory,
            desired: byURL)
    }

    private func completeListing(
        of registered: RegisteredClip, _ memory: SyncMemory
    ) async throws -> ExperienceListing {
        var tries = 1
        while true {
            let listing = try await patiently { () throws(ServiceFailure) in
                try await service.listing(ofClip: registered.id, images: memory.digests)
            }
            if listing.listing.isComplete || tries == Self.maximumListings { return listing }
            tries += 1
            try await clock.sleep(for: .seconds(tries))
        }
    }

    /// Lists the experiences, and decides about creations without a response: if the list has the URL, the creation happened;
    /// if two complete lists, each some time after the last request, lack it, it did not.
    private func settledListing(
        of registered: RegisteredClip, _ memory: inout SyncMemory, _ run: (any SyncRun)?
    ) async throws -> ExperienceListing {
        guard let run else { return try await completeListing(of: registered, memory) }
        while true {
            let unsettled = memory.applied.filter(\.isUnsettled)
            if let last = unsettled.map(\.sentAt).max() {
                try await clock.sleep(until: last.addingTimeInterval(settings.settlingTime))
            }
            let listing = try await completeListing(of: registered, memory)
            guard listing.listing.isComplete, !unsettled.isEmpty else { return listing }
            let changes = unsettled.compactMap { $0.settled(by: listing.listing, memory, at: clock.now()) }
            try await run.write(changes.map(RecordChange.applied))
            let settled = Dictionary(changes.map { ($0.url, $0) }) { first, _ in first }
            memory.applied = memory.applied.map { settled[$0.url] ?? $0 }
            // A listing cannot decide about an experience that may belong to several rows.
            guard changes.contains(where: \.isUnsettled) else { return listing }
        }
    }

    /// The maximum number of experiences that a survey requests one by one. [ours]
    private static let maximumSingles = 500

    /// Requests known experiences that a complete list lacks. If they no longer exist, they are forgotten, except recently sent
    /// ones, which may appear later.
    /// - Returns: their URLs.
    private func forgetWhatIsGone(
        _ memory: inout SyncMemory, _ listing: RemoteListing, _ run: (any SyncRun)?
    ) async throws -> [String] {
        guard listing.isComplete else { return [] }
        let settled = clock.now().addingTimeInterval(-settings.settlingTime)
        let listed = Set(listing.experiences.map(\.id))
        let unlisted = memory.applied.filter { row in
            row.sentAt <= settled && row.id.map { !listed.contains($0) } ?? false
        }
        var gone: [String: String] = [:]
        for row in unlisted.prefix(Self.maximumSingles) {
            guard let id = row.id else { continue }
            let exists = try await patiently { () throws(ServiceFailure) in try await service.exists(id) }
            if !exists { gone[row.url.canonical] = id }
        }
        let now = clock.now()
        try await run?.write(gone.map { .removed(url: $0.key, id: $0.value, at: now) })
        memory.applied.removeAll { gone[$0.url.canonical] != nil }
        memory.removedIDs.formUnion(gone.values)
        return gone.keys.sorted()
    }
}

extension SyncMemory {
    /// Whether one image may serve many experiences: so it is believed until one was refused for it.
    var sharesImages: Bool { !images.contains { $0.holder != nil } }
}

extension AppliedExperience {
    /// Whether a complete list shows that a creation without a response happened; nil if several experiences are possible.
    fileprivate func settled(
        by listing: RemoteListing, _ memory: SyncMemory, at now: Date
    ) -> AppliedExperience? {
        guard case .creating(let missing) = phase else { return nil }
        let owned = Set(memory.applied.compactMap(\.id)).union(memory.removedIDs)
        let others = listing.experiences.filter { !owned.contains($0.id) }
        let found = others.filter { $0.canonicalURL == url.canonical }
        // One without a link may be it.
        guard found.count <= 1, !others.contains(where: \.link.isEmpty) else { return nil }
        var row = self
        if let one = found.first {
            row.phase = .created(id: one.id)
        } else {
            row.phase = .creating(missingListings: missing + 1)
            row.sentAt = now
        }
        return row
    }
}

extension [String] {
    /// The URLs of a plan with a target; all URLs if the plan has no target.
    fileprivate func within(_ target: String?, _ plan: SyncPlan) -> [String] {
        guard let target else { return self }
        let urls = Set(plan.rows.map(\.url))
        return filter { $0 == target || urls.contains($0) }
    }
}

extension SyncPlan {
    fileprivate func narrowed(
        to target: String?, _ desired: [String: DesiredExperience]
    ) -> SyncPlan {
        guard let target else { return self }
        return SyncPlan(
            rows: rows.filter { $0.url == target || desired[$0.url]?.location == target })
    }
}

import Cards
import Foundation
import Invocation

/// The state of one run.
struct Application {
    typealias Row = SyncPlan.Row

    let registrar: SyncRunner
    let run: any SyncRun
    private let wishes: SyncRunner.Wishes
    /// The only changes to make; nil for all.
    private let saved: SavedPlan?
    private let progress: @Sendable (SyncProgress) -> Void
    private var outcome = SyncOutcome()
    /// The images at Apple; failed ones are in `imageFailures`.
    var images: [ImageKey: RemoteImage] = [:]
    var imageFailures: [ImageKey: ServiceFailure] = [:]
    var sharesImages = true
    /// The applied state at the beginning of the round, by URL.
    private var known: [String: AppliedExperience] = [:]
    /// URLs that this run is done with, whatever became of them.
    private var finished: Set<String> = []
    /// URLs whose creation was sent and got no response.
    private var unanswered: Set<String> = []
    /// The number of attempts that got no response, or a response that requires waiting, by URL.
    private var tries: [String: Int] = [:]
    private var total = 0

    /// A search for an image: for one experience, or for all.
    struct ImageKey: Hashable {
        let digest: ImageDigest
        let holder: String?
    }

    /// Requests that are under way at once. [ours]
    static let width = 8
    /// The maximum number of surveys in a run; the next run continues with the rest. [ours]
    private static let maximumRounds = 20
    private static let maximumTries = 5

    init(
        _ registrar: SyncRunner, _ run: any SyncRun, _ wishes: SyncRunner.Wishes, _ saved: SavedPlan?,
        _ progress: @escaping @Sendable (SyncProgress) -> Void
    ) {
        self.registrar = registrar
        self.run = run
        self.wishes = wishes
        self.saved = saved
        self.progress = progress
    }

    mutating func apply() async throws -> SyncOutcome {
        for round in 1... {
            let survey: SyncSurvey
            do {
                survey = try await registrar.survey(wishesLeft, run, isAgain: round > 1)
            } catch let failure as ServiceFailure where round > 1 {
                outcome.stopped = failure
                return outcome
            }
            // In later rounds, rows that have changed are left alone.
            if round == 1 { try saved?.check(survey.plan) }
            outcome.survey = survey
            known = Dictionary(survey.memory.applied.map { ($0.url.canonical, $0) }) { first, _ in first }
            try await refresh(survey)
            countAnswered()
            let next = rows(of: survey)
            guard !next.isEmpty else {
                if !survey.listing.listing.isComplete, !survey.isInStep {
                    outcome.stopped = .incompleteListing
                }
                break
            }
            guard round < Self.maximumRounds else {
                outcome.stopped = ServiceFailure(
                    .wait, code: "changes_left",
                    description: "after \(round) rounds, \(next.count) changes are left: run apply again")
                break
            }
            images = Dictionary(
                survey.memory.images.map { (ImageKey(digest: $0.digest, holder: $0.holder), $0) }
            ) { first, _ in first }
            sharesImages = survey.memory.sharesImages
            total = finished.count + next.count
            do {
                try await perform(next, survey)
            } catch let failure as ServiceFailure {
                outcome.stopped = failure
                // If a run may send no more requests, this is its result, not the failure of one request.
                try await run.write([])
            }
            if outcome.stopped != nil { break }
        }
        return outcome
    }

    /// Removals that were made reduce the allowed number.
    private var wishesLeft: SyncRunner.Wishes {
        var left = wishes
        left.allowedRemovals = max(0, left.allowedRemovals - outcome.removed)
        left.allowedMassRemoval = left.allowedMassRemoval.map { $0 - outcome.removed }
        return left
    }

    /// The rows to change now. Removals wait until all other changes are done and listed.
    private func rows(of survey: SyncSurvey) -> [Row] {
        let open = survey.plan.rows.filter { row in
            row.step.isChange && !finished.contains(row.url) && saved?.has(row) != false
                && !(outcome.createsNoMore != nil && row.step.isCreation)
        }
        let changes = open.filter { !$0.step.isRemoval }
        let wanted =
            changes.isEmpty
            ? open : changes.filter(\.step.isCreation) + changes.filter { !$0.step.isCreation }
        return Array(wanted.prefix(wishes.limit.map { max(0, $0 - finished.count) } ?? .max))
    }

    /// Records an experience as sent if it is registered as desired but another state was recorded: the response to its change
    /// was lost.
    private func refresh(_ survey: SyncSurvey) async throws {
        let stale = survey.plan.rows.compactMap { row -> RecordChange? in
            guard row.step == .inStep, var known = known[row.url], known.id != nil,
                let desired = survey.desired[row.url]
            else { return nil }
            let fields = known.content.fields
            guard desired.content.fields.contains(where: { fields[$0.key] != $0.value }) else { return nil }
            known.content = desired.content.inheriting(known.content)
            return .applied(known)
        }
        if !stale.isEmpty { try await run.write(stale) }
    }

    /// Counts creations without a response that a listing has confirmed.
    private mutating func countAnswered() {
        for url in unanswered where known[url]?.id != nil {
            unanswered.remove(url)
            finished.insert(url)
            outcome.created += 1
        }
    }

    // MARK: Changes

    private mutating func perform(_ rows: [Row], _ survey: SyncSurvey) async throws {
        if sharesImages { try await prepareImages(of: rows) }
        var pending = rows[...]
        while !pending.isEmpty, outcome.stopped == nil {
            let chunk = Array(pending.prefix(Self.width))
            pending = pending.dropFirst(chunk.count)
            let again = try await perform(chunk: chunk, survey)
            if !again.isEmpty {
                let most = again.map { tries[$0.url, default: 0] }.max() ?? 0
                try await registrar.clock.sleep(for: .seconds(1 << min(most, 5)))
            }
            pending = (again + pending)[...]
            if outcome.createsNoMore != nil { pending = pending.filter { !$0.step.isCreation }[...] }
            await report(survey)
        }
    }

    /// - Returns: The rows to send again.
    private mutating func perform(chunk: [Row], _ survey: SyncSurvey) async throws -> [Row] {
        try await prepareImages(of: chunk)
        let calls = chunk.compactMap { call(for: $0, survey) }
        let fences = calls.map { fence(of: $0) }
        let service = registrar.service
        let clip = survey.clip.id
        let results = await withTaskGroup(of: (Int, Result<String, ServiceFailure>).self) { group in
            for (index, call) in calls.enumerated() {
                let fence = fences[index]
                group.addTask { (index, await call.send(service, clip: clip, fence: fence)) }
            }
            var results: [(Int, Result<String, ServiceFailure>)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }
        }
        var again: [Row] = []
        var changes: [RecordChange] = []
        for (index, result) in results {
            let call = calls[index]
            switch result {
            case .success(let id):
                finish(call)
                changes +=
                    call.kind == .remove
                    ? [.removed(url: call.row.url, id: id, at: registrar.clock.now())]
                    : [
                        .applied(call.applied(.created(id: id), at: registrar.clock.now())),
                        .taken(url: call.row.url),
                    ]
            case .failure(let failure):
                if take(failure, of: call, &changes) { again.append(call.row) }
            }
        }
        // As above: an empty write checks whether the run may still send.
        if !changes.isEmpty || outcome.stopped != nil { try await run.write(changes) }
        return again
    }

    /// Records a creation as sent; an empty write also checks whether the run may still send.
    private func fence(of call: Call) -> Fence {
        let (run, clock) = (run, registrar.clock)
        return {
            try await run.write(
                call.isCreation
                    ? [.applied(call.applied(.creating(missingListings: 0), at: clock.now()))] : [])
        }
    }

    /// The request for a row; nil if its image is unavailable, which fails the row.
    private mutating func call(for row: Row, _ survey: SyncSurvey) -> Call? {
        guard var call = Call(row, survey, known: known[row.url]) else { return nil }
        guard let digest = call.neededImage else { return call }
        let key = ImageKey(digest: digest, holder: sharesImages ? nil : row.url)
        guard let image = images[key], image.phase == .complete else {
            let rejected = ServiceFailure(
                .wait, code: "image_rejected", description: "Apple rejected the image")
            finish(
                row.url, imageFailures[key] ?? (images[key]?.phase == .failed ? rejected : .imageUnfinished))
            return nil
        }
        call.image = image.id
        call.usesSharedImage = sharesImages
        return call
    }

    /// Decides how the run continues after a failure.
    /// - Returns: Whether to send the row again in this round.
    private mutating func take(
        _ failure: ServiceFailure, of call: Call, _ changes: inout [RecordChange]
    ) -> Bool {
        let url = call.row.url
        if !failure.isTooManyRequests { tries[url, default: 0] += 1 }
        let isWorthwhile = tries[url, default: 0] < Self.maximumTries
        if call.isCreation {
            // A creation that may have happened stays recorded as sent, including one of an earlier attempt.
            if failure.mayHaveHappened || failure.verdict == .settle && call.wasSentBefore {
                unanswered.insert(url)
                // The wait begins now, because the response may have taken long.
                changes.append(
                    .applied(call.applied(.creating(missingListings: 0), at: registrar.clock.now())))
                if !isWorthwhile { finish(url, failure) }
                return false
            }
            changes.append(.forgotten(url: url))
        }
        switch failure.verdict {
        case .stop:
            outcome.stopped = failure
            return false
        case .wait:
            if !isWorthwhile { finish(url, failure) }
            return isWorthwhile
        case .gone where !call.isCreation:
            // A missing experience is the goal of a removal. For a change, the next survey plans a creation.
            changes.append(.removed(url: url, id: call.id ?? "", at: registrar.clock.now()))
            if call.kind == .remove { finish(call) }
            return false
        case .reject where call.isCreation && failure.isAboutClip:
            outcome.createsNoMore = failure
            return false
        case .reject where failure.isAboutImage && call.usesSharedImage:
            sharesImages = false
            return true
        case .settle:
            finish(url, failure)
        case .blocked, .reject, .gone:
            finish(url, failure)
            if let content = call.desired {
                let refusal = SyncMemory.Refusal(
                    content, code: failure.code, source: failure.source, requestID: failure.requestID)
                changes.append(.refused(url: url, refusal, at: registrar.clock.now()))
            }
        }
        if call.isCreation { outcome.countRefusedCreation(failure, of: total) }
        return false
    }

    private mutating func finish(_ call: Call) {
        finished.insert(call.row.url)
        unanswered.remove(call.row.url)
        outcome.count(call.kind)
    }

    private mutating func finish(_ url: String, _ failure: ServiceFailure) {
        finished.insert(url)
        outcome.failures.append(SyncOutcome.RowFailure(url, failure))
    }

    private func report(_ survey: SyncSurvey) async {
        let perChange = Double(survey.forecast.requests) / Double(max(1, total))
        let left = Double(max(0, total - finished.count)) * perChange
        progress(
            SyncProgress(
                done: finished.count, total: total,
                end: await registrar.pacer.end(after: Int(left.rounded(.up)))))
    }
}

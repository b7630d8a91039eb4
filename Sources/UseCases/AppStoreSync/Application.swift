import Cards
import Foundation
import Invocation

/// One run: what it has done so far, and what it knows.
struct Application {
    typealias Row = SyncPlan.Row

    let registrar: SyncRunner
    let run: any SyncRun
    private let wishes: SyncRunner.Wishes
    /// What alone may be done; nil for all that there is to do.
    private let saved: SavedPlan?
    private let progress: @Sendable (SyncProgress) -> Void
    private var outcome = SyncOutcome()
    /// As they are at Apple; those that could not be brought there are in the other.
    var images: [ImageKey: RemoteImage] = [:]
    var imageFailures: [ImageKey: ServiceFailure] = [:]
    var sharesImages = true
    /// What was remembered when the round began, by URL.
    private var known: [String: AppliedExperience] = [:]
    /// URLs that this run is done with, whatever became of them.
    private var finished: Set<String> = []
    /// URLs whose creation was sent and not answered.
    private var unanswered: Set<String> = []
    /// How often each was sent without an answer, or with one that says to wait.
    private var tries: [String: Int] = [:]
    private var total = 0

    /// An image as it is looked for: of one experience, or for all.
    struct ImageKey: Hashable {
        let digest: ImageDigest
        let holder: String?
    }

    /// Requests that are under way at once. [ours]
    static let width = 8
    /// Surveys of a run: what is still unsettled then is left to the next one. [ours]
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
            // Later on what has become another is left as it is.
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
                // A run that may send no more ends as such, and not by what one of its requests says.
                try await run.write([])
            }
            if outcome.stopped != nil { break }
        }
        return outcome
    }

    /// What is removed already is allowed no more.
    private var wishesLeft: SyncRunner.Wishes {
        var left = wishes
        left.allowedRemovals = max(0, left.allowedRemovals - outcome.removed)
        left.allowedMassRemoval = left.allowedMassRemoval.map { $0 - outcome.removed }
        return left
    }

    /// What is to be done now: removals only when nothing else is, and so after a listing that has all the rest.
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

    /// Writes down what is registered as it is desired where something else was last known to be sent: the answer to a change was lost.
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

    /// Counts creations without an answer that a listing has shown to have happened.
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

    /// - Returns: the rows that are to be sent again.
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
        // As above: to write nothing asks whether the run may still send.
        if !changes.isEmpty || outcome.stopped != nil { try await run.write(changes) }
        return again
    }

    /// Writes a creation down as sent; to write nothing also asks whether the run may still send.
    private func fence(of call: Call) -> Fence {
        let (run, clock) = (run, registrar.clock)
        return {
            try await run.write(
                call.isCreation
                    ? [.applied(call.applied(.creating(missingListings: 0), at: clock.now()))] : [])
        }
    }

    /// What a row asks of the service; nil where its image cannot be had, which is the row's failure then.
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

    /// Decides what a failure means.
    /// - Returns: whether the row is to be sent again in this round.
    private mutating func take(
        _ failure: ServiceFailure, of call: Call, _ changes: inout [RecordChange]
    ) -> Bool {
        let url = call.row.url
        if !failure.isTooManyRequests { tries[url, default: 0] += 1 }
        let isWorthwhile = tries[url, default: 0] < Self.maximumTries
        if call.isCreation {
            // What may have happened stays written down as sent, and so does what an attempt before this one may have made.
            if failure.mayHaveHappened || failure.verdict == .settle && call.wasSentBefore {
                unanswered.insert(url)
                // From now on it is waited for: its answer may have been waited for long.
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
            // Of what is removed that was asked for; of a change the next survey makes a creation.
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

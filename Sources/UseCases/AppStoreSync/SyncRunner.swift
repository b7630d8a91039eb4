import Cards
public import Foundation
public import Tenancy

/// Brings what App Store Connect has of a clip's experiences in step with the catalogue.
///
/// It looks first and writes then: a survey lists all that is there and makes the plan; a run does what the plan says and
/// surveys again, until nothing is left that it may do.
public struct SyncRunner: Sendable {
    let clip: BundleID
    let records: any SyncRecords
    let service: any ExperienceService
    let clock: any SyncClock
    let pacer: RequestPacer
    let settings: Settings

    public struct Settings: Sendable {
        /// How long after a creation whose answer was lost a listing is believed that has it not, in seconds. [ours]
        public var settlingTime: TimeInterval = 60
        /// How long after its last part it is first asked whether an image is processed, in seconds. [ours]
        public var processingTime: TimeInterval = 15

        public init() {}
    }

    /// What an operator wants of a plan or a run.
    public struct Wishes: Sendable, Hashable {
        public var adopts = false
        public var allowedRemovals = 0
        public var allowedMassRemoval: Int?
        /// In seconds.
        public var grace = SyncPolicy.grace
        /// A canonical URL, or the identifier of a location; nil for all.
        public var target: String?
        /// The most changes of a run; nil for any number.
        public var limit: Int?
        /// Whether what Apple refused is sent again as it is.
        public var retriesRefused = false
        /// Whether they are of a plan that was kept, of which some may be done already.
        var isKept = false

        public init() {}
    }

    public init(
        clip: BundleID, _ records: any SyncRecords, _ service: any ExperienceService,
        _ pacer: RequestPacer, _ clock: any SyncClock, _ settings: Settings = Settings()
    ) {
        self.clip = clip
        self.records = records
        self.service = service
        self.pacer = pacer
        self.clock = clock
        self.settings = settings
    }

    /// Tells what there is to do, and what it costs; changes nothing at Apple.
    public func plan(_ wishes: Wishes) async throws -> SyncSurvey {
        try await survey(wishes, nil)
    }

    /// Looks at all there is, for who wants to know what somebody has changed at Apple.
    /// - Throws: `SyncError.busy` and `appliedMeanwhile` where somebody applies, since what a run does is no drift;
    ///   `ServiceFailure` with the code `incomplete_listing` where not all could be seen.
    public func look() async throws -> (survey: SyncSurvey, check: SyncCheck) {
        // As old as what is seen first, however long the rest waits for the budget.
        let start = clock.now()
        let run = try await records.newestRun()
        let survey = try await plan(Wishes())
        guard survey.listing.listing.isComplete else { throw ServiceFailure.incompleteListing }
        var (release, domains): (ClipRelease?, [AssociatedDomain]?)
        do {
            let builds = try await patiently { () throws(ServiceFailure) in try await service.builds() }
            release = builds?.release
            if let bundle = builds?.bundle {
                domains = try await patiently { () throws(ServiceFailure) in
                    try await service.domains(ofBundle: bundle)
                }
            }
        } catch is ServiceFailure {
            // A key may reach experiences and no builds: the plan is complete without release and sites.
        }
        guard try await records.newestRun() == run else { throw SyncError.appliedMeanwhile(clip) }
        return (survey, SyncCheck(survey, release: release, domains: domains, of: clip, at: start))
    }

    /// Looks whether a plan that was looked at is still the one there is; changes nothing at Apple.
    /// - Throws: `SyncError.stalePlan` where it is another.
    public func plan(_ saved: SavedPlan) async throws -> SyncSurvey {
        let survey = try await survey(saved.wishesLeft, nil)
        try saved.check(survey.plan)
        return survey
    }

    /// Does what there is to do.
    /// - Parameter progress: told after each step.
    public func apply(
        _ wishes: Wishes, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws -> SyncOutcome {
        try await records.withRun(at: clock.now()) { run in
            var application = Application(self, run, wishes, nil, progress)
            return try await application.apply()
        }
    }

    /// Does what a plan says that was looked at, and nothing else.
    /// - Parameter limit: the most changes; nil for all.
    /// - Throws: `SyncError.stalePlan` where there is another plan now: then nothing is done.
    public func apply(
        _ saved: SavedPlan, limit: Int? = nil,
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws -> SyncOutcome {
        var wishes = saved.wishesLeft
        wishes.limit = limit
        return try await records.withRun(at: clock.now()) { [wishes] run in
            var application = Application(self, run, wishes, saved, progress)
            return try await application.apply()
        }
    }

    /// How often a read is sent while nothing is wrong with it but the answer. [ours]
    private static let maximumTries = 6

    /// Asks until there is an answer, or until it is no use.
    func patiently<Result>(
        _ ask: () async throws(ServiceFailure) -> Result
    ) async throws -> Result {
        var tries = 1
        while true {
            do throws(ServiceFailure) {
                return try await ask()
            } catch {
                guard error.verdict == .wait, error.isTooManyRequests || tries < Self.maximumTries else {
                    throw error
                }
                // The pacer knows how long to wait after too many requests.
                if !error.isTooManyRequests {
                    try await clock.sleep(for: .seconds(1 << (tries - 1)))
                    tries += 1
                }
            }
        }
    }
}

/// How far a run is.
public struct SyncProgress: Sendable, Hashable {
    /// Changes that are done, or given up.
    public let done: Int
    public let total: Int
    /// When the last request will be sent at the key's present budget; nil while that is not known.
    public let end: Date?
}

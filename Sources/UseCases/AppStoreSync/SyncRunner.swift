import Cards
public import Foundation
public import Tenancy

/// Makes a clip's experiences at App Store Connect match the catalogue.
///
/// Each round begins with a survey, which lists everything and makes the plan. The run then makes the planned changes and
/// surveys again, until no permitted change is left.
public struct SyncRunner: Sendable {
    let clip: BundleID
    let records: any SyncRecords
    let service: any ExperienceService
    let clock: any SyncClock
    let pacer: RequestPacer
    let settings: Settings

    public struct Settings: Sendable {
        /// Seconds after a creation without a response from which a list without it is trusted. [ours]
        public var settlingTime: TimeInterval = 60
        /// Seconds between an image's last part and the first poll. [ours]
        public var processingTime: TimeInterval = 15

        public init() {}
    }

    /// The operator's options of a plan or a run.
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
        /// Whether refused experiences are sent again unchanged.
        public var retriesRefused = false
        /// Whether the changes are from a stored plan, some of which may already be made.
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

    /// Returns the changes to make, and their cost; changes nothing at Apple.
    public func plan(_ wishes: Wishes) async throws -> SyncSurvey {
        try await survey(wishes, nil)
    }

    /// Checks everything, to find changes that others made at Apple.
    /// - Throws: `SyncError.busy` and `appliedMeanwhile` if another run applies, because its changes are not drift;
    ///   `ServiceFailure` with the code `incomplete_listing` if the list was incomplete.
    public func look() async throws -> (survey: SyncSurvey, check: SyncCheck) {
        // Dated by the first read, even if later reads wait for the rate limit.
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

    /// Checks whether a reviewed plan is still current; changes nothing at Apple.
    /// - Throws: `SyncError.stalePlan` if the current plan differs.
    public func plan(_ saved: SavedPlan) async throws -> SyncSurvey {
        let survey = try await survey(saved.wishesLeft, nil)
        try saved.check(survey.plan)
        return survey
    }

    /// Makes the changes of the current plan.
    /// - Parameter progress: Called after each step.
    public func apply(
        _ wishes: Wishes, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async throws -> SyncOutcome {
        try await records.withRun(at: clock.now()) { run in
            var application = Application(self, run, wishes, nil, progress)
            return try await application.apply()
        }
    }

    /// Makes exactly the changes of a reviewed plan.
    /// - Parameter limit: The maximum number of changes; nil for all.
    /// - Throws: `SyncError.stalePlan` if the current plan differs. Nothing is changed then.
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

    /// The maximum number of attempts of a read whose response failed. [ours]
    private static let maximumTries = 6

    /// Repeats the request until a response arrives or repeating is useless.
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

/// The progress of a run.
public struct SyncProgress: Sendable, Hashable {
    /// Changes that are done, or given up.
    public let done: Int
    public let total: Int
    /// When the last request will be sent at the key's present budget; nil while that is not known.
    public let end: Date?
}

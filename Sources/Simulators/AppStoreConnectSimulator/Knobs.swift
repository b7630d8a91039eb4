/// All that Apple does not say about its API, or that was seen to vary: whoever relies on one setting finds out by the other.
public struct Knobs: Sendable, Hashable {
    // MARK: Experiences

    /// Whether a second experience of one link is refused.
    public var refusesDuplicateLinks = true
    /// Whether a removed experience answers 404; else it is there as DEACTIVATED.
    public var removedAreGone = true
    /// Whether listings have what is DEACTIVATED, unless they ask for a status.
    public var listsDeactivated = true
    /// Whether the link of a removed experience can be registered again.
    public var removedLinksAreFree = true
    /// Whether `removed: false` brings a removed experience back.
    public var revives = false
    /// The most experiences of a clip; nil for any number.
    public var maximumExperiences: Int?
    /// Whether a localization that a change leaves out goes.
    public var omittedLocalizationsGo = true
    /// Whether the identifiers of new localizations must be of the form `${…}`. [observed: since April 2026]
    public var localIDsAreStrict = true
    /// Whether titles of more than 30 and subtitles of more than 56 characters are refused; only the help has these limits.
    public var limitsTexts = true
    /// Whether no experience of any clip can be changed or removed, as Apple's article has it of released clips.
    public var refusesChanges = false
    /// For how long a place is PENDING, in seconds.
    public var placePending = 60.0
    /// Names of places that Maps does not have: NO_MATCH.
    public var unmatchedNames: Set<String> = []
    /// Whether Maps' own spelling and identifier of a matched place is read back, and not what was written.
    public var correctsPlaces = false
    /// Hosts whose association files Apple could not fetch.
    public var unreachableDomains: Set<String> = []

    /// The state of the version that the app's build is of; nil for a build without a version.
    public var versionState: VersionState? = .readyForDistribution

    // MARK: Images

    /// Whether one image may serve many experiences.
    public var sharesImages = true
    /// Whether an experience may name an image that is not COMPLETE.
    public var acceptsUnfinishedImages = false
    /// The most bytes of one upload operation.
    public var partSize = 1 << 20
    /// How long a reservation lasts, in seconds.
    public var reservation = 604_800.0
    /// How long after its commit an image is COMPLETE or FAILED, in seconds.
    public var processing = 10.0
    /// How long after that `sourceFileChecksum` can be read, in seconds.
    public var checksumLag = 0.0
    /// Whether upload operations are in the answer to the reservation alone.
    public var hidesUploadOperations = false

    // MARK: Listings

    /// How long after it was made, or removed, an experience is in the listings, or out of them, in seconds.
    public var listingLag = 0.0
    /// Whether rows are ordered by their identifiers, which look random, and not as they were made: a new row moves others
    /// from page to page.
    public var scattersRows = false
    /// Parameters that the specification has and the service refuses.
    public var refusedParameters: Set<String> = []

    // MARK: Budgets

    /// Requests of a key in a rolling hour. [observed: 3,600]
    public var hourlyLimit = 3_600
    /// Writes of a key in a rolling minute; nil for no such budget. [observed: 150 and 250]
    public var minuteLimit: Int?
    /// How the budget of the minute is told on answers to writes.
    public var minuteHeader = MinuteHeader.sameLine
    /// Whether parts of images count.
    public var countsUploads = false
    /// Whether a 429 for a spent budget has `Retry-After`.
    public var tellsRetryAfter = false
    /// Whether an agreement is missing: every request is refused.
    public var lacksAgreement = false

    /// The values of `appVersionState`. [Apple]
    public enum VersionState: String, Sendable, Hashable, CaseIterable {
        case accepted = "ACCEPTED"
        case developerRejected = "DEVELOPER_REJECTED"
        case inReview = "IN_REVIEW"
        case invalidBinary = "INVALID_BINARY"
        case metadataRejected = "METADATA_REJECTED"
        case pendingAppleRelease = "PENDING_APPLE_RELEASE"
        case pendingDeveloperRelease = "PENDING_DEVELOPER_RELEASE"
        case prepareForSubmission = "PREPARE_FOR_SUBMISSION"
        case processingForDistribution = "PROCESSING_FOR_DISTRIBUTION"
        case readyForDistribution = "READY_FOR_DISTRIBUTION"
        case readyForReview = "READY_FOR_REVIEW"
        case rejected = "REJECTED"
        case replacedWithNewVersion = "REPLACED_WITH_NEW_VERSION"
        case waitingForExportCompliance = "WAITING_FOR_EXPORT_COMPLIANCE"
        case waitingForReview = "WAITING_FOR_REVIEW"
    }

    public enum MinuteHeader: String, Sendable, Hashable, CaseIterable {
        case alone
        case sameLine = "same_line"
        case secondLine = "second_line"
    }

    public init() {}
}

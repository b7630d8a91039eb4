/// Behaviors of Apple's API that are undocumented or that vary. The knobs let tests try each possibility.
public struct Knobs: Sendable, Hashable {
    // MARK: Experiences

    /// Whether a second experience with the same link is refused.
    public var refusesDuplicateLinks = true
    /// Whether a removed experience gets 404. Otherwise it exists with the status DEACTIVATED.
    public var removedAreGone = true
    /// Whether listings contain DEACTIVATED experiences, unless they request a status.
    public var listsDeactivated = true
    /// Whether the link of a removed experience can be registered again.
    public var removedLinksAreFree = true
    /// Whether `removed: false` brings a removed experience back.
    public var revives = false
    /// The maximum number of experiences of a clip; nil for any number.
    public var maximumExperiences: Int?
    /// Whether a change deletes localizations that it does not contain.
    public var omittedLocalizationsGo = true
    /// Whether the identifiers of new localizations must be of the form `${…}`. [observed: since April 2026]
    public var localIDsAreStrict = true
    /// Whether titles of more than 30 and subtitles of more than 56 characters are refused. Only the help has these limits.
    public var limitsTexts = true
    /// Whether no experience of any clip can be changed or removed. Apple's article says this about released clips.
    public var refusesChanges = false
    /// The seconds for which a place is PENDING.
    public var placePending = 60.0
    /// Names of places that Maps does not find: NO_MATCH.
    public var unmatchedNames: Set<String> = []
    /// Whether a matched place has the spelling and identifier of Maps, and not the written ones.
    public var correctsPlaces = false
    /// Hosts whose association files Apple could not fetch.
    public var unreachableDomains: Set<String> = []

    /// The state of the app version of the build; nil for a build without a version.
    public var versionState: VersionState? = .readyForDistribution

    // MARK: Images

    /// Whether one image may serve many experiences.
    public var sharesImages = true
    /// Whether an experience may name an image that is not COMPLETE.
    public var acceptsUnfinishedImages = false
    /// The maximum number of bytes of one upload operation.
    public var partSize = 1 << 20
    /// The lifetime of a reservation, in seconds.
    public var reservation = 604_800.0
    /// The seconds after its commit until an image is COMPLETE or FAILED.
    public var processing = 10.0
    /// The seconds after that until `sourceFileChecksum` can be read.
    public var checksumLag = 0.0
    /// Whether only the response to the reservation contains the upload operations.
    public var hidesUploadOperations = false

    // MARK: Listings

    /// The seconds after its creation or removal until an experience is in the listings, or disappears from them.
    public var listingLag = 0.0
    /// Whether rows are sorted by their identifiers, which look random, and not by creation. A new row then moves others from page
    /// to page.
    public var scattersRows = false
    /// Parameters of the specification that the service refuses.
    public var refusedParameters: Set<String> = []

    // MARK: Budgets

    /// The maximum number of requests of a key in a rolling hour. [observed: 3,600]
    public var hourlyLimit = 3_600
    /// The maximum number of writes of a key in a rolling minute; nil for no limit. [observed: 150 and 250]
    public var minuteLimit: Int?
    /// The form in which responses to writes report the budget of the minute.
    public var minuteHeader = MinuteHeader.sameLine
    /// Whether uploads of parts of images count.
    public var countsUploads = false
    /// Whether a 429 for a spent budget has `Retry-After`.
    public var tellsRetryAfter = false
    /// Whether an agreement is missing, so that every request is refused.
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

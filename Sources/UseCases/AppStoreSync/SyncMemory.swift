public import Cards
public import Foundation

/// The stored state of one clip's registration.
public struct SyncMemory: Sendable {
    public var applied: [AppliedExperience]
    public var removedIDs: Set<String>
    /// By canonical URL.
    public var refusals: [String: Refusal]
    public var images: [RemoteImage]

    /// Apple's refusals, with their reasons.
    public struct Refusal: Sendable, Hashable {
        public let content: ExperienceContent
        public let code: String
        public let source: String?
        public let requestID: String?

        public init(_ content: ExperienceContent, code: String, source: String?, requestID: String?) {
            self.content = content
            self.code = code
            self.source = source
            self.requestID = requestID
        }
    }

    public init(
        applied: [AppliedExperience] = [], removedIDs: Set<String> = [], refusals: [String: Refusal] = [:],
        images: [RemoteImage] = []
    ) {
        self.applied = applied
        self.removedIDs = removedIDs
        self.refusals = refusals
        self.images = images
    }

    /// The digests of images by Apple's identifiers.
    var digests: [String: ImageDigest] {
        Dictionary(images.map { ($0.id, $0.digest) }) { first, _ in first }
    }
}

/// An image that was reserved at App Store Connect, and how far it came.
public struct RemoteImage: Sendable, Hashable {
    public let digest: ImageDigest
    /// The canonical URL of the one experience that it is for; nil for one that serves many.
    public let holder: String?
    public let id: String
    public var phase: Phase
    public let reservedAt: Date

    public enum Phase: Sendable, Hashable {
        /// Some of its parts may have been sent.
        case reserved([UploadOperation])
        /// All parts are there; Apple is processing them.
        case committed
        case complete
        case failed
    }

    public init(_ digest: ImageDigest, holder: String?, id: String, _ phase: Phase, reservedAt: Date) {
        self.digest = digest
        self.holder = holder
        self.id = id
        self.phase = phase
        self.reservedAt = reservedAt
    }
}

/// One thing more to be remembered.
public enum RecordChange: Sendable, Hashable {
    /// Replaces the stored state of its URL.
    case applied(AppliedExperience)
    /// A creation is known not to have happened.
    case forgotten(url: String)
    /// The experience no longer exists at Apple.
    case removed(url: String, id: String, at: Date)
    case refused(url: String, SyncMemory.Refusal, at: Date)
    /// A refused experience was accepted.
    case taken(url: String)
    case image(RemoteImage)
}

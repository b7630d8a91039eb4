public import Foundation
public import Tenancy

/// A tenant's connections, and the results of its runs.
public struct StoredSyncs: Sendable, Hashable {
    /// By clip.
    public var connections: [StoreConnection]
    /// By clip, including clips that are no longer connected.
    public var clips: [OfClip]
    /// By URL.
    public var refusals: [Refusal]
    /// The newest first.
    public var runs: [Run]

    public init(
        connections: [StoreConnection], clips: [OfClip], refusals: [Refusal], runs: [Run]
    ) {
        self.connections = connections
        self.clips = clips
        self.refusals = refusals
        self.runs = runs
    }

    /// The numbers of a clip's experiences by state.
    public struct OfClip: Sendable, Hashable {
        public let clip: BundleID
        /// Creations that App Store Connect confirmed, and adopted experiences.
        public let registered: Int
        /// Creations that got no response.
        public let unanswered: Int
        /// Registered experiences that the catalogue no longer has.
        public let undesired: Int
        /// Experiences that Apple refused.
        public let refused: Int
        /// When something was last sent.
        public let sentAt: Date?

        public init(
            clip: BundleID, registered: Int, unanswered: Int, undesired: Int, refused: Int, sentAt: Date?
        ) {
            self.clip = clip
            self.registered = registered
            self.unanswered = unanswered
            self.undesired = undesired
            self.refused = refused
            self.sentAt = sentAt
        }
    }

    /// Experiences that Apple refused; they are sent again only after a change.
    public struct Refusal: Sendable, Hashable {
        public let clip: BundleID
        public let url: String
        /// Apple's.
        public let code: String
        /// The position of the error in the request.
        public let source: String?
        public let refusedAt: Date

        public init(clip: BundleID, url: String, code: String, source: String?, refusedAt: Date) {
            self.clip = clip
            self.url = url
            self.code = code
            self.source = source
            self.refusedAt = refusedAt
        }
    }

    /// One `appstore apply`.
    public struct Run: Sendable, Hashable {
        public let clip: BundleID
        public let actor: String
        public let startedAt: Date
        public let endedAt: Date?
        /// `done`, `failed` or `abandoned`; nil while it is under way.
        public let outcome: String?

        public init(clip: BundleID, actor: String, startedAt: Date, endedAt: Date?, outcome: String?) {
            self.clip = clip
            self.actor = actor
            self.startedAt = startedAt
            self.endedAt = endedAt
            self.outcome = outcome
        }
    }
}

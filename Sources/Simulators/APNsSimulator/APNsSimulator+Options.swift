public import APNsPayload
public import Foundation

extension APNsSimulator {
    /// What the simulator is and whom it knows.
    public struct Options: Sendable {
        public var host = "127.0.0.1"
        /// 0 for one that is free.
        public var port = 0
        /// For control by plain HTTP on the loopback address: 0 for one that is free, nil for none.
        public var controlPort: Int?
        /// Which of Apple's services it plays: the sandbox adds `apns-unique-id` to what it takes.
        public var environment = APNsEnvironment.sandbox
        /// The teams whose provider tokens are good.
        public var teams: [Team]
        /// Devices of which more is known than that their token is well formed; all others can be sent to.
        public var devices: [Device] = []
        /// How many streams a connection may have open. [observed: 500 to 1,500]
        public var maximumStreams = 1_000
        /// Whether a connection may have one stream only until it has shown a valid provider token. [Apple]
        public var startsWithOneStream = true
        /// How many channels an app can have. [Apple]
        public var maximumChannels = 10_000
        /// How many requests are remembered; those beyond are counted only.
        public var recordLimit = 1_000_000
        /// A certificate chain and its key as PEM files; nil for new ones, for localhost, 127.0.0.1 and ::1.
        public var certificateFiles: (chain: String, key: String)?
        /// Tells whether provider tokens are too old.
        public var now: @Sendable () -> Date = { Date() }

        public init(teams: [Team]) {
            self.teams = teams
        }
    }

    /// A team and the keys it may sign provider tokens with.
    public struct Team: Sendable {
        public let id: String
        public var keys: [Key]
        /// The bundle IDs it may send to; nil for any.
        public var bundleIDs: Set<String>?
        /// The bundle IDs that broadcasts are enabled for; nil for all that it may send to.
        public var broadcastBundleIDs: Set<String>?

        public init(
            id: String, keys: [Key], bundleIDs: Set<String>? = nil, broadcastBundleIDs: Set<String>? = nil
        ) {
            self.id = id
            self.keys = keys
            self.bundleIDs = bundleIDs
            self.broadcastBundleIDs = broadcastBundleIDs
        }
    }

    /// The public half of a key for provider tokens.
    public struct Key: Sendable {
        public let id: String
        /// A P-256 public key, as the PEM of its `SubjectPublicKeyInfo`.
        public let publicKey: String
        public var environments: Set<APNsEnvironment>

        public init(
            id: String, publicKey: String,
            environments: Set<APNsEnvironment> = Set(APNsEnvironment.allCases)
        ) {
            self.id = id
            self.publicKey = publicKey
            self.environments = environments
        }
    }

    /// A device, or a Live Activity on it, by its token.
    public struct Device: Sendable {
        /// In lower-case hexadecimal digits.
        public let token: String
        /// The app it is for; nil for any.
        public var bundleID: String?
        public var environment: APNsEnvironment?
        public var state: State

        public enum State: Sendable, Hashable {
            case registered
            /// 410 Unregistered, since then.
            case unregistered(since: Date)
            /// 410 ExpiredToken, since then.
            case expired(since: Date)
        }

        public init(
            token: String, bundleID: String? = nil, environment: APNsEnvironment? = nil,
            state: State = .registered
        ) {
            self.token = token
            self.bundleID = bundleID
            self.environment = environment
            self.state = state
        }
    }
}

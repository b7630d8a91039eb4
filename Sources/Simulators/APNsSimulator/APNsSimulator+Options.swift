public import APNsPayload
public import Foundation

extension APNsSimulator {
    /// The simulator's addresses, known teams and devices, and limits.
    public struct Options: Sendable {
        public var host = "127.0.0.1"
        /// 0 for any free port.
        public var port = 0
        /// The port for control over plain HTTP on the loopback address; 0 for any free port, nil for no control.
        public var controlPort: Int?
        /// The simulated service. The sandbox adds `apns-unique-id` to accepted requests.
        public var environment = APNsEnvironment.sandbox
        /// The teams whose provider tokens are valid.
        public var teams: [Team]
        /// Devices with special states. All other well-formed tokens are valid.
        public var devices: [Device] = []
        /// The maximum number of open streams on a connection. [observed: 500 to 1,500]
        public var maximumStreams = 1_000
        /// Whether a connection may have only one stream before its first valid provider token. [Apple]
        public var startsWithOneStream = true
        /// The maximum number of channels of an app. [Apple]
        public var maximumChannels = 10_000
        /// The maximum number of stored requests. Further ones are only counted.
        public var recordLimit = 1_000_000
        /// A certificate chain and its key as PEM files; nil for new ones, for localhost, 127.0.0.1 and ::1.
        public var certificateFiles: (chain: String, key: String)?
        /// The clock that decides whether provider tokens are too old.
        public var now: @Sendable () -> Date = { Date() }

        public init(teams: [Team]) {
            self.teams = teams
        }
    }

    /// A team, and the keys with which it signs provider tokens.
    public struct Team: Sendable {
        public let id: String
        public var keys: [Key]
        /// The bundle IDs that the team may send to; nil for any.
        public var bundleIDs: Set<String>?
        /// The bundle IDs for which broadcasts are enabled; nil for all that the team may send to.
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

    /// The public key of a key for provider tokens.
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
        /// The token in lower-case hexadecimal digits.
        public let token: String
        /// The app of the token; nil for any.
        public var bundleID: String?
        public var environment: APNsEnvironment?
        public var state: State

        public enum State: Sendable, Hashable {
            case registered
            /// Requests get 410 Unregistered with this time.
            case unregistered(since: Date)
            /// Requests get 410 ExpiredToken with this time.
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

public import Foundation

extension AppStoreConnectSimulator {
    /// What the simulator is and whom it knows.
    public struct Options: Sendable {
        /// 0 for one that is free.
        public var port = 0
        /// For control: 0 for one that is free, nil for none.
        public var controlPort: Int?
        public var keys: [Key]
        public var apps: [App]
        public var knobs = Knobs()
        /// Tells the time. What the simulator is made to advance by is added, but not where tokens are judged.
        public var now: @Sendable () -> Date = { Date() }

        public init(keys: [Key], apps: [App]) {
            self.keys = keys
            self.apps = apps
        }
    }

    /// The public half of a key for the App Store Connect API.
    public struct Key: Sendable {
        public let id: String
        /// A P-256 public key, as the PEM of its `SubjectPublicKeyInfo`.
        public let publicKey: String
        /// Of a team key; nil for an individual one.
        public var issuer: String?
        public var role: Role
        /// The identifiers of the apps it reaches; nil for all.
        public var apps: Set<String>?

        public init(
            id: String, publicKey: String, issuer: String?, role: Role = .marketing, apps: Set<String>? = nil
        ) {
            self.id = id
            self.publicKey = publicKey
            self.issuer = issuer
            self.role = role
            self.apps = apps
        }
    }

    /// What a key's user is. Source: "Role permissions", App Store Connect Help. [Apple]
    public enum Role: String, Sendable, Hashable, CaseIterable {
        case accountHolder = "ACCOUNT_HOLDER"
        case admin = "ADMIN"
        case appManager = "APP_MANAGER"
        case marketing = "MARKETING"
        /// One of those that may not touch App Clip experiences.
        case customerSupport = "CUSTOMER_SUPPORT"
    }

    /// An app with its App Clips.
    public struct App: Sendable {
        public let id: String
        public let bundleID: String
        public var name: String
        /// Such as `en-US`.
        public var primaryLocale: String
        public var clips: [Clip]

        public init(
            id: String, bundleID: String, name: String = "App", primaryLocale: String = "en-US", clips: [Clip]
        ) {
            self.id = id
            self.bundleID = bundleID
            self.name = name
            self.primaryLocale = primaryLocale
            self.clips = clips
        }
    }

    public struct Clip: Sendable {
        public let id: String
        public let bundleID: String
        /// The hosts that its entitlement names and that name it: links lead nowhere else. Nil for any.
        public var domains: Set<String>?

        public init(id: String, bundleID: String, domains: Set<String>? = nil) {
            self.id = id
            self.bundleID = bundleID
            self.domains = domains
        }
    }
}

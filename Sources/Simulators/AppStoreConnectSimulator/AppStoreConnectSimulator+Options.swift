public import Foundation

extension AppStoreConnectSimulator {
    /// The simulator's addresses, keys, apps and settings.
    public struct Options: Sendable {
        /// 0 for any free port.
        public var port = 0
        /// The port for control; 0 for any free port, nil for no control.
        public var controlPort: Int?
        public var keys: [Key]
        public var apps: [App]
        public var knobs = Knobs()
        /// The clock. Advanced time is added to it, but not for the verification of tokens.
        public var now: @Sendable () -> Date = { Date() }

        public init(keys: [Key], apps: [App]) {
            self.keys = keys
            self.apps = apps
        }
    }

    /// The public key of a key for the App Store Connect API.
    public struct Key: Sendable {
        public let id: String
        /// A P-256 public key, as the PEM of its `SubjectPublicKeyInfo`.
        public let publicKey: String
        /// The issuer of a team key; nil for an individual key.
        public var issuer: String?
        public var role: Role
        /// The identifiers of the apps that the key may access; nil for all.
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

    /// The role of a key's user. Source: "Role permissions", App Store Connect Help. [Apple]
    public enum Role: String, Sendable, Hashable, CaseIterable {
        case accountHolder = "ACCOUNT_HOLDER"
        case admin = "ADMIN"
        case appManager = "APP_MANAGER"
        case marketing = "MARKETING"
        /// A role that may not access App Clip experiences.
        case customerSupport = "CUSTOMER_SUPPORT"
    }

    /// An app with its App Clips.
    public struct App: Sendable {
        public let id: String
        public let bundleID: String
        public var name: String
        /// A locale such as `en-US`.
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
        /// The hosts that the app's entitlement names and that name the app. Links of other hosts are refused. Nil for any host.
        public var domains: Set<String>?

        public init(id: String, bundleID: String, domains: Set<String>? = nil) {
            self.id = id
            self.bundleID = bundleID
            self.domains = domains
        }
    }
}

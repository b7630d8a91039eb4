public import Administration
public import AppStoreSync
public import Confirmations
public import Formats
public import Foundation
import HTTPServer
public import Invocation
public import Logging
public import Lookups
public import Notifications
public import Persistence
public import ServiceLifecycle
public import Tenancy

/// The operators' console as a service: it listens until its service group shuts it down gracefully.
public struct ConsoleServer: Service {
    private let settings: Settings
    private let dependencies: Dependencies
    private let logger: Logger
    private let onListening: @Sendable (Int) async -> Void

    /// The console's address and names.
    public struct Settings: Sendable {
        public var host = "127.0.0.1"
        /// 0 takes any free port.
        public var port = 8081
        /// The console's origins besides the names of loopback, such as the origin of a proxy that serves TLS.
        public var origins: [ConsoleOrigin] = []
        /// Proxies whose statements about the client's address are believed. If ``proxySignIn`` is set, so are those about the
        /// user.
        public var proxies: [AddressRange] = []
        /// How the proxies name the user; nil if they do not.
        public var proxySignIn: ProxySignIn?
        /// Addresses that receive notifications instead of Apple, if known.
        public var apnsDetours: [String] = []
        /// The folder with Leaflet's files.
        public var leaflet: String? = Settings.usualLeaflet

        /// The map tiles that replace the console's own land and borders.
        public var tiles: TileSource?
        /// The maximum wait of a page that also shows warnings. [ours]
        var patience = Duration.milliseconds(50)

        /// The folder of Debian's package `libjs-leaflet`.
        public static let usualLeaflet = "/usr/share/javascript/leaflet"

        public init() {}

        /// Whether only this machine can reach the console.
        public var isOnLoopback: Bool {
            ConsoleNames.isLoopback(host.contains(":") ? "[\(host)]" : host)
        }
    }

    /// The stores and services that the console uses.
    public struct Dependencies: Sendable {
        public var sessions: PostgresConsoleSessions
        /// The stores of a user, with the user's name in the audit log and with the user's rights.
        public var stores: @Sendable (ConsoleAccess) -> ConsoleStores
        /// The index that answers lookups.
        public var table: LiveLookupIndex
        /// The warnings about all that a tenant has registered.
        public var findings: @Sendable (Tenant) async throws -> [CatalogueFinding]
        /// Explains the handling of an invocation URL, as `doorstep diagnose` does. If the site is asked, the time is bounded.
        public var diagnose:
            @Sendable (_ url: String, TenantTable, _ asksSite: Bool) async throws -> JSONObject
        public var sites: Sites
        /// How the installation is.
        public var status: @Sendable () async throws -> InstallationStatus
        public var servers: Servers

        public init(
            sessions: PostgresConsoleSessions, stores: @escaping @Sendable (ConsoleAccess) -> ConsoleStores,
            table: LiveLookupIndex,
            findings: @escaping @Sendable (Tenant) async throws -> [CatalogueFinding],
            diagnose:
                @escaping @Sendable (_ url: String, TenantTable, _ asksSite: Bool) async throws ->
                JSONObject,
            sites: Sites, status: @escaping @Sendable () async throws -> InstallationStatus,
            servers: @escaping Servers
        ) {
            self.sessions = sessions
            self.stores = stores
            self.table = table
            self.findings = findings
            self.diagnose = diagnose
            self.sites = sites
            self.status = status
            self.servers = servers
        }
    }

    /// The servers of the installation, the last seen first.
    public typealias Servers = @Sendable () async throws -> [InstallationStatus.Server]

    /// What the server serves at tenants' hosts, and the checks of these hosts.
    public struct Sites: Sendable {
        /// The association file of a host that is proved.
        public var association: @Sendable (LookupIndex.Site) -> [UInt8]
        /// The landing page at a URL of a host with landing pages; nil if there is none.
        public var page: @Sendable (InvocationURL, LookupIndex.ProvedHost, LiveLookupIndex.State) -> [UInt8]?
        /// Looks for the proof of a domain, in bounded time, and stores the result.
        public var prove:
            @Sendable (DomainName, TenantID, ConsoleAccess, Date) async throws -> DomainVerification.Outcome
        /// Checks the served association file, in bounded time.
        public var check: @Sendable (DomainName) async throws -> SiteCheck

        public init(
            association: @escaping @Sendable (LookupIndex.Site) -> [UInt8],
            page:
                @escaping @Sendable (InvocationURL, LookupIndex.ProvedHost, LiveLookupIndex.State) ->
                [UInt8]?,
            prove:
                @escaping @Sendable (DomainName, TenantID, ConsoleAccess, Date) async throws ->
                DomainVerification.Outcome,
            check: @escaping @Sendable (DomainName) async throws -> SiteCheck
        ) {
            self.association = association
            self.page = page
            self.prove = prove
            self.check = check
        }
    }

    /// - Parameter onListening: Called with the port once connections are accepted.
    public init(
        _ settings: Settings, _ dependencies: Dependencies, logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.settings = settings
        self.dependencies = dependencies
        self.logger = logger
        self.onListening = onListening
    }

    /// Listens until graceful shutdown.
    /// - Throws: When the address cannot be used.
    public func run() async throws {
        var serverSettings = ServerSettings()
        serverSettings.host = settings.host
        serverSettings.port = settings.port
        serverSettings.name = "Doorstep"
        let proxies = TrustedProxies(settings.proxies)
        serverSettings.isProxy = { proxies.contains($0) }
        let server = try await RunningServer.start(serverSettings, responder(), logger: logger)
        await onListening(server.port)
        try? await gracefulShutdown()
        _ = await server.drain(within: Self.shutdownTimeout)
    }

    /// The maximum time for open requests when the console stops. [ours]
    private static let shutdownTimeout = Duration.seconds(25)

    func responder() -> ConsoleResponder {
        ConsoleResponder(
            ConsoleEndpoints(settings, dependencies, logger: logger),
            ConsoleGuard(
                names: ConsoleNames(origins: settings.origins), proxies: TrustedProxies(settings.proxies),
                proxySignIn: settings.proxySignIn))
    }
}

/// The stores of a session, which read and change data under its name and with its rights.
public struct ConsoleStores: Sendable {
    public let administration: PostgresAdministrationStore
    public let confirmations: any ConfirmationHistory
    public let deliveries: any DeliveryLedger
    public let traces: NotificationTracer
    public let syncs: PostgresSyncOverview
    public let syncChecks: any LatestChecks
    /// Nil if webhooks' secrets cannot be sealed.
    public let webhooks: (any WebhookRegistry)?

    public init(
        administration: PostgresAdministrationStore, confirmations: any ConfirmationHistory,
        deliveries: any DeliveryLedger, traces: NotificationTracer, syncs: PostgresSyncOverview,
        syncChecks: any LatestChecks, webhooks: (any WebhookRegistry)?
    ) {
        self.administration = administration
        self.confirmations = confirmations
        self.deliveries = deliveries
        self.traces = traces
        self.syncs = syncs
        self.syncChecks = syncChecks
        self.webhooks = webhooks
    }
}

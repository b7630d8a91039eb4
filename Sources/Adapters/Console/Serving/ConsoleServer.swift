public import Administration
public import AppStoreSync
public import Foundation
import HTTPServer
public import IPAddresses
public import Invocation
public import JSON
public import Locations
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

    /// Where to listen, and by which names.
    public struct Settings: Sendable {
        public var host = "127.0.0.1"
        /// 0 takes any free port.
        public var port = 8081
        /// Where browsers reach the console beside loopback's names: origins of a proxy that speaks TLS.
        public var origins: [ConsoleOrigin] = []
        /// Proxies that are believed when they say for whom they ask, and, where ``proxySignIn`` says how, who that is.
        public var proxies: [AddressRange] = []
        /// How they say who somebody is; nil where they do not.
        public var proxySignIn: ProxySignIn?
        /// Where notifications go instead of to Apple, if that is known.
        public var apnsDetours: [String] = []
        /// The folder with Leaflet's files.
        public var leaflet: String? = Settings.usualLeaflet

        /// What maps are drawn on in the place of the console's own land and borders.
        public var tiles: TileSource?
        /// How long a page waits for warnings that it also shows. [ours]
        var patience = Duration.milliseconds(50)

        /// Where Debian's package `libjs-leaflet` has them.
        public static let usualLeaflet = "/usr/share/javascript/leaflet"

        public init() {}

        /// Whether nobody reaches it but this machine.
        public var isOnLoopback: Bool {
            ConsoleNames.isLoopback(host.contains(":") ? "[\(host)]" : host)
        }
    }

    /// What the console stands on.
    public struct Dependencies: Sendable {
        public var sessions: PostgresConsoleSessions
        /// What somebody reads and changes, under their name and with their rights.
        public var stores: @Sendable (ConsoleAccess) -> ConsoleStores
        /// What lookups are answered from.
        public var table: LiveLookupIndex
        /// The warnings about all that a tenant has registered.
        public var findings: @Sendable (Tenant) async throws -> [CatalogueFinding]
        /// Tells what becomes of an invocation URL, as `doorstep diagnose` does; where the site is to be asked, bounded in time.
        public var diagnose:
            @Sendable (_ url: String, TenantTable, _ asksSite: Bool) async throws -> JSONObject
        public var sites: Sites
        /// How the installation is.
        public var status: @Sendable () async throws -> InstallationStatus

        public init(
            sessions: PostgresConsoleSessions, stores: @escaping @Sendable (ConsoleAccess) -> ConsoleStores,
            table: LiveLookupIndex,
            findings: @escaping @Sendable (Tenant) async throws -> [CatalogueFinding],
            diagnose:
                @escaping @Sendable (_ url: String, TenantTable, _ asksSite: Bool) async throws ->
                JSONObject,
            sites: Sites, status: @escaping @Sendable () async throws -> InstallationStatus
        ) {
            self.sessions = sessions
            self.stores = stores
            self.table = table
            self.findings = findings
            self.diagnose = diagnose
            self.sites = sites
            self.status = status
        }
    }

    /// What the server answers at tenants' hosts, and what is found there.
    public struct Sites: Sendable {
        /// The association file of a host that is proved.
        public var association: @Sendable (LookupIndex.Site) -> [UInt8]
        /// The page that people see at a URL of a host at which pages are shown; nil where there is none.
        public var page: @Sendable (InvocationURL, LookupIndex.ProvedHost, LiveLookupIndex.State) -> [UInt8]?
        /// Looks for the proof of a domain, bounded in time, and keeps what comes of it.
        public var prove:
            @Sendable (DomainName, TenantID, ConsoleAccess, Date) async throws -> DomainVerification.Outcome
        /// Judges the association file as it is served, bounded in time.
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

    /// How long requests under way may take when the console ends. [ours]
    private static let shutdownTimeout = Duration.seconds(25)

    func responder() -> ConsoleResponder {
        let endpoints = ConsoleEndpoints(settings, dependencies, logger: logger)
        return ConsoleResponder(
            endpoints.list,
            ConsoleGuard(
                names: ConsoleNames(origins: settings.origins), proxies: TrustedProxies(settings.proxies),
                proxySignIn: settings.proxySignIn),
            endpoints.failures)
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

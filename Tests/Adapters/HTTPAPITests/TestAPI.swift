import Administration
import Confirmations
import Crypto
import Formats
import Foundation
import Geodesy
import HTTPServer
import HTTPTestClient
import HTTPTypes
import Invocation
import LandingPages
import Logging
import Lookups
import Metrics
import NIOCore
import Notifications
import Receipts
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// The API with a lookup index that contains the restaurants of Apple's page.
struct TestAPI: Sendable {
    /// The two ways that a request can take to its response.
    enum Path: CaseIterable {
        /// In this process, by a task.
        case task
        /// Over a connection to a server, whose event loop responds if it can.
        case connection
    }

    let publishable = APIKey.generate(.publishable)
    let secret = APIKey.generate(.secret)
    let suspended = APIKey.generate(.secret)
    /// A key with the scope `confirm` only.
    let confirmer = APIKey.generate(.publishable)
    /// A key with the scopes `manage` and `read`.
    let manager = APIKey.generate(.secret)
    /// A key with the scope `read` only.
    let reader = APIKey.generate(.secret)
    let table: LiveLookupIndex
    let recorder = MemoryRecorder()
    let usage = MemoryUsage()
    let log = LogCapture()
    let instances = MemoryInstanceStore()
    /// False for a server that cannot seal tokens.
    var hasInstances = true
    let notifications = MemoryNotifications()
    let channels = MemoryChannels()
    let webhooks = MemoryWebhookRegistry()
    let idempotency = MemoryIdempotencyStore()
    let locations = MemoryCatalogueStore<LocationRecord>()
    let clips = MemoryCatalogueStore<Clip>()
    let images = MemoryCatalogueStore<CardImage>()
    let experiences = MemoryCatalogueStore<ExperienceRecord>()
    let shortCodes = MemoryCatalogueStore<ShortCode>()
    let domains = MemoryCatalogueStore<DomainRecord>()
    let tenants = MemoryTenantStore()
    /// The DNS records that prove domains.
    let records = MemoryTextRecords()
    let keys = MemoryKeyStore()
    let attestKeys = MemoryAttestKeyStore()
    var auditLog = MemoryAuditLog()
    let diagnoses = ScriptedDiagnoses()
    let confirmations = MemoryConfirmationHistory()
    let launches = MemoryLaunches()
    let requests = MemoryRequestLog()
    let appStore = MemoryLatestChecks()
    let history: MemoryNotificationHistory
    let deliveries = MemoryDeliveryLedger()
    /// A key with the scopes `manage_keys` and `lookup`.
    let keyManager = APIKey.generate(.secret)
    /// Nil for a server without a secret for challenges and tokens.
    var attestation: AppVerifier?
    /// False for a server that cannot open tokens.
    var hasNotifications = true
    /// The settings of the server.
    var settings = APIServer.Settings.forBusyMachines
    /// The limits of the tenant with these keys.
    private let limits: RequestLimits
    private let receipts: ReceiptIssuer?
    private let metrics: any MetricsFactory

    /// - Parameter hasTable: False for a server that has never connected to its database.
    init(
        hasTable: Bool = true, trusting trust: LocationTrust = .nothing,
        limits: RequestLimits = RequestLimits(),
        receipts: ReceiptIssuer? = nil,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance
    ) {
        table = LiveLookupIndex(trusting: trust)
        self.limits = limits
        self.receipts = receipts
        self.metrics = metrics
        history = MemoryNotificationHistory(channels)
        guard hasTable else { return }
        do {
            table.replace(by: try routingTable(), from: .database, asOf: Date())
        } catch {
            fatalError("the test's own catalogue is invalid: \(error)")
        }
    }

    /// Runs the same requests over each path.
    func test(
        over paths: [Path] = Path.allCases, _ body: @escaping @Sendable (Client) async throws -> Void
    ) async throws {
        let log = log
        let logger = Logger(label: "test") { _ in log }
        for path in paths {
            let start = ContinuousClock.now
            // The clock of the limits does not advance.
            let responder = APIResponder(
                settings, dependencies, RequestObserver(settings.accessLog), logger: logger, now: { start })
            switch path {
            case .task: try await body(Client(api: self, http: HTTPTestClient(responder)))
            case .connection:
                var server = ServerSettings(settings)
                server.port = 0
                try await HTTPTestClient.withServer(server, responder) {
                    try await body(Client(api: self, http: $0))
                }
            }
        }
    }

    /// A responder with the real clock.
    var responder: APIResponder {
        let log = log
        return APIResponder(
            settings, dependencies, RequestObserver(settings.accessLog),
            logger: Logger(label: "test") { _ in log })
    }

    var dependencies: APIServer.Dependencies {
        APIServer.Dependencies(
            responses: APIResponses(
                recorder: recorder, receipts: receipts, launches: launches, metrics: metrics),
            attestation: attestation, table: table, usage: usage, refusals: requests,
            instances: hasInstances ? InstanceRegistrar(instances, countingTo: launches) : nil,
            notifications: hasNotifications
                ? NotificationIntake(notifications, onDecided: DecisionCounters(metrics).count) : nil,
            channels: hasNotifications ? ChannelDirectory(channels, channels) : nil,
            webhooks: hasNotifications ? webhooks : nil, idempotency: idempotency,
            catalogue: ManagedCatalogue(
                items: CatalogueStores(
                    clips: clips, images: images, locations: locations, experiences: experiences,
                    domains: domains, plainCollections: [shortCodes]),
                imageFiles: MemoryImageFiles(images: images), tenant: tenants, keys: keys,
                attestKeys: attestKeys, auditLog: auditLog),
            proveDomain: { [domains, records] name, tenant, actor, now in
                try await DomainVerification(
                    store: domains, by: actor, resolver: records, fetcher: records
                ).verify(name, of: tenant, at: now)
            },
            diagnose: { [diagnoses] in try await diagnoses.diagnose($0, $1, asksSite: $2) },
            confirmations: confirmations, history: history, deliveries: deliveries,
            appStore: appStore,
            landingPages: LandingSite().response,
            metrics: { [metrics] in (metrics as? PrometheusRegistry)?.exposition() ?? "" })
    }

    /// Adds a key of a new tenant.
    func admit(
        _ key: APIKey, of tenant: TenantID, scopes: String? = nil, locations: String? = nil
    ) throws {
        guard var table = table.current?.table else { return }
        try table.set(.tenants, .tenant(tenant))
        try table.set(
            .keys,
            .key(
                tenant, KeyID(UUID(number: 90)), Array(SHA256.hash(data: Array(key.text.utf8))),
                kind: key.kind, scopes: scopes, locations: locations))
        self.table.replace(by: table, from: .database, asOf: Date())
    }

    /// The host of all requests.
    static let host = "localhost"

    /// Sets whether the tenant has proved the host.
    func proveHost(_ isProved: Bool = true, pages: DomainPages = .off) throws {
        guard var table = table.current?.table else { return }
        if isProved {
            try table.set(.domains, .domain(TenantID(number: 1), Self.host, pages: pages))
        } else {
            table.remove(.domains, of: TenantID(number: 1), key: [Self.host])
        }
        self.table.replace(by: table, from: .database, asOf: Date())
    }

    private func routingTable() throws -> LookupIndex {
        let tenant = TenantID(number: 1)
        let other = TenantID(number: 2)
        let clip = "com.example.MyApp.Clip"
        var table = LookupIndex()
        try table.set(.tenants, .tenant(tenant, limits: limits))
        try table.set(.tenants, .tenant(other, isSuspended: true))
        try table.set(.clips, .clip(tenant, clip, isMultiBusiness: true))
        for (number, key, tenant, scopes) in [
            (1, publishable, tenant, nil), (2, secret, tenant, nil), (3, suspended, other, nil),
            (4, confirmer, tenant, "confirm"), (5, manager, tenant, "read,manage"),
            (6, reader, tenant, "read"),
            (7, keyManager, tenant, "lookup,manage_keys"),
        ] {
            try table.set(
                .keys,
                .key(
                    tenant, KeyID(UUID(number: UInt8(number))),
                    Array(SHA256.hash(data: Array(key.text.utf8))),
                    kind: key.kind, scopes: scopes))
        }
        try table.set(
            .locations,
            .location(
                tenant, "restaurant_a", name: "Restaurant A", latitude: 37.334722, longitude: -122.008889,
                radius: 100))
        try table.set(
            .locations,
            .location(
                tenant, "restaurant_b", name: "Restaurant B", latitude: 37.33182, longitude: -122.03118,
                details: #"{"phone": "+1 408 555 0100", "hours": "9–17\n"}"#))
        try table.set(
            .experiences,
            .experience(
                tenant, "advanced", "https://example.com/restaurants/restaurant_a", clip: clip,
                location: "restaurant_a"))
        try table.set(
            .experiences,
            .experience(tenant, "advanced", "https://example.com/restaurants", clip: clip, rule: "path:1"))
        return table
    }

    /// Sends requests and reads responses as JSON.
    struct Client: Sendable {
        let api: TestAPI
        let http: HTTPTestClient

        func send(
            _ method: HTTPRequest.Method, _ path: String, key: APIKey?, headers: HTTPFields = [:],
            body: ByteBuffer? = nil
        ) async throws -> APIResponse {
            var headers = headers
            if let key { headers[.authorization] = "Bearer \(key.text)" }
            let received = try await http.send(
                method, path, authority: TestAPI.host, headers: headers, body: body ?? ByteBuffer())
            let bytes = Array(received.body.readableBytesView)
            let response = APIResponse(
                status: received.status.code, headers: received.headers,
                text: String(decoding: bytes, as: UTF8.self),
                json: bytes.isEmpty ? nil : try? JSONValue(parsing: bytes))
            response.expectType()
            if let code = response.code, let declared = DeclaredProblems.codes(method, path),
                response.headers[.contentType] == "application/problem+json"
            {
                #expect(declared.contains(code), "\(method) \(path) does not declare the problem \(code)")
            }
            return response
        }

        func post(
            _ path: String, key: APIKey? = nil, contentType: String? = "application/json", _ body: [UInt8]
        ) async throws -> APIResponse {
            var headers = HTTPFields()
            headers[.contentType] = contentType
            return try await send(
                .post, path, key: key ?? api.secret, headers: headers, body: ByteBuffer(bytes: body))
        }

        func post(_ path: String, key: APIKey? = nil, _ json: JSONValue) async throws -> APIResponse {
            try await post(path, key: key, json.serialized())
        }

        func lookUp(_ url: String, headers: HTTPFields = [:]) async throws -> APIResponse {
            let encoded = url.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
            return try await send(
                .get, "/v1/lookup?url=\(encoded)", key: api.publishable, headers: headers)
        }
    }

    struct APIResponse: Sendable {
        let status: Int
        let headers: HTTPFields
        let text: String
        let json: JSONValue?

        var code: String? { json?.objectValue?["code"]?.stringValue }
        var reason: String? { json?.objectValue?["reason"]?.stringValue }
        var field: String? { json?.objectValue?["field"]?.stringValue }
        subscript(key: String) -> JSONValue? { json?.objectValue?[key] }

        /// Each error must have a code with a problem page.
        func expectType() {
            guard headers[.contentType] == "application/problem+json", !text.isEmpty else { return }
            guard let type = code.flatMap({ ProblemType.byCode[$0] }) else {
                Issue.record("there is no ProblemType of this code: \(text)")
                return
            }
            #expect(self["type"]?.stringValue == type.path && self["title"]?.stringValue == type.title)
            #expect(type.status.code == status, "\(text)")
        }
    }
}

/// Stores confirmations in memory.
final class MemoryRecorder: ConfirmationRecorder {
    private let records = Mutex<[ConfirmationRecord]>([])

    var outcomes: [String] { records.withLock { $0.map(\.outcome.rawValue) } }

    func record(_ record: ConfirmationRecord, of tenant: TenantID) {
        records.withLock { $0.append(record) }
    }
}

/// Records which keys were used.
final class MemoryUsage: KeyUsageRecorder {
    private let used = Mutex<[KeyID]>([])

    var keys: [KeyID] { used.withLock { $0 } }

    func record(_ key: KeyID, of tenant: TenantID, at now: Date) {
        used.withLock { $0.append(key) }
    }
}

/// Stores every log line of every level.
final class LogCapture: LogHandler {
    let lines = Mutex<[String]>([])
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set { lines.withLock { $0.append("\(key)=\(newValue.map { "\($0)" } ?? "")") } }
    }

    func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
}

extension APIServer.Settings {
    /// Settings with long timeouts, because the machine of the tests may be slow.
    static var forBusyMachines: APIServer.Settings {
        var settings = APIServer.Settings()
        settings.bodyTimeout = .seconds(600)
        settings.idleTimeout = .seconds(600)
        settings.responseTimeout = .seconds(600)
        return settings
    }
}

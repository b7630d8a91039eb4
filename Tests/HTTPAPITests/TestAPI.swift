import Administration
import Foundation
import Geodesy
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Invocation
import JSON
import Locations
import Logging
import NIOCore
import Notifications
import Synchronization
import Tenancy

@testable import HTTPAPI

/// The API over stores in memory that hold the restaurants of Apple's page.
struct TestAPI: Sendable {
    let publishable = Self.key(.publishable)
    let secret = Self.key(.secret)
    let suspended = Self.key(.secret)
    let store: MemoryStore
    let log = LogCapture()

    init(failure: (any Error)? = nil) {
        store = MemoryStore(failure: failure)
    }

    /// Requests go through the router, without a network.
    func test(_ body: @escaping @Sendable (Client) async throws -> Void) async throws {
        var settings = APIServer.Settings()
        settings.bodyTimeout = .seconds(5)
        let log = log
        let application = Application(
            responder: APIServer.routes(settings, dependencies).buildResponder(),
            logger: Logger(label: "test") { _ in log })
        try await application.test(.router) { client in
            try await body(Client(client: client, api: self))
        }
    }

    var dependencies: APIServer.Dependencies {
        let principals: [String: Principal] = [
            publishable.text: Principal(
                tenant: MemoryStore.tenant, key: KeyID(UUID()), kind: .publishable, tenantIsSuspended: false),
            secret.text: Principal(
                tenant: MemoryStore.tenant, key: KeyID(UUID()), kind: .secret, tenantIsSuspended: false),
            suspended.text: Principal(
                tenant: MemoryStore.tenant, key: KeyID(UUID()), kind: .secret, tenantIsSuspended: true),
        ]
        return APIServer.Dependencies(
            answers: APIAnswers(
                directory: LocationDirectory(store: store, signatures: NoSignatures()),
                composer: NotificationComposer(store: store)),
            authenticator: MemoryAuthenticator(principals: principals),
            isReady: { [store] in store.failure == nil },
            metrics: { "" },
            isTransient: { $0 is StoreIsAway })
    }

    private static func key(_ kind: KeyKind) -> APIKey {
        var generator = SystemRandomNumberGenerator()
        return APIKey.generate(kind, using: &generator)
    }

    /// Sends requests and reads answers as JSON.
    struct Client: Sendable {
        let client: any TestClientProtocol
        let api: TestAPI

        func send(
            _ method: HTTPRequest.Method, _ path: String, key: APIKey?, headers: HTTPFields = [:],
            body: ByteBuffer? = nil
        ) async throws -> Answer {
            var headers = headers
            if let key { headers[.authorization] = "Bearer \(key.text)" }
            return try await client.execute(uri: path, method: method, headers: headers, body: body) {
                response in
                let body = Array(response.body.readableBytesView)
                return Answer(
                    status: response.status.code, headers: response.headers,
                    json: body.isEmpty ? nil : try? JSONValue(parsing: body))
            }
        }

        func post(
            _ path: String, key: APIKey? = nil, contentType: String? = "application/json", _ body: [UInt8]
        ) async throws -> Answer {
            var headers = HTTPFields()
            headers[.contentType] = contentType
            return try await send(
                .post, path, key: key ?? api.secret, headers: headers, body: ByteBuffer(bytes: body))
        }

        func post(_ path: String, key: APIKey? = nil, _ json: JSONValue) async throws -> Answer {
            try await post(path, key: key, json.serialized())
        }

        func lookUp(_ url: String, headers: HTTPFields = [:]) async throws -> Answer {
            let encoded = url.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
            return try await send(
                .get, "/v1/locations?url=\(encoded)", key: api.publishable, headers: headers)
        }
    }

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPFields
        let json: JSONValue?

        var code: String? { json?.objectValue?["code"]?.stringValue }
        var reason: String? { json?.objectValue?["reason"]?.stringValue }
        var field: String? { json?.objectValue?["field"]?.stringValue }
        subscript(key: String) -> JSONValue? { json?.objectValue?[key] }
    }
}

/// What a store throws when its database does not answer.
struct StoreIsAway: Error {}

/// One tenant's catalogue, or an error in its place.
final class MemoryStore: LocationStore, LocationCatalogue, ExperienceStore {
    static let tenant = TenantID(UUID())

    let failure: (any Error)?
    private let experiences: [Experience]
    private let locations: [LocationIdentifier: Location]
    let records = Mutex<[ConfirmationRecord]>([])

    init(failure: (any Error)? = nil) {
        self.failure = failure
        do {
            let clip = try BundleID("com.example.MyApp.Clip")
            let identifier = try LocationIdentifier("restaurant_a")
            experiences = [
                try Experience(
                    url: URLPrefix("https://example.com/restaurants/restaurant_a"), kind: .advanced,
                    clip: clip,
                    binding: .location(identifier)),
                try Experience(
                    url: URLPrefix("https://example.com/restaurants"), kind: .advanced, clip: clip,
                    binding: .rule(IdentifierRule("path:1"))),
            ]
            locations = [
                identifier: Location(
                    identifier: identifier, name: "Restaurant A",
                    region: try CircularRegion(
                        center: Coordinate(latitude: 37.334722, longitude: -122.008889),
                        radius: Distance(meters: 100)))
            ]
        } catch {
            fatalError("the test's own catalogue is invalid: \(error)")
        }
    }

    func withCatalogue<Result: Sendable>(
        of tenant: TenantID, _ body: (any LocationCatalogue) async throws -> Result
    ) async throws -> Result {
        if let failure { throw failure }
        return try await body(self)
    }

    func record(_ confirmation: ConfirmationRecord, of tenant: TenantID) async throws {
        records.withLock { $0.append(confirmation) }
    }

    func experiences(near invocation: InvocationURL) async throws -> [Experience] { experiences }

    func location(_ identifier: LocationIdentifier) async throws -> Location? { locations[identifier] }

    func url(ofShortCode code: String) async throws -> InvocationURL? { nil }

    func experiences(near url: InvocationURL, of tenant: TenantID) async throws -> [ClipExperience] {
        if let failure { throw failure }
        return experiences.map { ClipExperience($0, clipIsMultiBusiness: true) }
    }
}

private struct MemoryAuthenticator: KeyAuthenticator {
    let principals: [String: Principal]

    func authenticate(_ key: APIKey) async throws -> Principal? { principals[key.text] }
}

private struct NoSignatures: PlaceSignatures {
    func isAuthentic(_ signature: [UInt8], of text: String, tenant: TenantID) -> Bool { false }
}

/// Keeps every log line, at every level.
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

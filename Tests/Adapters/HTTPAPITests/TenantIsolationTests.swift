import Crypto
import Formats
import Foundation
import HTTPTypes
import Lookups
import NIOCore
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Sends every ID of one tenant with the keys of another tenant to every operation of the OpenAPI document.
@Suite struct TenantIsolationTests {
    // MARK: Two tenants

    private static let owner = TenantID(number: 1)
    private static let neighbour = TenantID(number: 3)
    private static let ownersClip = "com.example.MyApp.Clip"

    /// Texts that responses to the neighbour must not contain.
    private static let ownersData = [
        "Restaurant A", "restaurant_a", "Kiosk Seventeen", "kiosk-17", "lunchcode", "example.com",
        "com.example.MyApp", "ABCDE12345", "37.334722", "122.008889", "48.858367", owner.uuid.uuidString,
        owner.uuid.uuidString.lowercased(),
    ]
    private static let neighboursData = [
        "The Corner", "corner-9", "ownlunch", "neighbour.example", "org.neighbour.App", "ZYXWV98765",
        "33.856784",
        "151.215297", neighbour.uuid.uuidString, neighbour.uuid.uuidString.lowercased(),
    ]

    private struct Fixture {
        let api = TestAPI(metrics: PrometheusRegistry())
        let publishable: APIKey
        let secret: APIKey

        init() throws {
            publishable = APIKey.generate(.publishable)
            secret = APIKey.generate(.secret)
            var table = try #require(api.table.current).table
            try Self.addToOwner(in: &table)
            try Self.addNeighbour([publishable, secret], to: &table)
            api.table.replace(by: table, from: .database, asOf: Date())
        }

        private static func addToOwner(in table: inout LookupIndex) throws {
            let clip = ownersClip
            // A single-business clip, so that the server composes payloads for URLs with an identifier rule, too.
            try table.set(.clips, .clip(owner, clip, isMultiBusiness: false))
            try table.set(
                .locations,
                .location(
                    owner, "kiosk-17", name: "Kiosk Seventeen", latitude: 48.858367, longitude: 2.294,
                    radius: 50
                ))
            for (path, rule) in [("find", "query:id"), ("short", "hash:h")] {
                try table.set(
                    .experiences,
                    .experience(owner, "advanced", "https://example.com/\(path)", clip: clip, rule: rule))
            }
            for (path, kind) in [("app", "default"), ("demo", "demo")] {
                try table.set(
                    .experiences,
                    .experience(
                        owner, kind, "https://example.com/\(path)", clip: clip, location: "restaurant_a"))
            }
            try table.set(
                .shortCodes, .shortCode(owner, "lunchcode", "https://example.com/restaurants/kiosk-17"))
        }

        private static func addNeighbour(_ keys: [APIKey], to table: inout LookupIndex) throws {
            let clip = "org.neighbour.App.Clip"
            try table.set(.tenants, .tenant(neighbour))
            try table.set(
                .clips, .clip(neighbour, clip, isMultiBusiness: false, teamID: "ZYXWV98765"))
            try table.set(.domains, .domain(neighbour, "neighbour.example"))
            for (number, key) in keys.enumerated() {
                try table.set(
                    .keys,
                    .key(
                        neighbour, KeyID(UUID(number: UInt8(30 + number))),
                        Array(SHA256.hash(data: Array(key.text.utf8))), kind: key.kind))
            }
            try table.set(
                .locations,
                .location(
                    neighbour, "corner-9", name: "The Corner", latitude: -33.856784, longitude: 151.215297,
                    radius: 50
                ))
            for (path, rule) in [("places", "path:1"), ("find", "query:id"), ("short", "hash:h")] {
                try table.set(
                    .experiences,
                    .experience(
                        neighbour, "advanced", "https://neighbour.example/\(path)", clip: clip, rule: rule))
            }
            try table.set(
                .shortCodes, .shortCode(neighbour, "ownlunch", "https://neighbour.example/places/corner-9"))
        }
    }

    // MARK: IDs

    /// An ID of the owner, and the URLs with which the owner and the neighbour send it.
    private struct ID: CustomStringConvertible {
        let text: String
        let ofOwner: @Sendable (String) -> String
        let ofNeighbour: @Sendable (String) -> String
        /// Payloads require advanced experiences.
        var isAdvanced = true

        /// An ID of the same length and kind that no tenant has.
        var unknown: String {
            let https = "https://"
            guard text.hasPrefix(https) else { return rotated(text) }
            let host = text.dropFirst(https.count).prefix { $0 != "/" }
            return https + host + rotated(text.dropFirst(https.count + host.count))
        }

        var description: String { ofNeighbour(text) }

        private func rotated(_ text: some StringProtocol) -> String {
            String(
                decoding: text.utf8.map { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"): (byte - 97 + 13) % 26 + 97
                    default: byte
                    }
                }, as: UTF8.self)
        }
    }

    private static var ids: [ID] {
        let urls = [
            "restaurants/restaurant_a", "restaurants/restaurant_a/order/1234", "restaurants/kiosk-17",
            "restaurants/kiosk-17/order/1234", "find?id=kiosk-17", "short?h=lunchcode", "short/x?h=lunchcode",
        ].map { ID(text: "https://example.com/\($0)", ofOwner: { $0 }, ofNeighbour: { $0 }) }
        let notAdvanced = ["app", "app/order/1234", "demo"].map {
            ID(text: "https://example.com/\($0)", ofOwner: { $0 }, ofNeighbour: { $0 }, isAdvanced: false)
        }
        let identifiers = ["restaurant_a", "kiosk-17"].flatMap { identifier in
            [("restaurants/", "places/"), ("find?id=", "find?id=")].map { own, others in
                ID(
                    text: identifier, ofOwner: { "https://example.com/\(own)\($0)" },
                    ofNeighbour: { "https://neighbour.example/\(others)\($0)" })
            }
        }
        let code = ID(
            text: "lunchcode", ofOwner: { "https://example.com/short?h=\($0)" },
            ofNeighbour: { "https://neighbour.example/short?h=\($0)" })
        let link: @Sendable (String) -> String = { "https://appclip.apple.com/id?p=\($0)" }
        let clip = ID(text: ownersClip, ofOwner: link, ofNeighbour: link, isAdvanced: false)
        return urls + notAdvanced + identifiers + [code, clip]
    }

    // MARK: Operations

    /// An operation of the OpenAPI document.
    private struct Operation: Hashable {
        let id: String
        let method: HTTPRequest.Method
        let path: String
        let needsKey: Bool
    }

    private static func operations(in document: JSONValue) throws -> [Operation] {
        let general = document.objectValue?["security"]
        return try #require(document.objectValue?["paths"]?.objectValue).flatMap { path in
            try #require(path.value.objectValue).compactMap { member in
                guard let method = HTTPRequest.Method(member.key.uppercased()),
                    let operation = member.value.objectValue, operation["responses"] != nil
                else { return nil }
                let security = try #require((operation["security"] ?? general)?.arrayValue)
                return Operation(
                    id: try #require(operation["operationId"]?.stringValue), method: method, path: path.key,
                    needsKey: !security.isEmpty)
            }
        }
    }

    /// A request of an operation with a URL, and a check whether the response contains the item.
    private struct Probe: Sendable {
        /// Nil for an operation that takes the URL as a parameter.
        var body: (@Sendable (String) -> JSONValue)?
        var isForSecretKeysOnly = false
        var isForAdvancedOnly = false
        let isFound: @Sendable (TestAPI.APIResponse) -> Bool
        /// The status if the item is unknown and the URL is not the neighbour's.
        let status: Int
        /// The status for a URL of the neighbour without a location; nil if it is the same.
        var statusWithoutLocation: Int?
        /// Undoes the request, so that the next request has the same initial state.
        var undo: (@Sendable (APIKey, TestAPI.Client) async throws -> Void)?

        func send(
            _ operation: Operation, _ url: String, _ key: APIKey, _ client: TestAPI.Client
        ) async throws
            -> TestAPI.APIResponse
        {
            var headers: HTTPFields = [.contentType: "application/json"]
            // A request ID of constant length, so that responses can be compared.
            headers[try #require(HTTPField.Name("X-Request-ID"))] = "probe"
            guard let body else {
                let encoded = url.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
                return try await client.send(
                    operation.method, "\(operation.path)?url=\(encoded)", key: key, headers: headers)
            }
            let response = try await client.send(
                operation.method, operation.path.replacing("{id}", with: instance), key: key,
                headers: headers, body: ByteBuffer(bytes: body(url).serialized()))
            try await undo?(key, client)
            return response
        }
    }

    private static let probes: [String: Probe] = [
        "lookUpLocation": Probe(isFound: { $0.status == 200 && $0["location"] != nil }, status: 404),
        "listNearbyLocations": Probe(
            body: { url in
                let isNeighbours = url.contains("neighbour")
                return [
                    "url": .string(url),
                    "coordinate": isNeighbours
                        ? ["latitude": -33.856784, "longitude": 151.215297]
                        : ["latitude": 37.334722, "longitude": -122.008889],
                ]
            },
            isFound: { $0.status == 200 && $0["data"]?.arrayValue?.isEmpty == false }, status: 404,
            statusWithoutLocation: 200),
        "confirmLocation": Probe(
            body: {
                [
                    "url": .string($0), "source": "nfc", "locationAccess": "allowed",
                    "coordinate": ["latitude": 37.334722, "longitude": -122.008889],
                ]
            },
            isFound: { $0["location"] != .null && ["inRegion", "notInRegion"].contains($0["outcome"]) },
            status: 200),
        "composePayload": Probe(
            body: { ["url": .string($0), "aps": ["alert": "Your order is ready."]] },
            isForSecretKeysOnly: true, isForAdvancedOnly: true, isFound: { $0.status == 200 }, status: 404,
            statusWithoutLocation: 200),
        "registerInstance": Probe(
            body: {
                [
                    "url": .string($0), "environment": "production", "permission": "ephemeral",
                    "launchedAt": "2026-03-01T12:30:00Z",
                ]
            },
            isFound: {
                $0.status == 201
                    && $0["launches"]?.arrayValue?.first?.objectValue?["location"]?.stringValue != nil
            }, status: 404, statusWithoutLocation: 201,
            undo: { key, client in
                _ = try await client.send(.delete, "/v1/instances/\(instance)", key: key)
            }),
    ]

    /// An instance of the owner.
    private static let instance = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
    /// An instance that no tenant has.
    private static let noInstance = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e11"

    /// Operations on an instance with their bodies. Each operation finds the instance in this order.
    private static let instanceProbes: [(operation: String, body: JSONValue?)] = [
        ("getInstance", nil), ("registerActivity", ["token": "00fc13adff785122"]), ("deleteActivity", nil),
        ("deleteInstance", nil),
    ]

    /// Operations without a key, and the tenant's texts in their responses. Only the apps of the requested host appear.
    private static let openOperations: [String: [String]] = [
        "getSiteAssociation": ["com.example.MyApp", "ABCDE12345"], "checkLiveness": [], "checkReadiness": [],
        "getMetrics": [],
        "checkAllowedHost": [], "getCardImage": [],
        "getOpenAPI": [], "getIndex": [], "getReceiptKeys": [], "listProblems": [], "getProblem": [],
    ]

    // MARK: Tests

    @Test func everyEndpointIsDocumentedAndHasAProbe() async throws {
        let api = TestAPI()
        let endpoints = api.responder.endpoints.map { "\($0.method) \($0.path)" }
        try await api.test { client in
            let document = try #require(try await client.send(.get, "/openapi.json", key: nil).json)
            let operations = try Self.operations(in: document)
            #expect(Set(operations.map { "\($0.method) \($0.path)" }) == Set(endpoints))
            #expect(
                Set(operations.filter(\.needsKey).map(\.id))
                    == Set(Self.probes.keys).union(Self.instanceProbes.map(\.operation))
                    .union(NotificationEndpointTests.operations).union(ChannelEndpointTests.operations)
                    .union(StatisticsEndpointTests.operations).union(RequestLogEndpointTests.operations)
                    .union(CatalogueEndpointTests.operations).union(KeyEndpointTests.operations)
                    .union(CollectionEndpointTests.operations).union(WebhookEndpointTests.operations)
                    .union(EventEndpointTests.operations)
                    .union(ConfirmationHistoryEndpointTests.operations).union(DomainEndpointTests.operations)
                    .union(ImageEndpointTests.operations).union(TenantEndpointTests.operations).union(
                        DiagnosisEndpointTests.operations
                    )
                    .union(NotificationHistoryEndpointTests.operations).union(
                        AttestationEndpointTests.operations
                    )
                    .union(AppStoreEndpointTests.operations).union(DeliveryEndpointTests.operations))
            #expect(Set(operations.filter { !$0.needsKey }.map(\.id)) == Set(Self.openOperations.keys))
        }
    }

    @Test func anotherTenantsItemIsAnsweredLikeUnknownItem() async throws {
        let fixture = try Fixture()
        try await fixture.api.test { client in
            let document = try #require(try await client.send(.get, "/openapi.json", key: nil).json)
            for operation in try Self.operations(in: document) {
                guard let probe = Self.probes[operation.id] else { continue }
                for id in Self.ids {
                    for key in [fixture.publishable, fixture.secret] {
                        let theirs = try await probe.send(operation, id.ofNeighbour(id.text), key, client)
                        let nobodys = try await probe.send(
                            operation, id.ofNeighbour(id.unknown), key, client)
                        let comment = "\(operation.id) of \(id) with a \(key.kind) key"
                        #expect(theirs.status == nobodys.status, "\(comment)")
                        let body = theirs.text.replacing(id.text, with: "ID")
                        #expect(body == nobodys.text.replacing(id.unknown, with: "ID"), "\(comment)")
                        let fields = Self.comparable(theirs.headers)
                        #expect(fields == Self.comparable(nobodys.headers), "\(comment)")
                        let told = body + fields.joined(separator: "\n")
                        for text in Self.ownersData { #expect(!told.contains(text), "\(comment): \(text)") }
                        if probe.isForSecretKeysOnly && key.kind == .publishable {
                            #expect(theirs.status == 403, "\(comment)")
                        } else if let status = probe.statusWithoutLocation,
                            id.ofNeighbour(id.text).contains("neighbour")
                        {
                            // The operation needs no location, and the URL is the neighbour's own.
                            #expect(theirs.status == status, "\(comment)")
                        } else {
                            #expect(theirs.status == probe.status, "\(comment)")
                            #expect(!probe.isFound(theirs), "\(comment)")
                        }
                    }
                }
            }
        }
        // No location was found, so no confirmation is at a location.
        #expect(Set(fixture.api.recorder.outcomes) == ["doesNotMatch"])
    }

    /// The neighbour gets the same responses for the owner's instance and for an unknown one. Then the owner finds it.
    @Test func anotherTenantsInstanceIsUnknown() async throws {
        let fixture = try Fixture()
        try await fixture.api.test { client in
            let document = try #require(try await client.send(.get, "/openapi.json", key: nil).json)
            let operations = try Self.operations(in: document)
            func send(
                _ probe: (operation: String, body: JSONValue?), _ id: String, _ key: APIKey
            ) async throws -> TestAPI.APIResponse {
                let operation = try #require(operations.first { $0.id == probe.operation })
                let path = operation.path.replacing("{id}", with: id).replacing("{activity}", with: "a")
                var headers: HTTPFields = [.contentType: "application/json"]
                headers[try #require(HTTPField.Name("X-Request-ID"))] = "probe"
                return try await client.send(
                    operation.method, path, key: key, headers: headers,
                    body: probe.body.map { ByteBuffer(bytes: $0.serialized()) })
            }
            let register = try #require(operations.first { $0.id == "registerInstance" })
            let url = "https://example.com/restaurants/restaurant_a"
            let path = register.path.replacing("{id}", with: Self.instance)
            let body = try #require(Self.probes[register.id]?.body)
            let registered = try await client.send(
                .put, path, key: client.api.secret, headers: [.contentType: "application/json"],
                body: ByteBuffer(bytes: body(url).serialized()))
            #expect(registered.status == 201)
            for key in [fixture.publishable, fixture.secret] {
                for probe in Self.instanceProbes {
                    let theirs = try await send(probe, Self.instance, key)
                    let nobodys = try await send(probe, Self.noInstance, key)
                    let isAllowed = probe.operation != "getInstance" || key.kind == .secret
                    #expect(theirs.status == (isAllowed ? 404 : 403), "\(probe.operation)")
                    #expect(theirs.status == nobodys.status && theirs.text == nobodys.text)
                    #expect(Self.comparable(theirs.headers) == Self.comparable(nobodys.headers))
                }
            }
            for probe in Self.instanceProbes {
                let response = try await send(probe, Self.instance, client.api.secret)
                #expect([200, 204].contains(response.status), "\(probe.operation): \(response.text)")
            }
        }
    }

    /// The neighbour's requests do not find or change the owner's item.
    @Test(arguments: CatalogueEndpointTests.samples)
    func anotherTenantsCatalogueItemIsUnknownAndUnchanged(sample: CatalogueEndpointTests.Sample) async throws
    {
        let fixture = try Fixture()
        let neighbour = APIKey.generate(.secret)
        try fixture.api.admit(neighbour, of: Self.neighbour, scopes: "read,manage")
        try await fixture.api.test(over: [.task]) { client in
            func ask(_ path: String) async throws -> [TestAPI.APIResponse] {
                let headers: HTTPFields = [try #require(HTTPField.Name("X-Request-ID")): "probe"]
                return [
                    try await client.send(.get, path, key: neighbour, headers: headers),
                    try await CatalogueEndpointTests.write(
                        .patch, path, sample.patch, client, key: neighbour, headers: headers),
                    try await client.send(.delete, path, key: neighbour, headers: headers),
                    try await client.send(.delete, "\(path)?cascade=true", key: neighbour, headers: headers),
                    try await client.send(.get, sample.collection, key: neighbour, headers: headers),
                ]
            }
            let before = try await ask(sample.path)
            let created = try await CatalogueEndpointTests.write(.put, sample.path, sample.body, client)
            #expect(created.status == 201)
            let after = try await ask(sample.path)
            #expect(after.map(\.status) == [404, 404, 404, 404, 200])
            for (one, other) in zip(before, after) {
                #expect(
                    one.text == other.text && Self.comparable(one.headers) == Self.comparable(other.headers))
            }
            // The neighbour can use the same name. The owner's item does not change.
            let own = try await CatalogueEndpointTests.write(
                .put, sample.path, sample.body, client, key: neighbour, headers: [.ifNoneMatch: "*"])
            #expect(own.status == 201)
            _ = try await CatalogueEndpointTests.write(
                .patch, sample.path, sample.patch, client, key: neighbour)
            _ = try await client.send(.delete, sample.path, key: neighbour)
            let left = try await client.send(.get, sample.path, key: client.api.manager)
            #expect(left.status == 200 && left.text == sample.response)
        }
    }

    /// Control for the test above.
    @Test func ownItemIsFoundByTheSameRequests() async throws {
        let fixture = try Fixture()
        try await fixture.api.test { client in
            let document = try #require(try await client.send(.get, "/openapi.json", key: nil).json)
            for operation in try Self.operations(in: document) {
                guard let probe = Self.probes[operation.id] else { continue }
                for id in Self.ids where id.isAdvanced || !probe.isForAdvancedOnly {
                    for key in [client.api.publishable, client.api.secret]
                    where key.kind == .secret || !probe.isForSecretKeysOnly {
                        let response = try await probe.send(operation, id.ofOwner(id.text), key, client)
                        #expect(probe.isFound(response), "\(operation.id) of \(id): \(response.text)")
                    }
                }
                for url in ["places/corner-9", "find?id=corner-9", "short?h=ownlunch"] {
                    let response = try await probe.send(
                        operation, "https://neighbour.example/\(url)", fixture.secret, client)
                    #expect(probe.isFound(response), "\(operation.id) of \(url): \(response.text)")
                }
            }
        }
    }

    @Test func openEndpointsRevealNothingOfTenants() async throws {
        let fixture = try Fixture()
        try await fixture.api.test { client in
            let document = try #require(try await client.send(.get, "/openapi.json", key: nil).json)
            let operations = try Self.operations(in: document)
            // Requests that metrics count.
            for operation in operations where operation.needsKey {
                for (id, key) in Self.ids.flatMap({ id in
                    [(id.ofOwner(id.text), client.api.secret), (id.ofNeighbour(id.text), fixture.secret)]
                }) {
                    _ = try await Self.probes[operation.id]?.send(operation, id, key, client)
                }
            }
            for operation in operations where !operation.needsKey {
                let allowed = try #require(Self.openOperations[operation.id])
                // A proved host of a tenant hides the paths of monitors.
                try fixture.api.proveHost(operation.id == "getSiteAssociation")
                for key in [nil, client.api.secret, fixture.secret] {
                    let path = operation.path.replacing("{code}", with: "not_found")
                        .replacing("{sha256}", with: String(repeating: "0", count: 64))
                    let response = try await client.send(operation.method, path, key: key)
                    // These two operations need a proved host.
                    let status = ["checkAllowedHost", "getCardImage"].contains(operation.id) ? 404 : 200
                    #expect(response.status == status, "\(operation.id)")
                    // The examples are Apple's, like the owner's data in this test.
                    guard operation.id != "getOpenAPI" else {
                        #expect(response.text.utf8.elementsEqual(OpenAPIDocument.bytes))
                        continue
                    }
                    let told = response.text + Self.comparable(response.headers).joined(separator: "\n")
                    for text in Self.ownersData + Self.neighboursData where !allowed.contains(text) {
                        #expect(!told.contains(text), "\(operation.id): \(text)")
                    }
                    for text in allowed { #expect(told.contains(text), "\(operation.id): \(text)") }
                }
            }
        }
    }

    /// Header fields that stay the same from one request to the next.
    private static func comparable(_ headers: HTTPFields) -> [String] {
        headers.filter { !["date", "ratelimit"].contains($0.name.canonicalName) }.map(\.description).sorted()
    }
}

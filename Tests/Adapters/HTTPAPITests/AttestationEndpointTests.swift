import AppAttest
import AppAttestSimulator
import Confirmations
import Crypto
import Formats
import Foundation
import HTTPTypes
import Invocation
import Lookups
import NIOCore
import Notifications
import Receipts
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Attested requests of a clip, from the challenge to the confirmation, and refusals.
@Suite struct AttestationEndpointTests {
    static let operations: Set = ["createAttestationChallenge", "attestKey", "createAttestationToken"]

    private static let tenant = TenantID(number: 1)
    private static let clip = "com.example.MyApp.Clip"
    private static let url = "https://example.com/restaurants/restaurant_a"
    private static let asked: JSONValue = [
        "url": .string(url), "coordinate": ["latitude": 37.334722, "longitude": -122.008889],
    ]

    /// A device with the clip, and a server that trusts the device's attestations.
    private struct Fixture {
        var api: TestAPI
        let keys = MemoryAttestedKeys()
        let counts = MemoryAttestationCounts()
        let root: SoftwareRoot
        let verifier: AppVerifier
        let secrets: AttestationKeys

        init(
            _ policy: ClipAttestation?, receipts: ReceiptIssuer? = nil,
            metrics: PrometheusRegistry = PrometheusRegistry()
        ) throws {
            root = try SoftwareRoot(at: Date())
            secrets = try #require(AttestationKeys(secrets: [String(repeating: "s", count: 32)]))
            verifier = AppVerifier(
                secrets: secrets, root: try #require(AttestationRoot(pem: root.pem)), keys: keys,
                recordingTo: counts)
            api = TestAPI(receipts: receipts, metrics: metrics)
            api.attestation = verifier
            try set(policy)
        }

        func set(_ policy: ClipAttestation?) throws {
            var table = try #require(api.table.current).table
            let text = policy.map { JSONValue.object($0.json).text }
            try table.set(.clips, .clip(tenant, clip, isMultiBusiness: true, attestation: text))
            api.table.replace(by: table, from: .database, asOf: Date())
        }

        func device(
            app: String = "ABCDE12345.com.example.MyApp",
            environment: AttestationEnvironment = .production, system: DeviceSystem = .iOS27,
            category: ValidationCategory = .appStore
        ) throws -> Device {
            try Device(root: root, app: app, environment: environment, system: system, category: category)
        }

        func revoke(_ device: Device) throws {
            var table = try #require(api.table.current).table
            try table.set(.revokedAttestKeys, .revokedAttestKey(tenant, device.keyID))
            api.table.replace(by: table, from: .database, asOf: Date())
        }
    }

    /// The App Attest of a device. Calls run one after another.
    private final class Device: Sendable {
        private let authenticator: Mutex<SoftwareAuthenticator>
        let keyID: [UInt8]

        init(
            root: SoftwareRoot, app: String, environment: AttestationEnvironment,
            system: DeviceSystem = .iOS27, category: ValidationCategory = .appStore
        ) throws {
            var authenticator = try SoftwareAuthenticator(
                root: root, appID: AppID(app), system: system, environment: environment, category: category)
            keyID = authenticator.generateKey()
            self.authenticator = Mutex(authenticator)
        }

        var keyText: JSONValue { .string(Data(keyID).base64EncodedString()) }

        func attest(_ challenge: String) throws -> String {
            try authenticator.withLock {
                Data(
                    try $0.attest(
                        keyID: keyID, clientDataHash: ClientData.attestation(challenge: challenge).hash,
                        at: Date())
                ).base64EncodedString()
            }
        }

        func assertion(_ data: ClientData?) throws -> [UInt8] {
            let data = try #require(data)
            return try authenticator.withLock {
                try $0.assertion(keyID: keyID, clientDataHash: data.hash)
            }
        }

        /// The value of the header field for a signed confirmation.
        func signature(
            _ challenge: String, method: String = "POST", target: String = "/v1/confirmations",
            _ body: JSONValue = asked, as key: [UInt8]? = nil
        ) throws -> String {
            let assertion = try assertion(
                ClientData.request(
                    method: method, target: target, challenge: challenge, body: body.serialized()))
            return [("key", key ?? keyID), ("challenge", Array(challenge.utf8)), ("assertion", assertion)]
                .map { "\($0)=:\(Data($1).base64EncodedString()):" }.joined(separator: ", ")
        }
    }

    private struct Client {
        let client: TestAPI.Client

        func challenge(_ purpose: String, clip: String = clip) async throws -> String {
            let response = try await client.post(
                "/v1/attestation/challenges", key: client.api.publishable,
                ["clip": .string(clip), "purpose": .string(purpose)])
            #expect(response.status == 200, "\(response.text)")
            #expect(response["expiresIn"] == 300)
            return try #require(response["challenge"]?.stringValue)
        }

        func attest(_ device: Device, challenge: String? = nil) async throws -> TestAPI.APIResponse {
            let text: String
            if let challenge { text = challenge } else { text = try await self.challenge("attestation") }
            return try await post(device, text, try device.attest(text))
        }

        func post(
            _ device: Device, _ challenge: String, _ attestation: String
        ) async throws -> TestAPI.APIResponse {
            try await client.post(
                "/v1/attestation/keys", key: client.api.publishable,
                [
                    "clip": .string(clip), "keyID": device.keyText, "challenge": .string(challenge),
                    "attestation": .string(attestation),
                ])
        }

        func token(_ device: Device, challenge: String? = nil) async throws -> TestAPI.APIResponse {
            let text: String
            if let challenge { text = challenge } else { text = try await self.challenge("token") }
            let assertion = try device.assertion(
                ClientData.token(clip: try BundleID(clip), challenge: text))
            return try await client.post(
                "/v1/attestation/tokens", key: client.api.publishable,
                [
                    "keyID": device.keyText, "challenge": .string(text),
                    "assertion": .string(Data(assertion).base64EncodedString()),
                ])
        }

        func confirm(
            token: String? = nil, signature: String? = nil, key: APIKey? = nil, body: JSONValue = asked
        ) async throws -> TestAPI.APIResponse {
            try await send(.post, "/v1/confirmations", token, signature, key, body)
        }

        func send(
            _ method: HTTPRequest.Method, _ path: String, _ token: String?, _ signature: String? = nil,
            _ key: APIKey? = nil, _ body: JSONValue? = nil
        ) async throws -> TestAPI.APIResponse {
            var headers: HTTPFields = [:]
            if body != nil { headers[.contentType] = "application/json" }
            headers[.doorstepAttestation] = token
            headers[.doorstepAssertion] = signature
            return try await client.send(
                method, path, key: key ?? client.api.publishable, headers: headers,
                body: body.map { ByteBuffer(bytes: $0.serialized()) })
        }
    }

    private static let lookUp = "/v1/lookup?url=https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_a"

    // MARK: Accepted requests

    @Test func tokenOpensEndpointsThatRequireAttestation() async throws {
        let fixture = try Fixture(ClipAttestation(lookup: .require, confirm: .require))
        try await fixture.api.test { client in
            let client = Client(client: client)
            let device = try fixture.device()
            let challenge = try await client.challenge("attestation")
            let attestation = try device.attest(challenge)
            let attested = try await client.post(device, challenge, attestation)
            #expect(attested.status == 201 && attested["expiresIn"] == 3_600, "\(attested.text)")
            // The client repeats the request because it did not receive the response.
            #expect(try await client.post(device, challenge, attestation).status == 200)
            let again = try await client.token(device)
            #expect(again.status == 200, "\(again.text)")
            for response in [attested, again] {
                let token = try #require(response["token"]?.stringValue)
                #expect(try await client.confirm(token: token).status == 200)
                #expect(try await client.send(.get, Self.lookUp, token).status == 200)
                #expect(
                    try await client.send(.post, "/v1/nearby", token, nil, nil, Self.asked).status == 200)
            }
            for (method, path, body) in [
                (HTTPRequest.Method.post, "/v1/confirmations", Optional(Self.asked)),
                (.get, Self.lookUp, nil), (.post, "/v1/nearby", Self.asked),
            ] {
                let bare = try await client.send(method, path, nil, nil, nil, body)
                #expect(bare.status == 403 && bare.code == "attestation_required", "\(path)")
                // Requests of a tenant's server need no attestation.
                let server = try await client.send(method, path, nil, nil, client.client.api.secret, body)
                #expect(server.status == 200, "\(path)")
            }
        }
    }

    @Test func signedRequestIsAcceptedOnce() async throws {
        let fixture = try Fixture(ClipAttestation(confirm: .requireSigned))
        try await fixture.api.test { client in
            let client = Client(client: client)
            let device = try fixture.device()
            let token = try #require(try await client.attest(device)["token"]?.stringValue)
            let withToken = try await client.confirm(token: token)
            #expect(withToken.status == 403 && withToken.code == "attestation_required")
            // The refusal contains the challenge to sign.
            let challenge = try #require(withToken.headers[.doorstepChallenge])
            let signature = try device.signature(challenge)
            let confirmed = try await client.confirm(signature: signature)
            #expect(confirmed.status == 200, "\(confirmed.text)")
            let next = try #require(confirmed.headers[.doorstepChallenge])
            let replayed = try await client.confirm(signature: signature)
            #expect(replayed.status == 409 && replayed.code == "counter_not_greater", "\(replayed.text)")
            #expect(try await client.confirm(signature: try device.signature(next)).status == 200)
            // Without the database, the server cannot check the counter and refuses signed requests.
            fixture.keys.setAway(true)
            let away = try await client.confirm(signature: try device.signature(next))
            #expect(away.status == 503 && away.code == "unavailable")
            fixture.keys.setAway(false)
        }
    }

    @Test func tokensRemainValidWithoutDatabase() async throws {
        let fixture = try Fixture(ClipAttestation(confirm: .require))
        try await fixture.api.test { client in
            let client = Client(client: client)
            let device = try fixture.device()
            let token = try #require(try await client.attest(device)["token"]?.stringValue)
            fixture.keys.setAway(true)
            #expect(try await client.confirm(token: token).status == 200)
            let tokenAway = try await client.token(device)
            #expect(tokenAway.status == 503 && tokenAway.code == "unavailable")
            let attestAway = try await client.attest(try fixture.device())
            #expect(attestAway.status == 503 && attestAway.code == "unavailable")
            fixture.keys.setAway(false)
        }
    }

    @Test func instancesRequireAttestation() async throws {
        let fixture = try Fixture(ClipAttestation(register: .require))
        let path = "/v1/instances/7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
        let launch: JSONValue = [
            "url": .string(Self.url), "environment": "production", "permission": "ephemeral",
        ]
        let launches: [JSONValue] = [
            launch, ["clip": .string(Self.clip), "environment": "production", "permission": "ephemeral"],
            ["environment": "production", "permission": "denied"],
        ]
        let activity: JSONValue = ["token": "80f2c9e1a5b74d3e"]
        try await fixture.api.test { client in
            let client = Client(client: client)
            let token = try #require(try await client.attest(try fixture.device())["token"]?.stringValue)
            for body in launches.prefix(2) {
                let response = try await client.send(.put, path, nil, nil, nil, body)
                #expect(response.status == 403 && response.code == "attestation_required", "\(response.text)")
            }
            // No instance was stored.
            let none = try await client.send(.delete, path, nil, nil, client.client.api.secret)
            #expect(none.status == 404)
            #expect(try await client.send(.put, path, token, nil, nil, launch).status == 201)
            // An unattested client is refused for an existing instance, too.
            for body in launches {
                for wrong in [nil, "x"] {
                    let response = try await client.send(.put, path, wrong, nil, nil, body)
                    #expect(response.status == 403, "\(response.text)")
                }
            }
            for (method, path, body) in [
                (HTTPRequest.Method.put, "\(path)/activities/a", Optional(activity)),
                (.delete, "\(path)/activities/a", nil), (.delete, path, nil),
            ] {
                let bare = try await client.send(method, path, nil, nil, nil, body)
                #expect(bare.status == 403 && bare.code == "attestation_required", "\(method) \(path)")
                let attested = try await client.send(method, path, token, nil, nil, body)
                #expect(attested.status == 204, "\(method) \(path): \(attested.text)")
            }
            let server = try await client.send(.put, path, nil, nil, client.client.api.secret, launch)
            #expect(server.status == 201)
            #expect(try await client.send(.delete, path, token).status == 204)
        }
    }

    /// Another installation may know the ID, for example after a restore. It must register a new ID.
    @Test func instanceBelongsToTheKeyThatRegisteredIt() async throws {
        let fixture = try Fixture(ClipAttestation(register: .require))
        let path = "/v1/instances/7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
        let launch: JSONValue = [
            "url": .string(Self.url), "environment": "production", "permission": "ephemeral",
        ]
        let activity: JSONValue = ["token": "80f2c9e1a5b74d3e"]
        try await fixture.api.test { client in
            let client = Client(client: client)
            let own = try #require(try await client.attest(try fixture.device())["token"]?.stringValue)
            let others = try #require(try await client.attest(try fixture.device())["token"]?.stringValue)
            // An instance from before attestation was required is bound to the first attested key.
            try fixture.set(nil)
            #expect(try await client.send(.put, path, nil, nil, nil, launch).status == 201)
            try fixture.set(ClipAttestation(register: .require))
            for _ in 0..<2 {
                #expect(try await client.send(.put, path, own, nil, nil, launch).status == 200)
            }
            for (method, path, body) in [
                (HTTPRequest.Method.put, path, Optional(launch)),
                (.put, "\(path)/activities/a", activity), (.delete, "\(path)/activities/a", nil),
                (.delete, path, nil),
            ] {
                let response = try await client.send(method, path, others, nil, nil, body)
                #expect(
                    response.status == 409 && response.code == "instance_of_other_key", "\(response.text)")
            }
            let another = path.replacing("7d3c", with: "8e4d")
            #expect(try await client.send(.put, another, others, nil, nil, launch).status == 201)
            // If attestation is not required, nothing is refused. A tenant's server is never refused.
            try fixture.set(ClipAttestation(register: .monitor))
            #expect(try await client.send(.put, path, others, nil, nil, launch).status == 200)
            #expect(try await client.send(.put, path, nil, nil, nil, launch).status == 200)
            try fixture.set(ClipAttestation(register: .require))
            let secret = client.client.api.secret
            #expect(try await client.send(.put, path, nil, nil, secret, launch).status == 200)
            // The instance is still bound to the first key.
            #expect(try await client.send(.delete, path, others).status == 409)
            #expect(try await client.send(.delete, path, own).status == 204)
            #expect(try await client.send(.delete, another, others).status == 204)
        }
    }

    /// The lookup index contains the revocation, so no database is needed.
    @Test func revokedKeyIsRejectedWithoutDatabase() async throws {
        let fixture = try Fixture(ClipAttestation(lookup: .require, confirm: .requireSigned))
        try await fixture.api.test { client in
            let client = Client(client: client)
            let (device, other) = (try fixture.device(), try fixture.device())
            let token = try #require(try await client.attest(device)["token"]?.stringValue)
            let others = try #require(try await client.attest(other)["token"]?.stringValue)
            let challenge = try await client.challenge("request")
            #expect(try await client.send(.get, Self.lookUp, token).status == 200)
            try fixture.revoke(device)
            fixture.keys.setAway(true)
            let lookedUp = try await client.send(.get, Self.lookUp, token)
            #expect(lookedUp.status == 403 && lookedUp.code == "attestation_invalid")
            let confirmed = try await client.confirm(signature: device.signature(challenge))
            #expect(confirmed.status == 403 && confirmed.code == "attestation_invalid")
            for refused in [try await client.token(device), try await client.attest(device)] {
                #expect(refused.status == 403 && refused.code == "attestation_refused", "\(refused.text)")
            }
            fixture.keys.setAway(false)
            #expect(try await client.send(.get, Self.lookUp, others).status == 200)
            #expect(try await client.confirm(signature: other.signature(challenge)).status == 200)
        }
    }

    /// Clips of one app may accept different build categories.
    @Test func clipAcceptsOnlyItsOwnBuildCategories() async throws {
        let other = "com.example.MyApp.Other"
        let url = "https://example.com/other"
        for (category, policy, accepted) in [
            (
                ValidationCategory.testFlight, ClipAttestation(confirm: .require, categories: [.appStore]),
                false
            ),
            (.appStore, ClipAttestation(confirm: .require, categories: [.appStore]), true),
            (nil, ClipAttestation(confirm: .require, categories: [.appStore]), true),
            (nil, ClipAttestation(confirm: .require, requiresStatements: true), false),
            (.appStore, ClipAttestation(confirm: .require, requiresStatements: true), true),
        ] as [(ValidationCategory?, ClipAttestation, Bool)] {
            let fixture = try Fixture(ClipAttestation(confirm: .require))
            var table = try #require(fixture.api.table.current).table
            let text = JSONValue.object(policy.json).text
            try table.set(.clips, .clip(Self.tenant, other, isMultiBusiness: true, attestation: text))
            try table.set(
                .experiences,
                .experience(Self.tenant, "advanced", url, clip: other, location: "restaurant_a"))
            fixture.api.table.replace(by: table, from: .database, asOf: Date())
            let device = try fixture.device(
                system: category == nil ? .iOS14 : .iOS27, category: category ?? .appStore)
            let asked: JSONValue = ["url": .string(url)]
            try await fixture.api.test(over: [.task]) { client in
                let client = Client(client: client)
                let token = try #require(try await client.attest(device)["token"]?.stringValue)
                let again = try #require(try await client.token(device)["token"]?.stringValue)
                let challenge = try await client.challenge("request")
                let signature = try device.signature(challenge, asked)
                for (token, signature) in [(token, nil), (again, nil), (nil, signature)] {
                    let response = try await client.confirm(token: token, signature: signature, body: asked)
                    #expect(response.status == (accepted ? 200 : 403), "\(response.text)")
                }
                #expect(try await client.confirm(token: token).status == 200)
            }
        }
    }

    /// Signatures are checked only if the clip requires them. In the other cases an unavailable database does not matter.
    @Test(arguments: [ClipAttestation.ConfirmationDemand.off, .monitor, .require])
    func signatureIsCheckedOnlyIfRequired(_ demand: ClipAttestation.ConfirmationDemand) async throws {
        let fixture = try Fixture(ClipAttestation(confirm: .require))
        try await fixture.api.test { client in
            try fixture.set(ClipAttestation(confirm: .require))
            let client = Client(client: client)
            let device = try fixture.device()
            let token = try #require(try await client.attest(device)["token"]?.stringValue)
            let challenge = try await client.challenge("request")
            try fixture.set(ClipAttestation(lookup: .require, confirm: demand))
            fixture.keys.setAway(true)
            let response = try await client.confirm(signature: device.signature(challenge))
            #expect(response.status == (demand == .require ? 503 : 200), "\(response.text)")
            // A token in the same request is enough.
            let both = try await client.confirm(token: token, signature: device.signature(challenge))
            #expect(both.status == 200, "\(both.text)")
            // A challenge of another origin is detected without the database.
            let foreign = try await client.confirm(signature: device.signature("challenge"))
            #expect(foreign.status == (demand == .require ? 403 : 200), "\(foreign.text)")
            fixture.keys.setAway(false)
        }
    }

    @Test func monitoredRequestsAreCountedAndServed() async throws {
        let metrics = PrometheusRegistry()
        let fixture = try Fixture(ClipAttestation(confirm: .monitor), metrics: metrics)
        try await fixture.api.test(over: [.task]) { client in
            let client = Client(client: client)
            let token = try #require(try await client.attest(try fixture.device())["token"]?.stringValue)
            for token in [token, "a.b.c", nil] {
                #expect(try await client.confirm(token: token).status == 200)
            }
            #expect(try await client.send(.get, Self.lookUp, nil).status == 200)
        }
        let text = metrics.exposition()
        for (operation, result) in [
            ("confirm", "verified"), ("confirm", "invalid"), ("confirm", "missing"), ("attest", "verified"),
        ] {
            let sample =
                "doorstep_attestation_checks_total{operation=\"\(operation)\",result=\"\(result)\"} 1\n"
            #expect(text.contains(sample), "\(operation) \(result)")
        }
        #expect(text.contains("{operation=\"lookup\",result=\"missing\"} 0\n"))
        // The daily counts are the same. Operations without a policy are not counted.
        #expect(fixture.counts.counts == ["com.example.MyApp.Clip confirm": [.token: 1, .none: 2]])
    }

    /// In the mode `monitor`, the first key owns the instance, and other requests are not refused.
    @Test func monitoredInstanceIsBoundToFirstKeyButOpenToAll() async throws {
        let fixture = try Fixture(ClipAttestation(register: .monitor))
        let id = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
        let path = "/v1/instances/\(id)"
        let launch: JSONValue = [
            "url": .string(Self.url), "environment": "production", "permission": "ephemeral",
        ]
        try await fixture.api.test { client in
            try fixture.set(ClipAttestation(register: .monitor))
            let client = Client(client: client)
            let (device, other) = (try fixture.device(), try fixture.device())
            let own = try #require(try await client.attest(device)["token"]?.stringValue)
            let others = try #require(try await client.attest(other)["token"]?.stringValue)
            func owner() async throws -> [UInt8]? {
                try await fixture.api.instances.owner(
                    of: #require(InstanceID(text: id)), of: Self.tenant)?.attestKey
            }
            for (token, status, bound) in [
                (nil, 201, nil), ("a.b.c", 200, nil), (own, 200, device.keyID), (others, 200, device.keyID),
                (nil, 200, device.keyID),
            ] as [(String?, Int, [UInt8]?)] {
                let response = try await client.send(.put, path, token, nil, nil, launch)
                #expect(response.status == status, "\(response.text)")
                #expect(try await owner() == bound)
            }
            // With `require`, only the first key is accepted.
            try fixture.set(ClipAttestation(register: .require))
            #expect(
                try await client.send(.put, path, others, nil, nil, launch).code == "instance_of_other_key")
            #expect(try await client.send(.put, path, own, nil, nil, launch).status == 200)
            #expect(try await client.send(.delete, path, own).status == 204)
        }
    }

    /// A key can register a limited number of instances.
    @Test func instancesPerKeyAreLimited() async throws {
        let fixture = try Fixture(ClipAttestation(register: .require))
        let launch: JSONValue = [
            "url": .string(Self.url), "environment": "production", "permission": "ephemeral",
        ]
        try await fixture.api.test(over: [.task]) { client in
            let client = Client(client: client)
            let token = try #require(try await client.attest(try fixture.device())["token"]?.stringValue)
            for number in 0...Instance.maximumOfKey {
                let path = "/v1/instances/\(UUID().uuidString.lowercased())"
                let response = try await client.send(.put, path, token, nil, nil, launch)
                #expect(response.status == (number < Instance.maximumOfKey ? 201 : 409), "\(response.text)")
                if response.status == 409 { #expect(response.code == "too_many_instances") }
            }
        }
    }

    /// In the mode `monitor`, one more instance is accepted and counted.
    @Test func monitoringCountsButAcceptsExcessInstances() async throws {
        let metrics = PrometheusRegistry()
        let fixture = try Fixture(ClipAttestation(register: .monitor), metrics: metrics)
        let launch: JSONValue = [
            "url": .string(Self.url), "environment": "production", "permission": "ephemeral",
        ]
        try await fixture.api.test(over: [.task]) { client in
            let client = Client(client: client)
            let tokens = [
                try #require(try await client.attest(try fixture.device())["token"]?.stringValue),
                try #require(try await client.attest(try fixture.device())["token"]?.stringValue),
            ]
            var path = ""
            for _ in 0...Instance.maximumOfKey {
                path = "/v1/instances/\(UUID().uuidString.lowercased())"
                #expect(try await client.send(.put, path, tokens[0], nil, nil, launch).status == 201)
            }
            #expect(try await client.send(.put, path, tokens[1], nil, nil, launch).status == 200)
            // A request without a key binds no instance.
            #expect(try await client.send(.put, path, nil, nil, nil, launch).status == 200)
        }
        let text = metrics.exposition()
        for (result, count) in [
            ("verified", Instance.maximumOfKey), ("too_many_instances", 1), ("other_key", 1),
        ] {
            let sample =
                "doorstep_attestation_checks_total{operation=\"bind\",result=\"\(result)\"} \(count)\n"
            #expect(text.contains(sample), "\(result)")
        }
    }

    /// A device can attest any number of keys. The number of new keys per address is limited, and requests that create no key are
    /// not counted. Other addresses are not affected.
    @Test func newAttestedKeysAreLimitedPerAddress() async throws {
        var limited = try Fixture(ClipAttestation(lookup: .monitor))
        limited.api.settings.limits = RequestLimits(
            newAttestKeys: RateLimit(perSecond: 1, burst: 3),
            clientNewAttestKeys: RateLimit(perSecond: 1, burst: 2))
        let fixture = limited
        try await fixture.api.test(over: [.task]) { client in
            let client = Client(client: client)
            let device = try fixture.device()
            let challenge = try await client.challenge("attestation")
            let attestation = try device.attest(challenge)
            for status in [201, 200, 200] {
                #expect(try await client.post(device, challenge, attestation).status == status)
            }
            for _ in 0..<3 {
                let refused = try await client.post(try fixture.device(), challenge, attestation)
                #expect(refused.status == 403, "\(refused.text)")
            }
            let token = try #require(try await client.attest(try fixture.device())["token"]?.stringValue)
            for _ in 0..<3 {
                let refused = try await client.attest(try fixture.device())
                #expect(refused.status == 429 && refused.code == "rate_limited", "\(refused.text)")
                #expect(refused["limit"] == "client_new_attest_keys")
                #expect(refused["retryAfter"] == 1 && refused.headers[.retryAfter] == "1")
            }
            // Existing tokens stay valid.
            #expect(try await client.send(.get, Self.lookUp, token).status == 200)
        }
    }

    /// All attested keys of one address share a limit of several clients.
    @Test func attestedKeysOfOneAddressShareALimit() async throws {
        var limited = try Fixture(ClipAttestation(lookup: .monitor))
        limited.api.settings.limits = RequestLimits(client: RateLimit(perSecond: 1, burst: 22))
        let fixture = limited
        try await fixture.api.test(over: [.task]) { client in
            let client = Client(client: client)
            var tokens: [String] = []
            for _ in 0..<11 {
                tokens.append(
                    try #require(try await client.attest(try fixture.device())["token"]?.stringValue))
            }
            for (number, token) in tokens.enumerated() {
                for _ in 0..<20 {
                    #expect(try await client.send(.get, Self.lookUp, token).status == 200, "\(number)")
                }
            }
            for token in tokens {
                let refused = try await client.send(.get, Self.lookUp, token)
                #expect(refused.status == 429 && refused["limit"] == "client", "\(refused.text)")
            }
        }
    }

    /// Many installations can share an address, for example in a stadium. Each attested key has the limits of one client, also for
    /// new instances. Requests without a valid attestation count for the address.
    @Test func attestedKeyHasItsOwnClientLimits() async throws {
        var limited = try Fixture(ClipAttestation(lookup: .monitor, register: .require))
        limited.api.settings.limits = RequestLimits(
            client: RateLimit(perSecond: 1, burst: 13), clientNewInstances: RateLimit(perSecond: 1, burst: 2))
        let fixture = limited
        let launch: JSONValue = [
            "url": .string(Self.url), "environment": "production", "permission": "ephemeral",
        ]
        try await fixture.api.test(over: [.task]) { client in
            let client = Client(client: client)
            var tokens: [String] = []
            // Each attestation is two requests, so these are four requests of the address.
            for _ in 0..<2 {
                tokens.append(
                    try #require(try await client.attest(try fixture.device())["token"]?.stringValue))
            }
            for token in tokens {
                for number in 0..<10 {
                    let response = try await client.send(.get, Self.lookUp, token)
                    #expect(response.status == 200, "\(number) \(response.text)")
                }
                for number in 0..<3 {
                    let path = "/v1/instances/\(UUID().uuidString.lowercased())"
                    let response = try await client.send(.put, path, token, nil, nil, launch)
                    #expect(response.status == (number < 2 ? 201 : 429), "\(response.text)")
                    if number == 2 { #expect(response["limit"] == "client_new_instances") }
                }
                let refused = try await client.send(.get, Self.lookUp, token)
                #expect(refused.status == 429 && refused["limit"] == "client")
            }
            for number in 0..<10 {
                let response = try await client.send(.get, Self.lookUp, number.isMultiple(of: 2) ? nil : "x")
                #expect(response.status == (number < 9 ? 200 : 429), "\(number) \(response.text)")
            }
        }
    }

    /// If the clip of a key was deleted, its tokens are invalid, also for another clip of the same app.
    @Test func tokenOfDeletedClipIsRejected() async throws {
        let other = "com.example.MyApp.Other"
        let fixture = try Fixture(ClipAttestation(confirm: .require))
        var table = try #require(fixture.api.table.current).table
        let policy = ClipAttestation(confirm: .require)
        let text = JSONValue.object(policy.json).text
        try table.set(.clips, .clip(Self.tenant, other, isMultiBusiness: true, attestation: text))
        try table.set(
            .experiences,
            .experience(
                Self.tenant, "advanced", "https://example.com/other", clip: other, location: "restaurant_a"))
        let both = table
        fixture.api.table.replace(by: both, from: .database, asOf: Date())
        try await fixture.api.test(over: [.task]) { client in
            fixture.api.table.replace(by: both, from: .database, asOf: Date())
            let client = Client(client: client)
            let asked: JSONValue = ["url": "https://example.com/other"]
            let token = try #require(try await client.attest(try fixture.device())["token"]?.stringValue)
            #expect(try await client.confirm(token: token, body: asked).status == 200)
            var without = both
            without.remove(.clips, of: Self.tenant, key: [Self.clip])
            fixture.api.table.replace(by: without, from: .database, asOf: Date())
            let refused = try await client.confirm(token: token, body: asked)
            #expect(refused.status == 403 && refused.code == "attestation_invalid", "\(refused.text)")
        }
    }

    /// The receipt contains the value only if the app signed it.
    @Test func receiptShowsWhetherSignedLocationIsSimulated() async throws {
        let keys = ReceiptKeySet(at: Date())
        let fixture = try Fixture(
            ClipAttestation(confirm: .monitor), receipts: ReceiptIssuer("doorstep", keys: keys))
        try await fixture.api.test { client in
            let client = Client(client: client)
            let device = try fixture.device()
            let token = try #require(try await client.attest(device)["token"]?.stringValue)
            for isSimulated in [true, false, nil] {
                var coordinate: JSONObject = ["latitude": 37.334722, "longitude": -122.008889]
                coordinate["simulated"] = isSimulated.map { .bool($0) }
                let body: JSONValue = ["url": .string(Self.url), "coordinate": .object(coordinate)]
                let signature = try device.signature(try await client.challenge("request"), body)
                for (token, signature) in [(nil, signature), (token, nil), (nil, nil)] {
                    let response = try await client.confirm(token: token, signature: signature, body: body)
                    let (_, claims) = try VerifiedToken.read(
                        try #require(response["receipt"]?.stringValue),
                        keys: try JSONValue(parsing: keys.published))
                    let said = signature == nil ? nil : isSimulated
                    #expect(claims["simulated"] == said.map { .bool($0) }, "\(response.text)")
                    #expect(claims["outcome"] == "inRegion")
                }
            }
            let wrong: JSONValue = [
                "url": .string(Self.url), "coordinate": ["latitude": 1, "longitude": 2, "simulated": "no"],
            ]
            let refused = try await client.confirm(body: wrong)
            #expect(refused.status == 400 && refused["field"] == "coordinate.simulated", "\(refused.text)")
        }
    }

    // MARK: Refused requests

    /// Tokens that an attacker could send who has the clip's key, and possibly a phone.
    @Test func forgedTokensAreRejected() async throws {
        let fixture = try Fixture(ClipAttestation(confirm: .require))
        let keyID = [UInt8](repeating: 7, count: 32)
        func token(
            tenant: TenantID = Self.tenant, app: String = "ABCDE12345.com.example.MyApp",
            clip keysClip: String = Self.clip, environment: AttestationEnvironment = .production,
            secrets: AttestationKeys? = nil, age: TimeInterval = 0
        ) throws -> String {
            AttestationToken(
                tenant: tenant, appID: try AppID(app), clip: try BundleID(keysClip), keyID: keyID,
                build: AttestedBuild(environment: environment, category: nil),
                at: Date().addingTimeInterval(-age)
            ).text(signedBy: secrets ?? fixture.secrets)
        }
        let others = try #require(AttestationKeys(secrets: [String(repeating: "o", count: 32)]))
        let good = try token()
        let tries: [(String, String)] = [
            ("nothing", ""), ("no token", "x"), ("the key", fixture.api.publishable.text),
            ("of another tenant", try token(tenant: TenantID(number: 2))),
            ("of another app", try token(app: "ABCDE12345.com.example.Other")),
            ("of another team", try token(app: "ZYXWV98765.com.example.MyApp")),
            ("of a clip that there is not", try token(clip: "com.example.MyApp.Gone")),
            ("of a build for development", try token(environment: .development)),
            ("expired", try token(age: 3_601)), ("by another secret", try token(secrets: others)),
            ("cut off", String(good.dropLast())), ("twice", "\(good), \(good)"),
        ]
        try await fixture.api.test { client in
            let client = Client(client: client)
            #expect(try await client.confirm(token: good).status == 200)
            for (name, token) in tries {
                let response = try await client.confirm(token: token)
                #expect(response.status == 403 && response.code == "attestation_invalid", "\(name)")
                #expect(response["location"] == nil && response["receipt"] == nil)
            }
        }
        // Refused confirmations are not recorded.
        #expect(fixture.api.recorder.outcomes == ["inRegion", "inRegion"])
    }

    /// Signatures that the same attacker could send.
    @Test func forgedSignaturesAreRejected() async throws {
        let fixture = try Fixture(ClipAttestation(confirm: .requireSigned))
        let other: JSONValue = ["url": .string(Self.url), "deviceResult": ["inRegion": true]]
        try await fixture.api.test { client in
            let client = Client(client: client)
            let device = try fixture.device()
            _ = try await client.attest(device)
            func challenge(
                tenant: TenantID = Self.tenant, clip: String = Self.clip,
                _ purpose: AttestationChallenge.Purpose = .request, age: TimeInterval = 0
            ) throws -> String {
                fixture.verifier.challenge(
                    for: purpose, to: try BundleID(clip), of: tenant, at: Date().addingTimeInterval(-age))
            }
            let unknown = try fixture.device()
            let tries: [(String, String)] = [
                ("nothing", ""), ("no dictionary", "x y z"), ("no members", "key=:AA==:"),
                ("another body", try device.signature(challenge(), other)),
                ("another target", try device.signature(challenge(), target: "/v1/nearby")),
                ("another method", try device.signature(challenge(), method: "PUT")),
                ("expired", try device.signature(challenge(age: 301))),
                ("another tenant's", try device.signature(challenge(tenant: TenantID(number: 2)))),
                ("another clip's", try device.signature(challenge(clip: "com.example.Other.Clip"))),
                ("for a token", try device.signature(challenge(.token))),
                ("no challenge", try device.signature("challenge")),
                ("an unknown key", try unknown.signature(challenge())),
                ("another's key", try unknown.signature(challenge(), as: device.keyID)),
            ]
            for (name, signature) in tries {
                let response = try await client.confirm(signature: signature)
                #expect(response.status == 403 && response.code == "attestation_invalid", "\(name)")
                #expect(response["location"] == nil && response["receipt"] == nil)
            }
            // The forged signatures did not advance the key's counter.
            #expect(try await client.confirm(signature: device.signature(challenge())).status == 200)
        }
    }

    @Test func forgedAttestationsAreRejected() async throws {
        let fixture = try Fixture(ClipAttestation(confirm: .require))
        try await fixture.api.test { client in
            let client = Client(client: client)
            func challenge(
                tenant: TenantID = Self.tenant, clip: String = Self.clip,
                _ purpose: AttestationChallenge.Purpose = .attestation, age: TimeInterval = 0
            ) throws -> String {
                fixture.verifier.challenge(
                    for: purpose, to: try BundleID(clip), of: tenant, at: Date().addingTimeInterval(-age))
            }
            let foreign = try Device(
                root: try SoftwareRoot(at: Date()), app: "ABCDE12345.com.example.MyApp",
                environment: .production)
            let tries: [(String, Device, String)] = [
                ("another root", foreign, try challenge()),
                ("another app", try fixture.device(app: "ABCDE12345.com.example.Other"), try challenge()),
                ("for development", try fixture.device(environment: .development), try challenge()),
                ("expired", try fixture.device(), try challenge(age: 301)),
                ("another tenant's", try fixture.device(), try challenge(tenant: TenantID(number: 2))),
                ("another clip's", try fixture.device(), try challenge(clip: "com.example.Other.Clip")),
                ("for a token", try fixture.device(), try challenge(.token)),
            ]
            for (name, device, challenge) in tries {
                let response = try await client.attest(device, challenge: challenge)
                #expect(response.status == 403 && response.code == "attestation_refused", "\(name)")
                #expect(response["token"] == nil)
                let token = try await client.token(device)
                #expect(token.status == 403 && token.code == "attestation_refused", "\(name)")
            }
            // An existing key is not replaced.
            let device = try fixture.device()
            #expect(try await client.attest(device).status == 201)
            let taken = try await client.attest(device)
            #expect(taken.status == 403 && taken.code == "attestation_refused")
            // An assertion for a token can be used once.
            let reused = try challenge(.token)
            let assertion = try device.assertion(
                ClientData.token(clip: try BundleID(Self.clip), challenge: reused))
            let body: JSONValue = [
                "keyID": device.keyText, "challenge": .string(reused),
                "assertion": .string(Data(assertion).base64EncodedString()),
            ]
            let path = "/v1/attestation/tokens"
            #expect(try await client.client.post(path, key: fixture.api.publishable, body).status == 200)
            let again = try await client.client.post(path, key: fixture.api.publishable, body)
            #expect(again.status == 409 && again.code == "counter_not_greater")
        }
    }

    @Test func attestationBodiesAreParsedStrictly() async throws {
        let fixture = try Fixture(ClipAttestation(confirm: .require))
        let device = try fixture.device()
        let tries: [(String, JSONValue, Int, String)] = [
            ("challenges", ["clip": .string(Self.clip)], 400, "missing_field"),
            ("challenges", ["clip": .string(Self.clip), "purpose": "x"], 400, "invalid_field"),
            ("challenges", ["clip": "x", "purpose": "token"], 404, "unknown_clip"),
            ("challenges", ["clip": "com.example.No.Clip", "purpose": "token"], 404, "unknown_clip"),
            (
                "keys",
                ["clip": .string(Self.clip), "keyID": "AA==", "challenge": "x", "attestation": "AAAA"], 400,
                "invalid_field"
            ),
            (
                "keys",
                [
                    "clip": .string(Self.clip), "keyID": device.keyText, "challenge": "x",
                    "attestation": "~",
                ], 400, "invalid_field"
            ),
            (
                "keys",
                [
                    "clip": "com.example.No.Clip", "keyID": device.keyText, "challenge": "x",
                    "attestation": "AAAA",
                ],
                404, "unknown_clip"
            ),
            (
                "tokens",
                [
                    "keyID": device.keyText, "challenge": "x",
                    "assertion": .string(Data(count: 4_099).base64EncodedString()),
                ], 400, "invalid_field"
            ),
            (
                "tokens", ["keyID": device.keyText, "challenge": "x", "assertion": "AAAA", "clip": "x"], 400,
                "unknown_field"
            ),
            (
                "tokens", ["keyID": device.keyText, "challenge": "x", "assertion": "AAAA"], 403,
                "attestation_refused"
            ),
        ]
        try await fixture.api.test(over: [.task]) { client in
            for (path, body, status, code) in tries {
                let response = try await client.post(
                    "/v1/attestation/\(path)", key: client.api.publishable, body)
                #expect(response.status == status && response.code == code, "\(path): \(response.text)")
            }
        }
    }

    @Test func requiredAttestationWithoutSecretIsUnavailable() async throws {
        var fixture = try Fixture(ClipAttestation(lookup: .monitor, confirm: .require))
        fixture.api.attestation = nil
        let api = fixture.api
        try await api.test { client in
            let client = Client(client: client)
            let confirmed = try await client.confirm(token: "x")
            #expect(confirmed.status == 503 && confirmed.code == "attestation_not_configured")
            #expect(try await client.send(.get, Self.lookUp, "x").status == 200)
            let challenge = try await client.client.post(
                "/v1/attestation/challenges", key: api.publishable,
                ["clip": .string(Self.clip), "purpose": "token"])
            #expect(challenge.status == 503 && challenge.code == "attestation_not_configured")
        }
    }

    @Test func clipWithoutPolicyIgnoresAttestation() async throws {
        let fixture = try Fixture(nil)
        try await fixture.api.test { client in
            let client = Client(client: client)
            let response = try await client.confirm(token: "x", signature: "y")
            #expect(response.status == 200 && response.headers[.doorstepChallenge] == nil)
            let challenge = try await client.client.post(
                "/v1/attestation/challenges", key: fixture.api.publishable,
                ["clip": .string(Self.clip), "purpose": "attestation"])
            #expect(challenge["attest"] == false)
            #expect(try await client.attest(try fixture.device()).code == "attestation_refused")
        }
    }

    /// If the stored policy is unreadable, every operation requires attestation.
    @Test func unreadablePolicyIsTreatedAsStrictest() async throws {
        let fixture = try Fixture(nil)
        var table = try #require(fixture.api.table.current).table
        try table.set(
            .clips,
            .clip(Self.tenant, Self.clip, isMultiBusiness: true, attestation: #"{"confirm": "later"}"#))
        fixture.api.table.replace(by: table, from: .database, asOf: Date())
        try await fixture.api.test { client in
            let client = Client(client: client)
            let confirmed = try await client.confirm()
            let lookedUp = try await client.send(.get, Self.lookUp, nil)
            #expect([confirmed.code, lookedUp.code] == ["attestation_required", "attestation_required"])
        }
    }

    /// The policy of the launched clip applies to its locations, also if a short code leads to a URL of another clip.
    @Test func shortCodeOfAnotherClipDoesNotBypassAttestation() async throws {
        let fixture = try Fixture(ClipAttestation(lookup: .require))
        var table = try #require(fixture.api.table.current).table
        let other = "com.example.Other.Clip"
        try table.set(.clips, .clip(Self.tenant, other, isMultiBusiness: true))
        try table.set(
            .experiences,
            .experience(
                Self.tenant, "advanced", "https://example.com/codes", clip: Self.clip, rule: "hash:c"))
        try table.set(
            .experiences,
            .experience(
                Self.tenant, "advanced", "https://example.com/other", clip: other, location: "restaurant_a"))
        try table.set(.shortCodes, .shortCode(Self.tenant, "dangling", "https://nowhere.example/"))
        try table.set(.shortCodes, .shortCode(Self.tenant, "crossing", "https://example.com/other"))
        fixture.api.table.replace(by: table, from: .database, asOf: Date())
        try await fixture.api.test { client in
            let client = Client(client: client)
            for code in ["dangling", "crossing", "unknown"] {
                let asked: JSONValue = [
                    "url": .string("https://example.com/codes?c=\(code)"),
                    "coordinate": ["latitude": 37.333, "longitude": -122.015],
                ]
                let response = try await client.send(.post, "/v1/nearby", nil, nil, nil, asked)
                #expect(response.status == 403 && response.code == "attestation_required", "\(code)")
            }
        }
    }

    @Test func rampControlsShareOfAttestingClients() async throws {
        for (ramp, expected) in [(0, false), (100, true)] {
            let fixture = try Fixture(ClipAttestation(confirm: .monitor, ramp: ramp))
            try await fixture.api.test(over: [.task]) { client in
                for _ in 0..<20 {
                    let response = try await client.post(
                        "/v1/attestation/challenges", key: client.api.publishable,
                        ["clip": .string(Self.clip), "purpose": "attestation"])
                    #expect(response["attest"] == .bool(expected))
                }
            }
        }
    }
}

import APNsPayload
import Administration
import AppAttest
import AppStoreSync
import Cards
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
import StoreSupport
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Tries every endpoint with every ID that a key may not see.
///
/// Two tenants have two locations and three keys each: a key with all scopes, a key with the same scopes that is restricted to the
/// first location, and a publishable key. The other tenant is hidden from each key, and the second location is hidden from the
/// restricted key, too. For hidden IDs, each endpoint responds as for unknown IDs, reveals nothing and changes nothing.
@Suite struct KeyIsolationTests {
    // MARK: Fixture

    /// A location with an item for each kind of ID. All texts are unique.
    private struct Place: Sendable {
        let tenant: TenantID
        let host: String
        let identifier: String
        let name: String
        let latitude: Double
        let instance: String
        let key: KeyID
        var notification = ""
        /// The webhook belongs to the tenant. Its URL contains the location.
        var webhook = ""

        var message: String { instance.replacing("-4000-", with: "-7000-") }
        var clip: String { "\(host.split(separator: ".").reversed().joined(separator: ".")).App.Clip" }
        var experience: String { "\(identifier)-own" }
        var code: String { "\(identifier)-code" }
        var activity: String { "\(identifier)-activity" }
        var idempotencyKey: String { "\(identifier)-order" }
        var site: String { "https://\(host)" }

        var ids: IDs {
            IDs(
                urls: [
                    "\(site)/\(experience)", "\(site)/all/\(identifier)", "\(site)/find?id=\(identifier)",
                    "\(site)/short?h=\(code)",
                ], place: identifier, instance: instance, activity: activity, notification: notification,
                experience: experience, code: code, key: key.description, idempotencyKey: idempotencyKey,
                webhook: webhook, message: message, number: Int(latitude))
        }

        /// Texts that must not appear in a response for other keys.
        var told: [String] {
            [identifier, name, experience, "\(latitude)", instance, key.description, message]
                + [ids.image, ids.attestKey] + [notification, webhook].filter { !$0.isEmpty }
        }
    }

    /// The IDs in a request.
    private struct IDs: Sendable {
        var urls: [String]
        var place: String
        var instance: String
        var activity: String
        var notification: String
        var experience: String
        var code: String
        var key: String
        var idempotencyKey: String
        var webhook: String
        var message: String
        /// The number from which the image and the attested key are made.
        var number: Int

        var picture: [UInt8] { HeaderPicture.png(seed: number) }
        var image: String { Base16.text(SHA256.hash(data: picture)) }
        var attestKey: String { Base64URL.text(SHA256.hash(data: Array("key \(number)".utf8))) }

        /// Unknown IDs of the same form: letters and digits are replaced.
        var unknown: IDs {
            func other(_ text: String) -> String {
                String(
                    text.map { character in
                        switch character {
                        case "1": "7"
                        case "2": "8"
                        default: character
                        }
                    })
            }
            return IDs(
                urls: urls.map(other), place: other(place), instance: other(instance),
                activity: other(activity), notification: other(notification), experience: other(experience),
                code: other(code), key: other(key), idempotencyKey: other(idempotencyKey),
                webhook: other(webhook), message: other(message), number: Int(other("\(number)")) ?? 0)
        }

        private var texts: [String] {
            urls + [instance, notification, key, webhook, message, activity, idempotencyKey, experience]
                + [image, attestKey, code, place]
        }

        /// Replaces each ID in a text by a neutral name.
        func removed(from text: String) -> String {
            texts.enumerated().reduce(text) { text, id in text.replacing(id.element, with: "ID\(id.offset)") }
        }
    }

    private static let places = [
        Place(
            tenant: TenantID(number: 1), host: "one.example", identifier: "place-11", name: "The First One",
            latitude: 11.125, instance: "00000000-0000-4000-8000-000000000011",
            key: KeyID(UUID(number: 0x11))),
        Place(
            tenant: TenantID(number: 1), host: "one.example", identifier: "place-12", name: "The First Two",
            latitude: 12.125, instance: "00000000-0000-4000-8000-000000000012",
            key: KeyID(UUID(number: 0x12))),
        Place(
            tenant: TenantID(number: 3), host: "two.example", identifier: "place-21", name: "The Second One",
            latitude: 21.125, instance: "00000000-0000-4000-8000-000000000021",
            key: KeyID(UUID(number: 0x21))),
        Place(
            tenant: TenantID(number: 3), host: "two.example", identifier: "place-22", name: "The Second Two",
            latitude: 22.125, instance: "00000000-0000-4000-8000-000000000022",
            key: KeyID(UUID(number: 0x22))),
    ]

    private enum Holder: CaseIterable {
        case whole, restricted, publishable
    }

    private struct Fixture {
        let api = TestAPI()
        var places = KeyIsolationTests.places
        private var keys: [TenantID: [Holder: APIKey]] = [:]

        init() throws {
            var table = LookupIndex()
            for (number, tenant) in Set(places.map(\.tenant)).enumerated() {
                try table.set(.tenants, .tenant(tenant))
                for (index, holder) in Holder.allCases.enumerated() {
                    let kind: KeyKind = holder == .publishable ? .publishable : .secret
                    let key = APIKey.generate(kind)
                    keys[tenant, default: [:]][holder] = key
                    // A restricted key can have more scopes than new restricted keys may have.
                    let scopes =
                        holder == .restricted
                        ? kind.scopesAtLocations.union(Scopes(.register)) : kind.scopes
                    let id = KeyID(UUID(number: UInt8(200 + number * 10 + index)))
                    if holder == .whole { api.keys.add(Self.record(id, scopes: .all), of: tenant) }
                    try table.set(
                        .keys,
                        .key(
                            tenant, id, Array(SHA256.hash(data: Array(key.text.utf8))), kind: kind,
                            scopes: scopes.list.map(\.rawValue).joined(separator: ","),
                            locations: holder == .restricted
                                ? places.first { $0.tenant == tenant }?.identifier : nil))
                }
            }
            for place in places {
                let (tenant, clip, site) = (place.tenant, place.clip, place.site)
                try table.set(.clips, .clip(tenant, clip, isMultiBusiness: true))
                try table.set(.domains, .domain(tenant, place.host))
                try table.set(
                    .locations,
                    .location(
                        tenant, place.identifier, name: place.name, latitude: place.latitude, longitude: 1))
                try table.set(
                    .experiences,
                    .experience(
                        tenant, "advanced", "\(site)/\(place.experience)", clip: clip,
                        location: place.identifier))
                for (path, rule) in [("all", "path:1"), ("find", "query:id"), ("short", "hash:h")] {
                    try table.set(
                        .experiences,
                        .experience(tenant, "advanced", "\(site)/\(path)", clip: clip, rule: rule))
                }
                try table.set(
                    .shortCodes, .shortCode(tenant, place.code, "\(site)/all/\(place.identifier)"))
                api.confirmations.add(
                    RecordedConfirmation(
                        id: UUID(number: UInt8(place.latitude)),
                        record: ConfirmationRecord(
                            location: try LocationIdentifier(place.identifier), outcome: .inRegion,
                            source: .nfc, minute: Date(timeIntervalSince1970: 0))), of: tenant)
                let url = "\(site)/\(place.experience)"
                api.appStore.add(
                    SyncCheck.Row(
                        url: url, location: place.identifier,
                        json: ["url": .string(url), "step": "create"]), of: try BundleID(clip), of: tenant,
                    summary: [
                        "missing": .array(places.filter { $0.tenant == tenant }.map { .string($0.name) })
                    ])
                api.keys.add(
                    Self.record(
                        place.key, scopes: Scopes(.lookup),
                        locations: [try LocationIdentifier(place.identifier)]), of: tenant)
                try Self.list(place, in: api.history)
                if place.identifier.hasSuffix("2") {
                    api.notifications.reach([try Self.passerBy(place)], of: tenant)
                }
                api.auditLog.add(
                    AuditEntry(
                        id: Int(place.latitude), at: Date(timeIntervalSince1970: 0), actor: "x", login: "l",
                        action: .insert, relation: "locations", before: nil,
                        after: ["name": .string(place.name)]), of: tenant)
            }
            api.table.replace(by: table, from: .database, asOf: Date())
        }

        private static func record(
            _ id: KeyID, scopes: Scopes, locations: Set<LocationIdentifier>? = nil
        ) -> KeyRecord {
            KeyRecord(
                id: id, kind: .secret, scopes: scopes, locations: locations, hint: "dsk_abcd",
                createdAt: Date(timeIntervalSince1970: 0), expiresAt: nil, revokedAt: nil, lastUsedOn: nil)
        }

        /// Adds a notification that a restricted key sent to the location, and an instance that was launched there.
        private static func list(_ place: Place, in history: MemoryNotificationHistory) throws {
            let (url, location) = (place.ids.urls[0], try LocationIdentifier(place.identifier))
            let sentAt = Date(timeIntervalSince1970: place.latitude)
            history.add(
                RecordedNotification(
                    id: NotificationID(.timeOrdered(at: sentAt)), createdAt: sentAt, url: url,
                    experienceURL: url, experienceKind: .advanced, clip: try BundleID(place.clip),
                    location: location,
                    audience: try AudienceRequest(["business": true, "ofLocation": true]),
                    headers: try NotificationHeaders(pushType: .alert, bundleID: place.clip), payload: [],
                    warnings: []), of: place.tenant)
            history.add(
                InstanceSummary(
                    id: try #require(InstanceID(text: place.instance)), clip: try BundleID(place.clip),
                    app: .clip, environment: .production, permission: .ephemeral, launchedAt: sentAt,
                    launchCount: 1, hasToken: true, activityCount: 0), of: place.tenant, at: location)
        }

        /// An instance that was launched at one location of the tenant and not at the other one.
        private static func passerBy(_ place: Place) throws -> Candidate {
            Candidate(
                instance: try #require(InstanceID(text: place.instance)), clip: try BundleID(place.clip),
                app: .full, environment: .production, permission: .authorized, launchedAt: Date(),
                launchedAtBusiness: nil, confirmedAt: nil, token: .good, hasOtherBusiness: true)
        }

        func key(_ tenant: TenantID, _ holder: Holder) throws -> APIKey {
            try #require(keys[tenant]?[holder])
        }

        /// Creates items with requests: an instance at each location, a notification there, and catalogue items.
        mutating func fill(_ client: TestAPI.Client) async throws {
            for index in places.indices {
                let place = places[index]
                let key = try self.key(place.tenant, .whole)
                let launch: JSONValue = [
                    "url": .string(place.ids.urls[0]), "environment": "production", "permission": "ephemeral",
                    "token": "00fc13adff785122", "launchedAt": "2026-03-01T12:30:00Z",
                ]
                let managed: [(String, JSONValue)] = [
                    (
                        "locations/\(place.identifier)",
                        [
                            "name": .string(place.name), "latitude": 1, "longitude": 1, "radius": 100,
                        ]
                    ),
                    ("short-codes/\(place.code)", ["url": .string(place.ids.urls[1])]),
                ]
                let path = "/v1/instances/\(place.instance)"
                #expect(try await client.write(.put, path, launch, key).status == 201)
                let activity = try await client.write(
                    .put, "\(path)/activities/\(place.activity)", ["token": "80f2c9e1a5b74d3e"], key)
                #expect(activity.status == 204)
                for (path, body) in managed {
                    #expect(try await client.write(.put, "/v1/\(path)", body, key).status == 201, "\(path)")
                }
                let sent = try await client.write(
                    .post, "/v1/notifications",
                    [
                        "url": .string(place.ids.urls[0]), "aps": ["alert": .string(place.name)],
                        "audience": ["business": true],
                    ], key, idempotencyKey: place.idempotencyKey)
                #expect(sent.status == 201, "\(sent.text)")
                places[index].notification = try #require(sent["id"]?.stringValue)
                let created = try await client.write(
                    .post, "/v1/webhooks", ["url": .string("\(place.site)/\(place.identifier)")], key)
                #expect(created.status == 201, "\(created.text)")
                places[index].webhook = try #require(created["id"]?.stringValue)
                let id = try #require(WebhookID(places[index].webhook))
                let message = try #require(UUID(uuidString: place.message))
                let image = try CardImage(file: place.ids.picture, addedAt: Date())
                _ = try await api.images.change(image.key, of: place.tenant, by: "x") { _ in image }
                api.attestKeys.add(
                    AttestKeyRecord(
                        id: try #require(AttestKeyID(place.ids.attestKey)), clip: try BundleID(place.clip),
                        build: AttestedBuild(environment: .production, category: nil), bundleVersion: nil,
                        attestedOn: "2026-03-01", lastUsedOn: "2026-03-01", revokedAt: nil),
                    of: place.tenant)
                api.webhooks.add(
                    RecordedMessage(
                        id: message, type: "key.revoked", state: .taken, createdAt: Date(), dueAt: nil,
                        attempts: []), of: WebhookReference(id, of: place.tenant))
            }
        }
    }

    // MARK: Probes

    private struct Request: Sendable {
        /// If it differs from the endpoint's method.
        var method: HTTPRequest.Method?
        let path: String
        var body: JSONValue?
        /// A body of CSV instead of JSON.
        var csv: String?
        /// A body with a PNG instead of JSON.
        var picture: [UInt8]?
        var idempotencyKey: String?
    }

    /// Requests to an endpoint for hidden IDs, from a key that may see another location.
    private typealias Probe = @Sendable (IDs, Place) -> [Request]

    /// Endpoints without a key. `TenantIsolationTests` checks their responses.
    private static let openEndpoints: Set = [
        "GET /.well-known/apple-app-site-association", "GET /.well-known/doorstep/images/{sha256}",
        "GET /", "GET /livez", "GET /readyz", "GET /metrics",
        "GET /tls/allowed",
        "GET /openapi.json", "GET /problems", "GET /problems/{code}", "GET /.well-known/jwks.json",
    ]

    private static let probes: [String: Probe] = {
        var probes: [String: Probe] = [:]
        addResponses(to: &probes)
        addInstances(to: &probes)
        addAttestation(to: &probes)
        addNotifications(to: &probes)
        addKeys(to: &probes)
        addWebhooks(to: &probes)
        addItems(
            "locations", "identifier", ["name": "N", "latitude": 1, "longitude": 1, "radius": 50], to: &probes
        ) { $0.place }
        addItems("short-codes", "code", ["url": "https://one.example/all/x"], to: &probes) { $0.code }
        addItems("clips", "bundleID", ["teamID": "ABCDE12345"], to: &probes) { "com.\($0.place).Clip" }
        addItems("experiences", "id", ["clip": "com.example.MyApp.Clip"], to: &probes) { ids in
            "exp_" + Base64URL.text("aone.example/\(ids.experience)".utf8)
        }
        probes["POST /v1/experiences"] = { ids, own in
            let url = "\(own.site)/\(ids.experience)"
            return [
                Request(
                    path: "/v1/experiences",
                    body: ["kind": "advanced", "url": .string(url), "clip": .string(own.clip)])
            ]
        }
        addImages(to: &probes)
        addCollections(to: &probes)
        addItems("domains", "host", [:], to: &probes) { "\($0.place).example" }
        probes["POST /v1/domains/{host}/verify"] = { ids, _ in
            [Request(path: "/v1/domains/\(ids.place).example/verify", body: [:])]
        }
        probes["PATCH /v1/tenant"] = { _, _ in [Request(path: "/v1/tenant", body: ["name": "Another"])] }
        for path in ["/v1/audit-log", "/v1/requests", "/v1/tenant", "/v1/key"] {
            probes["GET \(path)"] = { _, _ in [Request(path: path)] }
        }
        probes["GET /v1/appstore/plan"] = { ids, own in
            ["", "?clip=\(own.clip)", "?clip=com.\(ids.place).Clip"].map {
                Request(path: "/v1/appstore/plan\($0)")
            }
        }
        let listed = [
            "/v1/confirmations", "/v1/confirmations/summary", "/v1/statistics", "/v1/notifications",
            "/v1/instances",
        ]
        for path in listed {
            probes["GET \(path)"] = { ids, _ in
                [Request(path: path), Request(path: "\(path)?location=\(ids.place)")]
            }
        }
        return probes
    }()

    private static func addResponses(to probes: inout [String: Probe]) {
        for path in ["/v1/lookup", "/v1/diagnosis"] {
            probes["GET \(path)"] = { ids, _ in
                ids.urls.map { url in
                    let encoded = url.replacing("?", with: "%3F").replacing("=", with: "%3D")
                    return Request(path: "\(path)?url=\(encoded)")
                }
            }
        }
        probes["POST /v1/nearby"] = { ids, own in
            (ids.urls + ["\(own.site)/all"]).map { url in
                let body: JSONValue = [
                    "url": .string(url), "coordinate": ["latitude": 12.125, "longitude": 1], "within": 50_000,
                ]
                return Request(path: "/v1/nearby", body: body)
            }
        }
        probes["POST /v1/confirmations"] = { ids, _ in
            ids.urls.map { url in
                let body: JSONValue = [
                    "url": .string(url), "locationAccess": "allowed",
                    "coordinate": ["latitude": 12.125, "longitude": 1],
                ]
                return Request(path: "/v1/confirmations", body: body)
            }
        }
        probes["POST /v1/payloads"] = { ids, _ in
            ids.urls.map { url in
                Request(path: "/v1/payloads", body: ["url": .string(url), "aps": ["alert": "Ready."]])
            }
        }
    }

    private static func addInstances(to probes: inout [String: Probe]) {
        probes["PUT /v1/instances/{id}"] = { ids, own in
            // The instance's own URLs, a URL of the other key, and no URL.
            let path = "/v1/instances/\(ids.instance)"
            var requests = (ids.urls + [own.ids.urls[0]]).map { url in
                let body: JSONValue = [
                    "url": .string(url), "environment": "sandbox", "permission": "denied",
                    "token": "11fc13adff785122",
                ]
                return Request(path: path, body: body)
            }
            requests.append(
                Request(
                    path: path,
                    body: ["clip": .string(own.clip), "environment": "sandbox", "permission": "denied"]))
            return requests
        }
        for method in ["GET", "DELETE"] {
            probes["\(method) /v1/instances/{id}"] = { ids, _ in
                [Request(path: "/v1/instances/\(ids.instance)")]
            }
        }
        probes["PUT /v1/instances/{id}/activities/{activity}"] = { ids, _ in
            let path = "/v1/instances/\(ids.instance)/activities/\(ids.activity)"
            return [Request(path: path, body: ["token": "11fc13adff785122"])]
        }
        probes["DELETE /v1/instances/{id}/activities/{activity}"] = { ids, _ in
            [Request(path: "/v1/instances/\(ids.instance)/activities/\(ids.activity)")]
        }
    }

    /// Attestations belong to a clip.
    private static func addAttestation(to probes: inout [String: Probe]) {
        probes["POST /v1/attestation/challenges"] = { ids, _ in
            [
                Request(
                    path: "/v1/attestation/challenges",
                    body: ["clip": .string("com.\(ids.place).Clip"), "purpose": "token"])
            ]
        }
        let keyID = JSONValue.string(Data(repeating: 1, count: 32).base64EncodedString())
        probes["POST /v1/attestation/keys"] = { ids, _ in
            [
                Request(
                    path: "/v1/attestation/keys",
                    body: [
                        "clip": .string("com.\(ids.place).Clip"), "keyID": keyID, "challenge": "x",
                        "attestation": "AAAA",
                    ])
            ]
        }
        probes["POST /v1/attestation/tokens"] = { _, _ in
            [
                Request(
                    path: "/v1/attestation/tokens",
                    body: ["keyID": keyID, "challenge": "x", "assertion": "AAAA"])
            ]
        }
    }

    private static func addNotifications(to probes: inout [String: Probe]) {
        probes["POST /v1/notifications"] = { ids, own in
            func request(_ url: String, _ audience: JSONValue, _ key: String? = nil) -> Request {
                let body: JSONValue = [
                    "url": .string(url), "aps": ["alert": "Ready."], "audience": audience,
                ]
                return Request(path: "/v1/notifications", body: body, idempotencyKey: key)
            }
            let business: JSONValue = ["business": true]
            var requests = ids.urls.map { request($0, business) }
            requests.append(request(own.ids.urls[0], business))
            requests.append(request(own.ids.urls[0], ["instance": .string(ids.instance)]))
            requests.append(request(own.ids.urls[0], ["urlPrefix": .string(ids.urls[0])]))
            let update: JSONValue = [
                "url": .string(own.ids.urls[0]), "headers": ["pushType": "liveactivity"],
                "aps": ["timestamp": 1, "event": "update", "content-state": ["minutes": 5]],
                "audience": [
                    "activity": ["instance": .string(ids.instance), "activity": .string(ids.activity)]
                ],
            ]
            requests.append(Request(path: "/v1/notifications", body: update))
            // Reuses the idempotency key of the other tenant.
            requests.append(request(own.ids.urls[0], business, ids.idempotencyKey))
            return requests
        }
        for method in ["GET", "DELETE"] {
            probes["\(method) /v1/notifications/{id}"] = { ids, _ in
                [Request(path: "/v1/notifications/\(ids.notification)")]
            }
        }
        probes["GET /v1/deliveries"] = { _, _ in [Request(path: "/v1/deliveries")] }
        probes["GET /v1/deliveries/{id}"] = { ids, _ in [Request(path: "/v1/deliveries/\(ids.notification)")]
        }
        probes["POST /v1/deliveries/retry"] = { ids, _ in
            [Request(path: "/v1/deliveries/retry", body: ["ids": [.string(ids.notification)]])]
        }
        probes["POST /v1/channels"] = { _, own in
            [Request(path: "/v1/channels", body: ["clip": .string(own.clip)])]
        }
        probes["GET /v1/channels"] = { _, _ in [Request(path: "/v1/channels")] }
        probes["DELETE /v1/channels/{id}"] = { ids, _ in [Request(path: "/v1/channels/\(ids.code)")] }
    }

    private static func addKeys(to probes: inout [String: Probe]) {
        probes["GET /v1/attest-keys"] = { _, _ in [Request(path: "/v1/attest-keys")] }
        probes["DELETE /v1/attest-keys/{id}"] = { ids, _ in
            [Request(path: "/v1/attest-keys/\(ids.attestKey)")]
        }
        probes["GET /v1/keys"] = { _, _ in [Request(path: "/v1/keys")] }
        probes["POST /v1/keys"] = { ids, _ in
            let body: JSONValue = [
                "kind": "secret", "scopes": ["lookup"], "locations": [.string(ids.place)],
            ]
            return [Request(path: "/v1/keys", body: body)]
        }
        for method in ["GET", "DELETE"] {
            probes["\(method) /v1/keys/{id}"] = { ids, _ in [Request(path: "/v1/keys/\(ids.key)")] }
        }
        probes["PATCH /v1/keys/{id}"] = { ids, _ in
            [Request(path: "/v1/keys/\(ids.key)", body: ["expiresAt": .null])]
        }
        probes["POST /v1/keys/{id}/rotate"] = { ids, _ in
            [Request(path: "/v1/keys/\(ids.key)/rotate", body: [:])]
        }
    }

    private static func addWebhooks(to probes: inout [String: Probe]) {
        probes["GET /v1/events"] = { _, _ in
            [
                Request(path: "/v1/events"),
                Request(path: "/v1/events?after=1:1:"),
            ]
        }
        probes["POST /v1/events"] = { _, _ in
            [Request(path: "/v1/events", body: ["event": "location.changed"])]
        }
        let path = "/v1/webhooks"
        probes["GET \(path)"] = { _, _ in [Request(path: path)] }
        probes["POST \(path)"] = { ids, own in
            [Request(path: path, body: ["url": .string("\(own.site)/\(ids.place)")])]
        }
        for method in ["GET", "DELETE"] {
            probes["\(method) \(path)/{id}"] = { ids, _ in [Request(path: "\(path)/\(ids.webhook)")] }
        }
        probes["PATCH \(path)/{id}"] = { ids, _ in
            [Request(path: "\(path)/\(ids.webhook)", body: ["enabled": false])]
        }
        for verb in ["rotate", "test"] {
            probes["POST \(path)/{id}/\(verb)"] = { ids, _ in
                [Request(path: "\(path)/\(ids.webhook)/\(verb)", body: [:])]
            }
        }
        probes["GET \(path)/{id}/messages"] = { ids, _ in
            [Request(path: "\(path)/\(ids.webhook)/messages")]
        }
        probes["GET \(path)/{id}/messages/{message}"] = { ids, own in
            [ids.webhook, own.webhook].map { Request(path: "\(path)/\($0)/messages/\(ids.message)") }
        }
        probes["POST \(path)/{id}/replay"] = { ids, own in
            [ids.webhook, own.webhook].map { webhook in
                Request(path: "\(path)/\(webhook)/replay", body: ["message": .string(ids.message)])
            }
        }
    }

    private static func addItems(
        _ collection: String, _ name: String, _ body: JSONValue, to probes: inout [String: Probe],
        _ id: @escaping @Sendable (IDs) -> String
    ) {
        let path = "/v1/\(collection)"
        probes["GET \(path)"] = { _, _ in [Request(path: path)] }
        probes["GET \(path)/{\(name)}"] = { ids, _ in [Request(path: "\(path)/\(id(ids))")] }
        probes["PUT \(path)/{\(name)}"] = { ids, _ in [Request(path: "\(path)/\(id(ids))", body: body)] }
        probes["PATCH \(path)/{\(name)}"] = { ids, _ in [Request(path: "\(path)/\(id(ids))", body: [:])] }
        probes["DELETE \(path)/{\(name)}"] = { ids, _ in
            [Request(path: "\(path)/\(id(ids))?cascade=true")]
        }
    }

    private static func addImages(to probes: inout [String: Probe]) {
        let path = "/v1/images"
        let image: @Sendable (IDs) -> String = { "\(path)/\($0.image)" }
        probes["GET \(path)"] = { _, _ in [Request(path: path)] }
        probes["GET \(path)/{sha256}"] = { ids, _ in [Request(path: image(ids))] }
        probes["GET \(path)/{sha256}/file"] = { ids, _ in [Request(path: "\(image(ids))/file")] }
        // A tenant that has the file may store it, too. The response does not reveal that another tenant has it.
        probes["PUT \(path)/{sha256}"] = { ids, _ in
            [
                Request(path: image(ids), picture: ids.picture),
                Request(method: .delete, path: image(ids)),
            ]
        }
        probes["DELETE \(path)/{sha256}"] = { ids, _ in [Request(path: "\(image(ids))?cascade=true")] }
    }

    private static func addCollections(to probes: inout [String: Probe]) {
        let rows: [(String, @Sendable (IDs, Place) -> String)] = [
            (
                "locations",
                { ids, _ in "identifier,name,latitude,longitude,radius\n\(ids.place),N,1,1,50\n" }
            ),
            ("experiences", { ids, own in "clip,url\n\(own.clip),\(own.site)/\(ids.experience)\n" }),
            ("short-codes", { ids, own in "code,url\n\(ids.code),\(own.site)/all/\(ids.place)\n" }),
        ]
        for (collection, csv) in rows {
            let path = "/v1/\(collection)"
            probes["PATCH \(path)"] = { ids, own in [Request(path: path, csv: csv(ids, own))] }
            probes["PUT \(path)"] = { ids, own in
                [Request(path: "\(path)?allowRemovals=1000", csv: csv(ids, own))]
            }
        }
    }

    // MARK: Tests

    @Test func everyEndpointHasAProbe() {
        let endpoints = TestAPI().responder.endpoints.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(endpoints) == Self.openEndpoints.union(Self.probes.keys))
    }

    @Test(arguments: [TenantID(number: 1), TenantID(number: 3)])
    func hiddenItemIsAnsweredLikeUnknownItem(tenant: TenantID) async throws {
        for holder in Holder.allCases {
            let fixture = try Fixture()
            try await fixture.api.test(over: [.task]) { client in
                var fixture = fixture
                try await fixture.fill(client)
                let key = try fixture.key(tenant, holder)
                let own = try #require(fixture.places.first { $0.tenant == tenant })
                let hidden = fixture.places.filter {
                    $0.tenant != tenant || (holder == .restricted && $0.identifier != own.identifier)
                }
                let before = try await Self.all(hidden, fixture, client)
                for endpoint in client.api.responder.endpoints {
                    let name = "\(endpoint.method.rawValue) \(endpoint.path)"
                    guard let probe = Self.probes[name] else { continue }
                    for place in hidden {
                        let theirs = try await Self.ask(probe(place.ids, own), endpoint.method, key, client)
                        let nobodys = try await Self.ask(
                            probe(place.ids.unknown, own), endpoint.method, key, client)
                        for (one, other) in zip(theirs, nobodys) {
                            let comment =
                                "\(name) of \(place.identifier) by \(holder) of \(own.host): \(one.text)"
                            #expect(one.status == other.status, "\(comment)")
                            let (told, toldOfNothing) = (Self.told(one), Self.told(other))
                            #expect(
                                Self.comparable(place.ids.removed(from: told))
                                    == Self.comparable(place.ids.unknown.removed(from: toldOfNothing)),
                                "\(comment)")
                            for text in hidden.flatMap(\.told) {
                                #expect(
                                    !place.ids.removed(from: told).contains(text), "\(text) by \(comment)")
                            }
                        }
                    }
                }
                let after = try await Self.all(hidden, fixture, client)
                #expect(before == after, "\(holder) of \(own.host)")
            }
        }
    }

    /// Control for the test above: with the same requests, a restricted key reads its own items.
    @Test func restrictedKeyReadsItsOwnItems() async throws {
        let fixture = try Fixture()
        try await fixture.api.test(over: [.task]) { client in
            var fixture = fixture
            try await fixture.fill(client)
            let own = fixture.places[0]
            let key = try fixture.key(own.tenant, .restricted)
            func ask(_ name: String, _ ids: IDs) async throws -> [TestAPI.APIResponse] {
                let method = try #require(HTTPRequest.Method(String(name.prefix { $0 != " " })))
                let probe = try #require(Self.probes[name])
                return try await Self.ask(probe(ids, own), method, key, client)
            }
            for response in try await ask("GET /v1/lookup", own.ids) {
                #expect(response.status == 200 && response.text.contains(own.name), "\(response.text)")
            }
            for response in try await ask("POST /v1/confirmations", own.ids) {
                #expect(response["outcome"] == "notInRegion", "\(response.text)")
            }
            let payloads = try await ask("POST /v1/payloads", own.ids)
            #expect(payloads.map(\.status) == [200, 422, 422, 422])
            let registered = try await ask("PUT /v1/instances/{id}", own.ids)
            #expect(registered.allSatisfy { $0.status == 403 && $0.code == "forbidden" })
            let instance = try await ask("GET /v1/instances/{id}", own.ids)
            #expect(instance[0].status == 200 && instance[0]["activities"] == [])
            let sent = try await ask("POST /v1/notifications", own.ids)
            // The store in memory has an instance that was launched at no location; a restricted key does not see it.
            #expect(sent.map(\.status) == [201, 422, 422, 422, 201, 422, 201, 422, 201])
            #expect(sent[7].code == "wrong_audience", "\(sent[7].text)")
            // A notification of an unrestricted key may be about other locations, so a restricted key does not see it.
            #expect(try await ask("GET /v1/notifications/{id}", own.ids).map(\.status) == [404])
            #expect(try await ask("DELETE /v1/notifications/{id}", own.ids).map(\.status) == [404])
            var ids = own.ids
            ids.notification = try #require(sent[0]["id"]?.stringValue)
            #expect(try await ask("GET /v1/notifications/{id}", ids).map(\.status) == [200])
            let finished = try await ask("DELETE /v1/notifications/{id}", ids)
            #expect([200, 409].contains(finished[0].status), "\(finished[0].text)")
            for path in ["/v1/confirmations", "/v1/notifications", "/v1/instances"] {
                for response in try await ask("GET \(path)", own.ids) {
                    #expect(response["data"]?.arrayValue?.count == 1, "\(path): \(response.text)")
                }
            }
            let near = try await client.write(
                .post, "/v1/nearby",
                ["url": "https://one.example/all", "coordinate": ["latitude": 11.125, "longitude": 1]], key)
            #expect(near["data"]?.arrayValue?.count == 1 && near.text.contains(own.name))
            // Only the same key gets the stored response to a repeated request.
            let again = try await ask("POST /v1/notifications", own.ids)
            #expect(again.map(\.status) == [201, 422, 422, 422, 201, 422, 201, 422, 200])
            let channel = try await client.write(
                .post, "/v1/notifications",
                [
                    "url": .string(own.ids.urls[0]), "aps": ["alert": "Ready."],
                    "audience": ["channel": "c"],
                ], key)
            #expect(channel.status == 422 && channel.code == "wrong_audience", "\(channel.text)")
            #expect(channel["detail"]?.stringValue?.contains("restricted") == true)
            // A restricted key sees the App Store rows of its locations, but not the summary over all rows.
            for response in try await ask("GET /v1/appstore/plan", own.ids).prefix(2) {
                #expect(response["summary"] == .null, "\(response.text)")
                #expect(response["data"]?.arrayValue?.count == 1 && response.text.contains(own.experience))
            }
            // Endpoints for all of a tenant's items tell a restricted key so.
            for path in ["/v1/audit-log", "/v1/locations", "/v1/channels", "/v1/clips"] {
                let response = try await client.send(.get, path, key: key)
                #expect(response.status == 403 && response.code == "forbidden", "\(path)")
                #expect(response["detail"]?.stringValue?.contains("restricted") == true)
            }
        }
    }

    // MARK: Requests

    private static func ask(
        _ requests: [Request], _ method: HTTPRequest.Method, _ key: APIKey, _ client: TestAPI.Client
    ) async throws -> [TestAPI.APIResponse] {
        var responses: [TestAPI.APIResponse] = []
        for request in requests {
            responses.append(
                try await client.write(
                    request.method ?? method, request.path, request.body, csv: request.csv,
                    picture: request.picture, key, idempotencyKey: request.idempotencyKey))
        }
        return responses
    }

    /// All data of the locations, read with their tenant's unrestricted keys.
    private static func all(
        _ places: [Place], _ fixture: Fixture, _ client: TestAPI.Client
    ) async throws -> [String] {
        var texts: [String] = []
        for place in places {
            let key = try fixture.key(place.tenant, .whole)
            for path in [
                "instances/\(place.instance)", "notifications/\(place.notification)",
                "locations/\(place.identifier)", "short-codes/\(place.code)", "keys/\(place.key)",
                "confirmations?location=\(place.identifier)", "audit-log", "webhooks/\(place.webhook)",
                "webhooks/\(place.webhook)/messages", "images/\(place.ids.image)/file", "attest-keys",
            ] {
                let response = try await client.send(.get, "/v1/\(path)", key: key)
                #expect(response.status == 200, "\(path): \(response.text)")
                texts.append(response.text)
            }
        }
        return texts
    }

    /// The body and header fields that stay the same from one request to the next.
    private static func told(_ response: TestAPI.APIResponse) -> String {
        let fields = response.headers.filter {
            !["date", "ratelimit", "etag", "content-length"].contains($0.name.canonicalName)
        }
        return ([response.text] + fields.map(\.description).sorted()).joined(separator: "\n")
    }

    /// The text without times, counts and values that each request creates: IDs, keys and challenges.
    private static func comparable(_ text: String) -> String {
        text.replacing(/(?!00000000)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "MADE")
            .replacing(/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "TIME")
            .replacing(/dsk_[0-9A-Za-z]{4,}/, with: "KEY")
            .replacing(/whsec_[0-9A-Za-z+\/=]+/, with: "SECRET")
            .replacing(/exp_[0-9A-Za-z_-]+/, with: "EXPERIENCE")
            .replacing(/[a-z0-9]{32}/, with: "CHALLENGE")
            .replacing(/"(added|changed|removed|unchanged)":[0-9]+/, with: "COUNT")
            .replacing(/Y2hhbm5lbC[0-9A-Za-z_=\/+-]+/, with: "CHANNEL")
    }
}

extension TestAPI.Client {
    fileprivate func write(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?, csv: String? = nil,
        picture: [UInt8]? = nil, _ key: APIKey, idempotencyKey: String? = nil
    ) async throws -> TestAPI.APIResponse {
        var headers: HTTPFields = [:]
        let bytes = csv.map { Array($0.utf8) } ?? picture ?? body?.serialized()
        if csv != nil {
            headers[.contentType] = "text/csv"
        } else if picture != nil {
            headers[.contentType] = "image/png"
        } else if body != nil {
            headers[.contentType] = method == .patch ? "application/merge-patch+json" : "application/json"
        }
        headers[try #require(HTTPField.Name("X-Request-ID"))] = "probe"
        headers[try #require(HTTPField.Name("Idempotency-Key"))] = idempotencyKey
        return try await send(
            method, path, key: key, headers: headers,
            body: bytes.map { ByteBuffer(bytes: $0) })
    }
}

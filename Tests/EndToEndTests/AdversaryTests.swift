import AppAttest
import AppAttestSimulator
import Crypto
import Formats
import Foundation
import Invocation
import NIOHTTP1
import Tenancy
import TestSupport
import Testing

/// An attacker with the publishable key of a clip cannot use anything that requires attestation, with any request. The genuine clip
/// can use all of it.
@Suite(.timeLimit(.minutes(30))) struct AdversaryTests {
    private typealias Attested = AttestationTests

    /// A request that only the genuine clip may make.
    private struct Wish {
        let method: HTTPMethod
        let path: String
        var body: JSONValue?

        init(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) {
            self.method = method
            self.path = path
            self.body = body
        }
    }

    private static let own = "/v1/instances/7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
    private static let another = "/v1/instances/8e4d2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
    private static let launch: JSONObject = ["environment": "production", "permission": "ephemeral"]

    private static func lookUp(_ url: String) -> Wish {
        Wish(
            .GET, "/v1/lookup?url=" + (url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        )
    }

    private static func with(_ members: JSONObject, _ more: JSONObject) -> JSONValue {
        var all = members
        for (name, value) in more { all[name] = value }
        return .object(all)
    }

    /// The requests, also with other spellings of URLs that lead to the same location.
    private static let wishes: [Wish] =
        [
            MainPathTests.order, "https://example.com/restaurants/restaurant_a",
            "https://example.com/restaurants/restaurant_b?x=1#y",
            "HTTPS://EXAMPLE.com:443/restaurants/restaurant_a/",
            "https://example.com/%72estaurants/./restaurant_a",
            "https://example.com./restaurants/x/../restaurant_a",
        ].map(lookUp) + [
            Wish(.HEAD, lookUp(MainPathTests.order).path),
            Wish(
                .POST, "/v1/nearby",
                [
                    "url": .string(MainPathTests.order), "within": 50_000,
                    "coordinate": ["latitude": 37.33475, "longitude": -122.0089],
                ]),
            Wish(.POST, "/v1/confirmations", Attested.body),
            Wish(.POST, "/v1/confirmations", ["url": .string(MainPathTests.order)]),
            Wish(
                .POST, "/v1/confirmations",
                [
                    "url": .string(MainPathTests.order), "deviceResult": ["inRegion": true],
                ]),
            Wish(
                .POST, "/v1/confirmations",
                [
                    "url": .string(MainPathTests.order), "source": "nfc",
                    "coordinate": ["latitude": 37.334722, "longitude": -122.008889, "simulated": false],
                ]),
            Wish(.PUT, another, with(launch, ["url": .string(MainPathTests.order)])),
            Wish(.PUT, another, with(launch, ["clip": .string(Attested.clip)])),
            Wish(
                .PUT, another,
                with(
                    launch,
                    [
                        "url": .string(MainPathTests.order), "clip": .string(Attested.clip), "app": "app",
                        "token": "80f2c9e1a5b74d3e",
                    ])),
            // The genuine clip has registered this instance.
            Wish(.PUT, own, .object(launch)),
            Wish(
                .PUT, own, with(launch, ["url": .string(MainPathTests.order), "token": "80f2c9e1a5b74d3e"])),
            Wish(.PUT, "\(own)/activities/a", ["token": "80f2c9e1a5b74d3e"]),
            Wish(.DELETE, "\(own)/activities/a"),
            Wish(.DELETE, own), Wish(.GET, own),
            // These requests require another key.
            Wish(.GET, "/v1/instances"), Wish(.GET, "/v1/attest-keys"), Wish(.GET, "/v1/confirmations"),
            Wish(.GET, "/v1/locations"), Wish(.GET, "/v1/locations/restaurant_a"),
            Wish(.PATCH, "/v1/clips/\(Attested.clip)", ["attestation": .null]),
            Wish(.DELETE, "/v1/clips/\(Attested.clip)?cascade=true"),
        ]

    /// A second tenant, a second app, and the values that the genuine clip has sent: the attacker tries all of them with each
    /// request.
    private struct Loot {
        let tenant: TenantID
        let othersToken: String
        let otherAppsToken: String
        let revokedToken: String
        /// A signature of the genuine clip, which is used up.
        let signature: String
        let keyID: [UInt8]
    }

    private static func credentials(
        _ loot: Loot, _ foreign: inout SoftwareAuthenticator, _ challenge: String, key: String
    ) throws -> [(String, [String: String])] {
        func token(_ secret: String, _ header: String? = nil) throws -> String {
            let keys = try #require(AttestationKeys(secrets: [secret]))
            let text = AttestationToken(
                tenant: loot.tenant, appID: try AppID("ABCDE12345.com.example.MyApp"),
                clip: try BundleID(Attested.clip), keyID: loot.keyID,
                build: AttestedBuild(environment: .production, category: .appStore), at: Date()
            ).text(signedBy: keys)
            guard let header else { return text }
            let parts = text.split(separator: ".")
            return Data(header.utf8).base64EncodedString().replacing("=", with: "") + ".\(parts[1])."
        }
        let foreignKey = foreign.generateKey()
        let other: JSONValue = ["url": .string(MainPathTests.order), "deviceResult": ["inRegion": true]]
        let ofAnother = try Attested.signature(&foreign, foreignKey, challenge)
        func field(_ name: String, _ value: String) -> [String: String] { [name: value] }
        let (token1, assertion) = ("Doorstep-Attestation", "Doorstep-Assertion")
        let asOwn = ofAnother.replacing(
            Data(foreignKey).base64EncodedString(), with: Data(loot.keyID).base64EncodedString())
        return [
            ("nothing", [:]), ("an empty token", field(token1, "")), ("no token", field(token1, "x")),
            ("the key", field(token1, key)), ("dots", field(token1, "..")),
            (
                "none for an algorithm",
                field(token1, try token(key, #"{"alg":"none","typ":"doorstep-attest+jwt"}"#))
            ),
            ("signed by the key", field(token1, try token(String(repeating: key, count: 2)))),
            ("signed by a guess", field(token1, try token(String(repeating: "secret", count: 6)))),
            ("another tenant's", field(token1, loot.othersToken)),
            ("another app's", field(token1, loot.otherAppsToken)),
            ("a revoked key's", field(token1, loot.revokedToken)),
            ("a list of tokens", field(token1, "\(loot.otherAppsToken), \(loot.othersToken)")),
            ("no signature", field(assertion, "x")), ("an empty signature", field(assertion, "key=:AA==:")),
            ("a used signature", field(assertion, loot.signature)),
            ("another device's signature", field(assertion, ofAnother)),
            ("another device's signature with the genuine key ID", field(assertion, asOwn)),
            (
                "of another body",
                field(assertion, try Attested.signature(&foreign, foreignKey, challenge, other))
            ),
            ("both", [token1: loot.otherAppsToken, assertion: loot.signature]),
            (
                "what proxies say",
                [
                    "X-Forwarded-For": "127.0.0.1", "X-HTTP-Method-Override": "GET",
                    "X-Doorstep-Attestation": "yes",
                    "X-Original-URL": "/v1/locations", "If-None-Match": "*",
                ]
            ),
        ]
    }

    private static func send(
        _ wish: Wish, _ server: RunningServer, key: String, _ fields: [String: String]
    ) async throws -> RunningServer.Answer {
        try await server.send(
            wish.method, wish.path, key: key,
            wish.body?.text ?? "",
            type: wish.method == .PATCH ? "application/merge-patch+json" : "application/json", fields: fields)
    }

    /// The genuine clip, with its token and the signature of its confirmation.
    private struct Genuine {
        var device: SoftwareAuthenticator
        let keyID: [UInt8]
        let token: String

        init(
            _ root: SoftwareRoot, _ server: RunningServer, key: String,
            app: String = "ABCDE12345.com.example.MyApp",
            clip: String = Attested.clip
        ) async throws {
            device = try SoftwareAuthenticator(root: root, appID: AppID(app))
            let (keyID, response) = try await Attested.attest(&device, server, key: key, clip: clip)
            self.keyID = keyID
            token = try #require(response["token"]?.stringValue, "\(response.status)")
        }
    }

    @Test func shippedKeyAloneGetsNothing() async throws {
        try await Attested.lend { installation, root in
            var installation = installation
            installation.binary.environment["DOORSTEP_TOKEN_SECRET"] = String(repeating: "t", count: 32)
            let (binary, key) = (installation.binary, installation.publishable)
            // Another tenant with the same app, and another app of the same tenant.
            try await binary.succeed("tenant", "create", "other", "--name", "Other")
            for (tenant, clip) in [("other", Attested.clip), (Installation.tenant, "com.other.App.Clip")] {
                try await binary.succeed(
                    "clip", "create", "--tenant", tenant, "--team-id", "ABCDE12345", "--bundle-id", clip)
                try await binary.succeed("clip", "attest", "--tenant", tenant, clip, "--confirm", "monitor")
            }
            let othersKey = try #require(
                try await binary.succeed("key", "create", "--tenant", "other", "--kind", "publishable").json()
                    .objectValue?["key"]?.stringValue)
            try await binary.succeed(
                "clip", "attest", "--tenant", Installation.tenant, Attested.clip, "--confirm",
                "require_signed",
                "--lookup", "require", "--register", "require", "--yes")
            _ = try await RunningServer.lend(binary) { server in
                #expect(try await server.status(of: MainPathTests.order, key: key, becoming: 403) == 403)
                var genuine = try await Genuine(root, server, key: key)
                let revoked = try await Genuine(root, server, key: key)
                let token = ["Doorstep-Attestation": genuine.token]

                // The genuine clip is accepted everywhere.
                func asks(
                    _ wish: Wish, _ fields: [String: String]? = nil
                ) async throws -> RunningServer.Answer {
                    try await Self.send(wish, server, key: key, fields ?? token)
                }
                #expect(try await asks(Self.lookUp(MainPathTests.order))["location"] != nil)
                let near = try await asks(Self.wishes[7])
                #expect(near.status == 200 && near["data"]?.arrayValue?.isEmpty == false)
                let signature = try Attested.signature(
                    &genuine.device, genuine.keyID, try await Attested.challenge("request", server, key: key))
                let confirm = Wish(.POST, "/v1/confirmations", Attested.body)
                let confirmed = try await asks(confirm, ["Doorstep-Assertion": signature])
                #expect(confirmed.status == 200 && confirmed["outcome"] == "inRegion")
                let claims = try Attested.claims(confirmed)
                #expect(claims["attested"] == true)
                let launched = Self.with(Self.launch, ["url": .string(MainPathTests.order)])
                #expect(try await asks(Wish(.PUT, Self.own, launched)).status == 201)
                let activity = Wish(.PUT, "\(Self.own)/activities/a", ["token": "80f2c9e1a5b74d3e"])
                #expect(try await asks(activity).status == 204)

                try await binary.succeed(
                    "attest-key", "revoke", "--tenant", Installation.tenant, "--",
                    Data(revoked.keyID).base64EncodedString())
                let loot = Loot(
                    tenant: TenantID(
                        try #require(claims["sub"]?.stringValue.flatMap { UUID(uuidString: $0) })),
                    othersToken: try await Genuine(root, server, key: othersKey).token,
                    otherAppsToken: try await Genuine(
                        root, server, key: key, app: "ABCDE12345.com.other.App", clip: "com.other.App.Clip"
                    ).token,
                    revokedToken: revoked.token, signature: signature, keyID: genuine.keyID)
                let deadline = ContinuousClock.now + .seconds(120)
                while try await asks(
                    Self.lookUp(MainPathTests.order), ["Doorstep-Attestation": revoked.token]
                ).status == 200 {
                    try #require(.now < deadline)
                }

                try await Self.tryAll(loot, server, key: key)
                try await Self.tryToAttest(loot, root, server, key: key, others: othersKey)

                // The refused requests had no effect: the instance of the genuine clip is unchanged, and no other instance exists.
                let kept = try await server.get(Self.own, key: installation.secret)
                #expect(kept.status == 200 && kept["activities"]?.arrayValue?.count == 1)
                #expect(kept["hasToken"] != true)
                #expect(try await server.get(Self.another, key: installation.secret).status == 404)
                #expect(try await asks(Wish(.DELETE, Self.own)).status == 204)
                let listed = try await binary.succeed(
                    "attest-key", "list", "--tenant", Installation.tenant, "--format", "json"
                ).json()
                #expect(listed.arrayValue?.count == 3)
            }
        }
    }

    private static func tryAll(_ loot: Loot, _ server: RunningServer, key: String) async throws {
        var foreign = try SoftwareAuthenticator(
            root: SoftwareRoot(at: Date()), appID: AppID("ABCDE12345.com.example.MyApp"))
        let challenge = try await Attested.challenge("request", server, key: key)
        var tries = 0
        for (name, fields) in try credentials(loot, &foreign, challenge, key: key) {
            for wish in wishes {
                let response = try await send(wish, server, key: key, fields)
                let what = "\(wish.method) \(wish.path) with \(name): \(response.status)"
                #expect([400, 403, 409].contains(response.status), "\(what)")
                let text = response.json?.text ?? ""
                for secret in ["receipt\":\"", "37.33", "Restaurant A", "token\":\""] {
                    #expect(!text.contains(secret), "\(what) tells \(secret)")
                }
                tries += 1
            }
            // A URL without a location requires no attestation and gets no receipt.
            let nowhere = try await send(
                Wish(
                    .POST, "/v1/confirmations",
                    ["url": "https://other.example/", "deviceResult": ["inRegion": true]]),
                server, key: key, fields)
            #expect(nowhere.status == 200 && nowhere["outcome"] == "doesNotMatch", "\(name)")
            #expect(nowhere["receipt"] == nil && nowhere["location"] == .null, "\(name)")
        }
        #expect(tries >= 500)
    }

    /// The attacker cannot get a token with any invalid attestation.
    private static func tryToAttest(
        _ loot: Loot, _ root: SoftwareRoot, _ server: RunningServer, key: String, others: String
    ) async throws {
        let appID = try AppID("ABCDE12345.com.example.MyApp")
        let foreignRoot = try SoftwareRoot(at: Date())
        func post(
            _ device: SoftwareAuthenticator, _ keyID: [UInt8], as name: [UInt8]? = nil, _ challenge: String,
            _ fault: AttestationFault? = nil
        ) async throws -> RunningServer.Answer {
            let attestation = try device.attest(
                keyID: keyID, clientDataHash: Array(SHA256.hash(data: Array(challenge.utf8))), at: Date(),
                fault: fault)
            return try await server.post(
                "/v1/attestation/keys", key: key,
                [
                    "clip": .string(Attested.clip),
                    "keyID": .string(Data(name ?? keyID).base64EncodedString()),
                    "challenge": .string(challenge),
                    "attestation": .string(Data(attestation).base64EncodedString()),
                ])
        }
        func refused(_ response: RunningServer.Answer, _ name: String) {
            #expect(
                response.status == 403 && response["code"] == "attestation_refused",
                "\(name): \(response.status)")
            #expect(response["token"] == nil, "\(name)")
        }
        func challenge(_ purpose: String = "attestation", to other: String? = nil) async throws -> String {
            try await Attested.challenge(purpose, server, key: other ?? key)
        }
        // Each fault of a device with a trusted root, and a device with another root.
        for fault in AttestationFault.allCases {
            var device = try SoftwareAuthenticator(root: root, appID: appID)
            let keyID = device.generateKey()
            refused(try await post(device, keyID, challenge(), fault), "\(fault)")
        }
        var foreign = try SoftwareAuthenticator(root: foreignRoot, appID: appID)
        let foreignKey = foreign.generateKey()
        refused(try await post(foreign, foreignKey, challenge()), "another root")
        refused(try await post(foreign, foreignKey, as: loot.keyID, challenge()), "the genuine key's name")
        for app in ["ABCDE12345.com.example.Other", "ZYXWV98765.com.example.MyApp"] {
            var device = try SoftwareAuthenticator(root: root, appID: AppID(app))
            let keyID = device.generateKey()
            refused(try await post(device, keyID, challenge()), app)
        }
        var development = try SoftwareAuthenticator(root: root, appID: appID, environment: .development)
        let developersKey = development.generateKey()
        refused(try await post(development, developersKey, challenge()), "for development")
        var device = try SoftwareAuthenticator(root: root, appID: appID)
        let ownKey = device.generateKey()
        for (name, wrong) in [
            ("no challenge", "challenge"), ("for a token", try await challenge("token")),
            ("for a request", try await challenge("request")),
            ("another tenant's", try await challenge(to: others)),
        ] {
            refused(try await post(device, ownKey, wrong), name)
        }
        // With the ID of the genuine key, and with an unknown key.
        for (name, keyID) in [("the genuine key", loot.keyID), ("an unknown key", foreignKey)] {
            for fault in [nil] + AssertionFault.allCases.map(Optional.some) {
                let text = try await challenge("token")
                let data = try #require(ClientData.token(clip: BundleID(Attested.clip), challenge: text))
                let assertion = try foreign.assertion(
                    keyID: foreignKey, clientDataHash: data.hash, fault: fault)
                let response = try await server.post(
                    "/v1/attestation/tokens", key: key,
                    [
                        "keyID": .string(Data(keyID).base64EncodedString()), "challenge": .string(text),
                        "assertion": .string(Data(assertion).base64EncodedString()),
                    ])
                refused(response, "\(name), \(fault.map { "\($0)" } ?? "signed")")
            }
        }
    }
}

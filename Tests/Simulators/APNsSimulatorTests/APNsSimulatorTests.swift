import APNsPayload
import APNsSimulator
import Crypto
import Foundation
import NIOHPACK
import Notifications
import Synchronization
import Testing

@Suite struct APNsSimulatorTests {
    typealias Change = @Sendable (inout Provider.Push) -> Void

    @Test func validPushIsAccepted() async throws {
        try await Provider.lend { provider in
            let id = UUID().uuidString.lowercased()
            let response = try await provider.send { $0.set("apns-id", id) }
            #expect(response.status == 200)
            #expect(response.body.isEmpty)
            #expect(response.headers.first(name: "apns-id") == id)
            let uniqueID = try #require(response.headers.first(name: "apns-unique-id"))
            #expect(UUID(uuidString: uniqueID) != nil)
            let received = try #require(provider.simulator.received.first)
            #expect(received.id == id)
            #expect(received.device == Provider.device)
            #expect(received.status == 200)
            #expect(String(decoding: received.payload, as: UTF8.self) == #"{"aps":{"alert":"Ready"}}"#)
        }
    }

    @Test func missingIDIsGenerated() async throws {
        try await Provider.lend(options: { $0.environment = .production }) { provider in
            let response = try await provider.send { $0.set("apns-id", nil) }
            #expect(response.status == 200)
            let id = try #require(response.headers.first(name: "apns-id"))
            #expect(UUID(uuidString: id) != nil)
            #expect(response.headers.first(name: "apns-unique-id") == nil)
            #expect(provider.simulator.received.first?.id == id)
        }
    }

    /// Each change makes a request invalid for the given reason.
    private static let wrongs: [(APNsReason, Change)] = [
        (.badCollapseId, { $0.set("apns-collapse-id", String(repeating: "x", count: 65)) }),
        (.badDeviceToken, { $0.path = "/3/device/xyz" }),
        (.badDeviceToken, { $0.path = "/3/device/0f0" }),
        (.badExpirationDate, { $0.set("apns-expiration", "tomorrow") }),
        (.badExpirationDate, { $0.set("apns-expiration", "-1") }),
        (.badMessageId, { $0.set("apns-id", "7") }),
        (.badPriority, { $0.set("apns-priority", "7") }),
        (.badPriority, { $0.set("apns-push-type", "background") }),
        (.badTopic, { $0.set("apns-topic", "com example") }),
        (.duplicateHeaders, { $0.headers.append(("apns-topic", Provider.bundleID)) }),
        (.invalidPushType, { $0.set("apns-push-type", "carrier-pigeon") }),
        (.missingDeviceToken, { $0.path = "/3/device/" }),
        (.missingDeviceToken, { $0.path = "/3/device" }),
        (.missingTopic, { $0.set("apns-topic", nil) }),
        (.payloadEmpty, { $0.body = "" }),
        (.payloadTooLarge, { $0.body = Self.payload(4_097) }),
        (.payloadTooLarge, { $0.body = Self.payload(200_000) }),
        (.badRequestPayload, { $0.body = "[]" }),
        (.badRequestPayload, { $0.body = "{" }),
        (.topicDisallowed, { $0.set("apns-push-type", "liveactivity") }),
        (.topicDisallowed, { $0.set("apns-topic", Provider.bundleID + ".voip") }),
        (.missingProviderToken, { $0.authorization = nil }),
        (.missingProviderToken, { $0.authorization = "bearer " }),
        (.missingProviderToken, { $0.authorization = "basic eHg6eHg=" }),
        (.invalidProviderToken, { $0.authorization = "bearer x" }),
        (.invalidProviderToken, { $0.authorization = Provider.token(team: "OTHER12345") }),
        (.invalidProviderToken, { $0.authorization = Provider.token(keyID: "OTHER12345") }),
        (.invalidProviderToken, { $0.authorization = Provider.token(keyID: nil) }),
        (.invalidProviderToken, { $0.authorization = Provider.token(key: P256.Signing.PrivateKey()) }),
        (.invalidProviderToken, { $0.authorization = Provider.token(algorithm: "none") }),
        (.invalidProviderToken, { $0.authorization = Provider.token(issuedAt: Date() + 3_700) }),
        (.expiredProviderToken, { $0.authorization = Provider.token(issuedAt: Date() - 3_601) }),
        (.badPath, { $0.path = "/2/device/\(Provider.device)" }),
        (.badPath, { $0.path = "/" }),
        (
            .methodNotAllowed,
            {
                $0.method = "GET"
                $0.body = ""
            }
        ),
    ]

    private static func payload(_ size: Int) -> String {
        let frame = #"{"aps":{"alert":""}}"#
        return #"{"aps":{"alert":"\#(String(repeating: "x", count: size - frame.utf8.count))"}}"#
    }

    @Test(arguments: wrongs.indices)
    func invalidPushIsRejectedWithItsReason(_ index: Int) async throws {
        let (reason, change) = Self.wrongs[index]
        try await Provider.lend { provider in
            let response = try await provider.send(change)
            #expect(response.reason == reason.rawValue)
            #expect(response.status == reason.status)
            #expect(response.headers.first(name: "content-type") == "application/json")
            #expect(provider.simulator.counters.refused == [reason.rawValue: 1])
            // The same connection still serves.
            let right = try await provider.send()
            #expect(right.status == 200)
            #expect(provider.simulator.counters.connections == 1)
        }
    }

    @Test func payloadUpToApplesLimitIsAccepted() async throws {
        try await Provider.lend { provider in
            let alert = try await provider.send { $0.body = Self.payload(4_096) }
            #expect(alert.status == 200)
            func voip(_ size: Int) async throws -> Provider.Answer {
                try await provider.send {
                    $0.set("apns-push-type", "voip")
                    $0.set("apns-topic", Provider.bundleID + ".voip")
                    $0.body = Self.payload(size)
                }
            }
            let largest = try await voip(5_120)
            let larger = try await voip(5_121)
            #expect(largest.status == 200)
            #expect(larger.reason == "PayloadTooLarge")
        }
    }

    @Test(arguments: APNsReason.statuses.keys.sorted { $0.rawValue < $1.rawValue })
    func ruleRespondsWithEachReason(_ reason: APNsReason) async throws {
        let since = Date(timeIntervalSince1970: 1_700_000_000.125)
        let rule = Rule(.response(reason, invalidSince: reason.status == 410 ? since : nil), times: 1)
        try await Provider.lend(rules: [rule]) { provider in
            let refused = try await provider.send()
            #expect(refused.reason == reason.rawValue)
            #expect(refused.status == reason.status)
            #expect(refused.body["timestamp"] as? Int == (reason.status == 410 ? 1_700_000_000_125 : nil))
            let after = try await provider.send()
            #expect(after.status == 200)
        }
    }

    @Test func deviceStateDeterminesResponse() async throws {
        let since = Date(timeIntervalSince1970: 1_700_000_000)
        func device(_ digit: String) -> String { String(repeating: digit, count: 64) }
        try await Provider.lend(options: {
            $0.devices = [
                .init(token: device("1"), state: .unregistered(since: since)),
                .init(token: device("2"), state: .expired(since: since)),
                .init(token: device("3"), bundleID: "com.example.Other"),
                .init(token: device("4"), environment: .production),
                .init(token: device("5"), bundleID: Provider.bundleID, environment: .sandbox),
            ]
        }) { provider in
            let expected = [
                ("1", "Unregistered"), ("2", "ExpiredToken"), ("3", "DeviceTokenNotForTopic"),
                ("4", "BadDeviceToken"), ("5", nil), ("6", nil),
            ]
            for (digit, reason) in expected {
                let response = try await provider.send { $0.path = "/3/device/" + device(digit) }
                #expect(response.reason == reason)
                #expect(
                    response.body["timestamp"] as? Int == (response.status == 410 ? 1_700_000_000_000 : nil))
            }
        }
    }

    @Test func topicOfOtherTeamsAppIsRejected() async throws {
        try await Provider.lend(options: { $0.teams[0].bundleIDs = ["com.example.Other"] }) { provider in
            let push = try await provider.send()
            #expect(push.reason == "TopicDisallowed")
            let broadcast = try await provider.send { $0.path = "/4/broadcasts/apps/\(Provider.bundleID)" }
            #expect(broadcast.reason == "TopicMismatch")
        }
    }

    @Test func keyOfOtherEnvironmentIsRejected() async throws {
        try await Provider.lend(options: { $0.teams[0].keys[0].environments = [.production] }) { provider in
            let response = try await provider.send()
            #expect(response.reason == "BadEnvironmentKeyIdInToken")
        }
    }

    @Test func connectionBelongsToOneTeamAndKey() async throws {
        let (second, third) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        try await Provider.lend(options: {
            $0.teams[0].keys.append(
                .init(id: "SECONDKEY1", publicKey: second.publicKey.pemRepresentation))
            $0.teams.append(
                .init(
                    id: "OTHER12345",
                    keys: [.init(id: "THIRDKEY12", publicKey: third.publicKey.pemRepresentation)]))
        }) { provider in
            let first = try await provider.send()
            #expect(first.status == 200)
            let otherKey = try await provider.send {
                $0.authorization = Provider.token(keyID: "SECONDKEY1", key: second)
            }
            #expect(otherKey.reason == "UnrelatedKeyIdInToken")
            let otherTeam = try await provider.send {
                $0.authorization = Provider.token(team: "OTHER12345", keyID: "THIRDKEY12", key: third)
            }
            #expect(otherTeam.reason == "InvalidProviderToken")
            #expect(provider.simulator.counters.connections == 1)
            provider.simulator.goAway(reason: "Shutdown")
            await provider.simulator.wait { $0.openConnections == 0 }
            let alone = try await provider.send {
                $0.authorization = Provider.token(team: "OTHER12345", keyID: "THIRDKEY12", key: third)
            }
            #expect(alone.status == 200)
        }
    }

    @Test func frequentProviderTokenUpdatesAreRejected() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        @Sendable func now() -> Date { time.withLock { $0 } }
        try await Provider.lend(options: { $0.now = { now() } }) { provider in
            func send() async throws -> String? {
                let token = Provider.token(issuedAt: now())
                return try await provider.send { $0.authorization = token }.reason
            }
            let first = try await send()
            time.withLock { $0 += 60 }
            let second = try await send()
            time.withLock { $0 += 60 }
            let third = try await send()
            time.withLock { $0 += 19 * 60 }
            let fourth = try await send()
            #expect(first == nil)
            #expect(second == "TooManyProviderTokenUpdates")
            #expect(third == "TooManyProviderTokenUpdates")
            #expect(fourth == nil)
            #expect(provider.simulator.counters.verifiedTokens == 4)
        }
    }

    // MARK: Channels

    @Test func channelsAreCreatedReadAndDeleted() async throws {
        try await Provider.lend(options: { $0.maximumChannels = 1 }) { provider in
            let path = "/1/apps/\(Provider.bundleID)/channels"
            func manage(
                _ method: String, _ channel: String? = nil, body: String = ""
            ) async throws
                -> Provider.Answer
            {
                try await provider.send {
                    $0.method = method
                    $0.path = path
                    $0.headers = channel.map { [("apns-channel-id", $0)] } ?? []
                    $0.body = body
                }
            }
            let wrong: [(String, String)] = [
                ("", "PayloadEmpty"), ("{", "BadRequestPayload"),
                (#"{"push-type":"LiveActivity","colour":1}"#, "BadRequestParams"),
                (#"{"push-type":"LiveActivity","message-storage-policy":2}"#, "BadRequestParams"),
                (#"{"message-storage-policy":1}"#, "MissingPushType"),
                (#"{"message-storage-policy":1,"push-type":"alert"}"#, "InvalidPushType"),
            ]
            for (body, reason) in wrong {
                let response = try await manage("POST", body: body)
                #expect(response.reason == reason)
            }
            let create = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
            let created = try await manage("POST", body: create)
            #expect(created.status == 201)
            #expect(created.headers.first(name: "apns-request-id") != nil)
            let channel = try #require(created.headers.first(name: "apns-channel-id"))
            let second = try await manage("POST", body: create)
            #expect(second.reason == "CannotCreateChannelConfig")

            let read = try await manage("GET", channel)
            #expect(read.body["message-storage-policy"] as? Int == 1)
            #expect(read.body["push-type"] as? String == "LiveActivity")
            let missing = try await manage("GET")
            #expect(missing.reason == "MissingChannelId")
            let bad = try await manage("GET", "no base64!")
            #expect(bad.reason == "BadChannelId")
            let all = try await provider.send {
                $0.method = "GET"
                $0.path = "/1/apps/\(Provider.bundleID)/all-channels"
                $0.body = ""
            }
            #expect(all.body["channels"] as? [String] == [channel])

            let deleted = try await manage("DELETE", channel)
            #expect(deleted.status == 204)
            let again = try await manage("DELETE", channel)
            #expect(again.reason == "ChannelNotRegistered")
        }
    }

    @Test(
        arguments: [
            ("apns-channel-id", nil, "MissingChannelId"), ("apns-channel-id", "no base64!", "BadChannelId"),
            ("apns-channel-id", "bm9uZQ==", "ChannelNotRegistered"),
            ("apns-push-type", nil, "MissingPushType"),
            ("apns-push-type", "alert", "InvalidPushType"), ("apns-priority", nil, "BadPriority"),
            ("apns-priority", "2", "BadPriority"), ("apns-expiration", nil, "BadExpirationDate"),
            // The channel stores no message.
            ("apns-expiration", "1900000000", "BadExpirationDate"), ("apns-request-id", "7", "BadMessageId"),
            ("apns-priority", "5", nil),
        ] as [(String, String?, String?)])
    func broadcastHeadersAreValidated(_ name: String, _ value: String?, _ reason: String?) async throws {
        try await Provider.lend { provider in
            let created = try await provider.send {
                $0.path = "/1/apps/\(Provider.bundleID)/channels"
                $0.headers = []
                $0.body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
            }
            let channel = try #require(created.headers.first(name: "apns-channel-id"))
            let response = try await provider.send {
                $0.path = "/4/broadcasts/apps/\(Provider.bundleID)"
                $0.headers = [
                    ("apns-channel-id", channel), ("apns-push-type", "liveactivity"),
                    ("apns-priority", "10"), ("apns-expiration", "0"),
                ]
                $0.set(name, value)
            }
            #expect(response.reason == reason)
            #expect(response.headers.first(name: "apns-request-id") != nil)
        }
    }

    @Test func disabledOrSuffixedBroadcastIsRejected() async throws {
        try await Provider.lend(options: { $0.teams[0].broadcastBundleIDs = [] }) { provider in
            let disabled = try await provider.send { $0.path = "/4/broadcasts/apps/\(Provider.bundleID)" }
            #expect(disabled.reason == "FeatureNotEnabled")
            let suffixed = try await provider.send {
                $0.path = "/4/broadcasts/apps/\(Provider.bundleID).push-type.liveactivity"
            }
            #expect(suffixed.reason == "TopicDisallowed")
        }
    }
}

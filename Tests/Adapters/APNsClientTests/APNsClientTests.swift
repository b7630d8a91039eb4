import APNsClient
import APNsPayload
import APNsSimulator
import Crypto
import Foundation
import Notifications
import Tenancy
import Testing

@Suite struct APNsClientTests {
    @Test func notificationIsSentWithAllHeaders() async throws {
        try await SimulatedService.lend { service in
            let id = UUID()
            let device = SimulatedService.randomHex(32)
            let request = PushRequest(
                tenant: SimulatedService.tenant, team: SimulatedService.team, environment: .sandbox,
                destination: .device(PushToken(hex: device)!),
                headers: try NotificationHeaders(
                    pushType: .liveActivity, bundleID: SimulatedService.bundleID.text, priority: .powerAware,
                    expiration: .immediate, collapseID: "order 7", id: id.uuidString),
                payload: Array(#"{"aps":{"event":"end"}}"#.utf8))

            let outcome = await service.client.send(request)

            guard case .answered(let response) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(response.status == 200)
            #expect(response.reason == nil)
            #expect(response.uniqueID != nil)
            let received = try #require(service.simulator.received.first)
            #expect(service.simulator.received.count == 1)
            #expect(received.device == device)
            #expect(received.id == id.uuidString.lowercased())
            #expect(received.topic == "com.example.Coffee.Clip.push-type.liveactivity")
            #expect(received.header("apns-push-type") == "liveactivity")
            #expect(received.header("apns-priority") == "5")
            #expect(received.header("apns-expiration") == "0")
            #expect(received.header("apns-collapse-id") == "order 7")
            #expect(received.header(":authority") == "localhost:\(service.simulator.port)")
            #expect(received.payload == request.payload)
        }
    }

    @Test func productionResponseHasNoUniqueID() async throws {
        try await SimulatedService.lend(options: { $0.environment = .production }) { service in
            let request = try SimulatedService.request(environment: .production)
            #expect(await service.client.send(request) == .answered(APNsResponse(status: 200)))
        }
    }

    @Test func concurrentNotificationsAreSentOnceEach() async throws {
        try await SimulatedService.lend(settings: { $0.connections = 2 }) { service in
            let outcomes = try await service.send(1_000)
            #expect(outcomes.count { $0.isAccepted } == 1_000)
            #expect(service.timesReceived.count == 1_000)
            #expect(service.timesReceived.values.allSatisfy { $0 == 1 })
            #expect(service.simulator.counters.verifiedTokens == 1)
            #expect(service.simulator.counters.streamOverruns == 0)
            #expect((1...2).contains(service.simulator.counters.connections))
        }
    }

    @Test(arguments: APNsReason.statuses.keys.sorted { $0.rawValue < $1.rawValue })
    func everyReasonIsReported(_ reason: APNsReason) async throws {
        let since = Date(timeIntervalSince1970: 1_700_000_000.125)
        // A request that is refused because of the connection's key or token is sent again on another connection.
        let isOfTheConnection = [.unrelatedKeyIdInToken, .tooManyProviderTokenUpdates].contains(reason)
        let times = isOfTheConnection ? 2 : 1
        try await SimulatedService.lend(rules: [Rule(.response(reason, invalidSince: since), times: times)]) {
            service in
            let outcome = try await service.send()
            let response = APNsResponse(
                status: APNsReason.statuses[reason]!, reason: reason, invalidSince: since)
            #expect(outcome == .answered(response))
            let after = try await service.isAccepted()
            #expect(after)
            // Only these reasons require a new connection. The token is too new to be replaced.
            let connections = isOfTheConnection ? 2 : 1
            #expect(service.simulator.counters.connections == connections)
        }
    }

    @Test func replacedKeyUsesNewConnection() async throws {
        let second = P256.Signing.PrivateKey()
        try await SimulatedService.lend(options: {
            $0.teams[0].keys.append(
                .init(id: "SECONDKEY1", publicKey: second.publicKey.pemRepresentation))
        }) { service in
            let before = try await service.isAccepted()
            service.client.replaceKeys([
                try APNsKey(team: SimulatedService.team, id: "SECONDKEY1", pem: second.pemRepresentation)
            ])
            let after = try await service.send(20)
            #expect(before)
            #expect(after.count { $0.isAccepted } == 20)
            #expect(service.simulator.counters.connections == 2)
            #expect(service.simulator.counters.refused.isEmpty)
        }
    }

    @Test func topicSpecificKeySignsForItsTopicsOnly() async throws {
        let second = P256.Signing.PrivateKey()
        let keys = [
            try SimulatedService.clientKey(),
            try APNsKey(
                team: SimulatedService.team, id: "SECONDKEY1", pem: second.pemRepresentation,
                topics: [SimulatedService.bundleID]),
        ]
        try await SimulatedService.lend(
            keys: keys,
            options: {
                $0.teams[0].keys.append(
                    .init(id: "SECONDKEY1", publicKey: second.publicKey.pemRepresentation))
            }
        ) { service in
            let others = ["com.example.Coffee", "com.example.Coffee.Clip2", "com.example.Coffee.Clip.Part"]
            for bundleID in [SimulatedService.bundleID.text] + others {
                for pushType in [PushType.alert, .liveActivity] {
                    let outcome = await service.client.send(
                        try SimulatedService.request(pushType: pushType, bundleID: bundleID))
                    #expect(outcome.isAccepted)
                }
            }
            let signers = try service.simulator.received.map { try Self.keyID($0.header("authorization")) }
            #expect(
                signers == ["SECONDKEY1", "SECONDKEY1"]
                    + Array(repeating: SimulatedService.keyID, count: 6))
            #expect(service.simulator.counters.connections == 2)
            #expect(service.simulator.counters.refused.isEmpty)

            // Without the topic's own key, the team's key signs.
            service.client.replaceKeys([keys[0]])
            #expect(try await service.isAccepted())
            let last = try #require(service.simulator.received.last)
            #expect(try Self.keyID(last.header("authorization")) == SimulatedService.keyID)
        }
    }

    /// The key ID in a provider token.
    private static func keyID(_ authorization: String?) throws -> String? {
        let part = try #require(authorization?.dropFirst(7).split(separator: ".").first)
        let base64 = part.replacing("-", with: "+").replacing("_", with: "/")
        let header = try #require(
            Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
        return (try JSONSerialization.jsonObject(with: header) as? [String: Any])?["kid"] as? String
    }

    /// A wrong file for a key's ID can be corrected at once, without waiting until the token is old.
    @Test func keyIsReplacedByAnotherOfTheSameID() async throws {
        let wrong = try APNsKey(
            team: SimulatedService.team, id: SimulatedService.keyID,
            pem: P256.Signing.PrivateKey().pemRepresentation)
        try await SimulatedService.lend(keys: [wrong]) { service in
            #expect(try await !service.isAccepted())
            service.client.replaceKeys([try SimulatedService.clientKey()])
            #expect(try await service.isAccepted())
        }
    }

    @Test func unknownReasonIsKept() async throws {
        let reason = APNsReason(rawValue: "MoonInWrongPhase")
        try await SimulatedService.lend(rules: [Rule(.response(reason))]) { service in
            let outcome = try await service.send()
            #expect(outcome == .answered(APNsResponse(status: 400, reason: reason)))
        }
    }

    @Test func notificationWithoutKeyIsNotSent() async throws {
        let production = try APNsKey(
            team: SimulatedService.team, id: SimulatedService.keyID,
            pem: SimulatedService.key.pemRepresentation,
            environments: [.production])
        try await SimulatedService.lend(keys: [production]) { service in
            #expect(try await service.send() == .notSent(.noKey))
            service.client.replaceKeys([try SimulatedService.clientKey()])
            #expect(try await service.isAccepted())
        }
    }

    @Test func teamsDoNotShareAConnection() async throws {
        let other = try TeamID("OTHER12345")
        let key = P256.Signing.PrivateKey()
        let keys = [
            try SimulatedService.clientKey(),
            try APNsKey(team: other, id: "KEYOFOTHER", pem: key.pemRepresentation),
        ]
        try await SimulatedService.lend(
            keys: keys,
            options: {
                $0.teams.append(
                    APNsSimulator.Team(
                        id: other.text,
                        keys: [.init(id: "KEYOFOTHER", publicKey: key.publicKey.pemRepresentation)]))
            }
        ) { service in
            for _ in 0..<3 {
                let (own, others) = (
                    try await service.isAccepted(), try await service.isAccepted(team: other)
                )
                #expect(own && others)
            }
            #expect(service.simulator.counters.connections == 2)
        }
    }

    @Test func channelIsCreatedUsedForBroadcastAndDeleted() async throws {
        try await SimulatedService.lend { service in
            let (team, bundleID) = (SimulatedService.team, SimulatedService.bundleID)
            guard
                case .done(let channel) = await service.client.createChannel(
                    of: bundleID, team: team, environment: .sandbox, storesLastMessage: false)
            else {
                Issue.record("no channel")
                return
            }
            #expect(
                await service.client.channels(of: bundleID, team: team, environment: .sandbox)
                    == .done([channel]))

            let id = UUID()
            func broadcast(_ channel: String) throws -> PushRequest {
                PushRequest(
                    tenant: SimulatedService.tenant, team: team, environment: .sandbox,
                    destination: .channel(channel, bundleID: bundleID),
                    headers: try NotificationHeaders(
                        pushType: .liveActivity, bundleID: bundleID.text, id: id.uuidString),
                    payload: Array(#"{"aps":{"event":"update"}}"#.utf8))
            }
            let sent = await service.client.send(try broadcast(channel))
            #expect(sent == .answered(APNsResponse(status: 200)))
            let received = try #require(service.simulator.received.last)
            #expect(received.path == "/4/broadcasts/apps/\(bundleID)")
            #expect(received.id == id.uuidString.lowercased())
            #expect(received.header("apns-expiration") == "0")
            #expect(received.topic == nil)

            #expect(
                await service.client.deleteChannel(channel, of: bundleID, team: team, environment: .sandbox)
                    == .done(ChannelDeleted()))
            #expect(
                await service.client.deleteChannel(channel, of: bundleID, team: team, environment: .sandbox)
                    == .refused(APNsResponse(status: 400, reason: .channelNotRegistered)))
            let refused = await service.client.send(try broadcast(channel))
            #expect(refused.reason == .channelNotRegistered)
        }
    }

    @Test func invalidKeyIsRejectedAndKeysAreNotPrinted() throws {
        #expect(throws: APNsClientError.unusableKey(team: SimulatedService.team)) {
            try APNsKey(team: SimulatedService.team, id: "KEY1234567", pem: "secret words")
        }
        let key = try SimulatedService.clientKey()
        #expect(!"\(key)".contains("PRIVATE"))
        var text = ""
        dump(key, to: &text)
        #expect(!text.contains("backing"))
    }
}

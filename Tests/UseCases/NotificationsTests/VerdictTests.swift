import APNsPayload
import Foundation
import Notifications
import PropertyTesting
import Tenancy
import Testing

@Suite struct VerdictTests {
    private static let now = Date(timeIntervalSince1970: 1_772_368_200)

    static func delivery(
        attempt: Int = 1, lostReplies: Int = 0, postponements: Int = 0, expiresIn: TimeInterval? = nil,
        age: TimeInterval = 0, destination: ClaimedDelivery.Destination = .channel("c")
    ) throws -> ClaimedDelivery {
        ClaimedDelivery(
            id: DeliveryID(UUID()),
            notification: ClaimedNotification(
                id: NotificationID(UUID()), createdAt: now - age, team: try TeamID("ABCDE12345"),
                clip: try BundleID("com.example.MyApp.Clip"), fullApp: try BundleID("com.example.MyApp"),
                headers: try NotificationHeaders(pushType: .alert, bundleID: "com.example.MyApp.Clip"),
                payload: Array("{}".utf8)),
            attempt: attempt, lostReplies: lostReplies, postponements: postponements,
            expiresAt: expiresIn.map { now + $0 }, environment: .production, destination: destination)
    }

    private static func verdict(
        _ outcome: PushOutcome, _ delivery: ClaimedDelivery, random: Double = 0
    ) -> DeliveryVerdict {
        DeliveryVerdict(on: outcome, of: delivery, at: now, random: random)
    }

    /// The effect of each reason of APNs on the delivery and the token. Source: Apple, "Handling notification responses from APNs".
    /// Where Apple gives no time, the time is ours.
    private static let effects: [(APNsReason, String)] = [
        (.badCollapseId, "refused"), (.badDeviceToken, "refused dead"), (.badExpirationDate, "refused"),
        (.badMessageId, "refused"), (.badPriority, "refused"), (.badTopic, "refused"),
        (.deviceTokenNotForTopic, "refused dead"), (.duplicateHeaders, "refused"), (.idleTimeout, "retry 5"),
        (.invalidPushType, "refused"), (.missingDeviceToken, "refused"), (.missingTopic, "refused"),
        (.payloadEmpty, "refused"), (.topicDisallowed, "refused"), (.badCertificate, "refused"),
        (.badCertificateEnvironment, "refused"), (.expiredProviderToken, "retry 5"), (.forbidden, "refused"),
        (.invalidProviderToken, "refused"), (.missingProviderToken, "refused"),
        (.unrelatedKeyIdInToken, "retry 5"), (.badEnvironmentKeyIdInToken, "refused"),
        (.badEnvironmentKeyInToken, "refused"), (.badPath, "refused"), (.methodNotAllowed, "refused"),
        (.expiredToken, "refused dead"), (.unregistered, "refused dead"), (.payloadTooLarge, "refused"),
        (.tooManyProviderTokenUpdates, "retry 60"), (.tooManyRequests, "retry 60"),
        (.internalServerError, "retry 900"), (.serviceUnavailable, "retry 900"), (.shutdown, "retry 900"),
        (.featureNotEnabled, "refused"), (.missingChannelId, "refused"), (.badChannelId, "refused"),
        (.channelNotRegistered, "refused"), (.badRequestParams, "refused"), (.badRequestPayload, "refused"),
        (.missingPushType, "refused"), (.cannotCreateChannelConfig, "refused"), (.topicMismatch, "refused"),
    ]

    @Test func apnsReasonDeterminesVerdict() throws {
        #expect(Set(Self.effects.map(\.0)) == Set(APNsReason.statuses.keys))
        for (reason, expected) in Self.effects {
            let response = APNsResponse(status: try #require(reason.status), reason: reason)
            let verdict = Self.verdict(.answered(response), try Self.delivery())
            #expect(Self.text(verdict) == expected, "\(reason)")
            #expect(verdict.reason == reason.rawValue)
            #expect(verdict.lostReplies == 0)
            // The result of an earlier attempt is unknown.
            let later = Self.verdict(.answered(response), try Self.delivery(lostReplies: 1))
            #expect(Self.text(later) == expected.replacing("refused", with: "uncertain"), "\(reason)")
        }
    }

    @Test(arguments: [
        (200, "delivered"), (400, "refused"), (403, "refused"), (410, "refused dead"), (429, "retry 60"),
        (500, "retry 900"), (502, "retry 900"), (302, "refused"),
    ])
    func unknownReasonFallsBackToStatus(status: Int, expected: String) throws {
        for reason in [nil, APNsReason(rawValue: "BrandNew")] {
            let verdict = Self.verdict(
                .answered(APNsResponse(status: status, reason: reason)), try Self.delivery())
            #expect(Self.text(verdict) == expected)
            #expect(
                verdict.reason == (status == 200 ? nil : reason?.rawValue ?? "status_\(status)"))
        }
    }

    @Test func deadTokenHasTimestampFromAPNs() throws {
        let since = Self.now - 3_600
        let response = APNsResponse(status: 410, reason: .unregistered, invalidSince: since)
        #expect(Self.verdict(.answered(response), try Self.delivery()).token == .dead(since: since))
    }

    private static func text(_ verdict: DeliveryVerdict) -> String {
        let next =
            switch verdict.next {
            case .retry(let wait): "retry \(Int(wait.rounded()))"
            case .delivered, .refused, .uncertain, .expired: verdict.next.state.rawValue
            }
        return verdict.token == .good ? next : next + " dead"
    }

    // MARK: Again

    @Test func retryDelaysDoubleUpToLimit() throws {
        let waits = try (0...DeliveryVerdict.maximumPostponements).map { postponements in
            Self.text(
                Self.verdict(
                    .answered(APNsResponse(status: 503, reason: .serviceUnavailable)),
                    try Self.delivery(attempt: postponements + 1, postponements: postponements)))
        }
        #expect(
            waits == [
                "retry 900", "retry 1800", "retry 3600", "retry 7200", "retry 14400", "retry 14400",
                "retry 14400", "refused",
            ])
        let unsent = try (1...12).map { attempt in
            Self.text(Self.verdict(.notSent(.notConnected), try Self.delivery(attempt: attempt)))
        }
        #expect(unsent.prefix(4) == ["retry 1", "retry 2", "retry 4", "retry 8"])
        #expect(unsent.suffix(2) == ["retry 300", "retry 300"])
    }

    /// APNs requires 15 minutes. Jitter may only make the pause longer.
    @Test func jitterNeverShortensDelay() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<1_000 {
            let chance = Double(random.next() >> 11) / 0x1p53
            let verdict = Self.verdict(
                .answered(APNsResponse(status: 500, reason: .internalServerError)), try Self.delivery(),
                random: chance)
            guard case .retry(let wait) = verdict.next else {
                Issue.record("\(verdict)")
                return
            }
            #expect((900..<1_125).contains(wait))
        }
    }

    @Test(arguments: [(0, "retry 5", 1), (1, "retry 10", 2), (2, "uncertain", 3)])
    func lostReplyIsRetriedTwice(before: Int, expected: String, lost: Int) throws {
        for failure in [PushFailure.timedOut, .connectionClosed, .streamReset] {
            let verdict = Self.verdict(.unanswered(failure), try Self.delivery(lostReplies: before))
            #expect(Self.text(verdict) == expected)
            #expect(verdict.lostReplies == lost)
            #expect(verdict.reason == failure.rawValue)
        }
    }

    @Test func unsentDeliveryDoesNotCountAsLostReply() throws {
        for failure in PushFailure.allCases {
            let verdict = Self.verdict(.notSent(failure), try Self.delivery(lostReplies: 2))
            #expect(verdict.lostReplies == 2)
            // A delivery that is not tried again may have arrived before.
            #expect((Self.text(verdict) == "uncertain") == (failure == .noKey), "\(failure)")
        }
        #expect(Self.text(Self.verdict(.notSent(.noKey), try Self.delivery())) == "refused")
        #expect(Self.text(Self.verdict(.notSent(.shuttingDown), try Self.delivery(attempt: 9))) == "retry 0")
    }

    // MARK: Too late

    @Test func expiredDeliveryIsNotRetried() throws {
        let later = PushOutcome.answered(APNsResponse(status: 503, reason: .serviceUnavailable))
        #expect(Self.text(Self.verdict(later, try Self.delivery(expiresIn: 899))) == "expired")
        #expect(Self.text(Self.verdict(later, try Self.delivery(expiresIn: 901))) == "retry 900")
        #expect(
            Self.text(Self.verdict(later, try Self.delivery(lostReplies: 1, expiresIn: 899))) == "uncertain")
        #expect(
            Self.text(Self.verdict(.unanswered(.timedOut), try Self.delivery(expiresIn: 1))) == "uncertain")
        // Without an expiration, a delivery lasts for a day.
        let old = try Self.delivery(age: DeliveryVerdict.lifetime - 899)
        #expect(Self.text(Self.verdict(later, old)) == "expired")
    }

    @Test func expiredOrUndeliverableIsDecidedBeforeSending() throws {
        func before(_ delivery: ClaimedDelivery) -> String? {
            DeliveryVerdict(before: delivery, at: Self.now).map { Self.text($0) }
        }
        #expect(before(try Self.delivery()) == nil)
        #expect(before(try Self.delivery(lostReplies: 2)) == nil)
        #expect(before(try Self.delivery(lostReplies: 3)) == "uncertain")
        #expect(before(try Self.delivery(expiresIn: 0)) == "expired")
        #expect(before(try Self.delivery(lostReplies: 1, expiresIn: 0)) == "uncertain")
        #expect(before(try Self.delivery(age: DeliveryVerdict.lifetime)) == "expired")
        #expect(before(try Self.delivery(destination: .nowhere("token_dead"))) == "refused")
        #expect(before(try Self.delivery(lostReplies: 1, destination: .nowhere("token_dead"))) == "uncertain")
    }
}

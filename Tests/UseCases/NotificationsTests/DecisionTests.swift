import APNsPayload
import Formats
import Foundation
import Invocation
import Notifications
import PropertyTesting
import Tenancy
import Testing

@Suite struct DecisionTests {
    private static let now = Date(timeIntervalSince1970: 1_772_368_200)
    private static let hour: TimeInterval = 3_600

    private static func candidate(
        clip: String = "com.example.MyApp.Clip", app: InstalledApp = .clip,
        environment: APNsEnvironment = .production, permission: NotificationPermission = .ephemeral,
        launched: TimeInterval = -60, launchedAtBusiness: TimeInterval? = -60, confirmed: TimeInterval? = nil,
        token: Candidate.Token = .good
    ) throws -> Candidate {
        Candidate(
            instance: InstanceID(UUID()), clip: try BundleID(clip), app: app, environment: environment,
            permission: permission, launchedAt: now + launched,
            launchedAtBusiness: launchedAtBusiness.map { now + $0 }, confirmedAt: confirmed.map { now + $0 },
            token: token, hasOtherBusiness: false)
    }

    private static func distribution(
        isMultiBusiness: Bool = true, receiver: Receiver = .device, confirmedOnly: Bool = false,
        environment: APNsEnvironment? = nil, expiration: Int? = nil
    ) throws -> Distribution {
        let (audience, aps): (Audience, JSONObject) =
            switch receiver {
            case .token(.start(let type)): (.business, ["event": "start", "attributes-type": .string(type)])
            case .token(.activity(let id)): (.activity(InstanceID(UUID()), id), ["event": "update"])
            default: (.business, ["alert": "Ready."])
            }
        let clip = try BundleID("com.example.MyApp.Clip")
        let url = "https://example.com/restaurants/restaurant_a"
        let notification = RecordedNotification(
            id: NotificationID(UUID()), createdAt: now, url: url, experienceURL: url,
            experienceKind: .advanced, clip: clip, location: nil,
            audience: AudienceRequest(audience, confirmedOnly: confirmedOnly, environment: environment),
            headers: try NotificationHeaders(
                pushType: receiver == .device ? .alert : .liveActivity, bundleID: clip.text,
                expiration: expiration.flatMap { NotificationHeaders.Expiration(epochSeconds: $0) }),
            payload: JSONValue.object(["aps": .object(aps)]).serialized(), warnings: [])
        let distribution = try Distribution(notification, clipIsMultiBusiness: isMultiBusiness)
        #expect(distribution.receiver == receiver)
        return distribution
    }

    /// Source: Apple, "Enabling notifications in App Clips": "up to 8 hours after each launch".
    @Test(
        arguments: [
            (0, true), (-7.999 * hour, true), (-8 * hour, false), (-8.001 * hour, false),
            (-100 * hour, false),
            // The clock of the device is ahead.
            (hour, true),
        ] as [(TimeInterval, Bool)])
    func ephemeralPermissionLastsEightHours(launched: TimeInterval, isOpen: Bool) throws {
        let decision = try Self.distribution().decide(try Self.candidate(launched: launched))
        guard isOpen else {
            #expect(decision == .skip(.windowClosed))
            return
        }
        #expect(decision == .send(expiresAt: Self.now + min(launched, 0) + 8 * Self.hour))
    }

    /// The latest launch counts, at any business, because the permission belongs to the clip.
    @Test func windowStartsAtLatestLaunch() throws {
        let candidate = try Self.candidate(launched: -Self.hour, launchedAtBusiness: -20 * Self.hour)
        #expect(
            try Self.distribution().decide(candidate) == .send(expiresAt: Self.now + 7 * Self.hour))
    }

    @Test func expirationIsCappedByWindow() throws {
        let epoch = Int(Self.now.timeIntervalSince1970)
        for (asked, expected) in [
            (epoch + 60, 60), (epoch + 9 * 3_600, 8 * Self.hour - 60), (nil, 8 * Self.hour - 60),
            (0, Distribution.immediateLifetime),
        ] as [(Int?, TimeInterval)] {
            let decision = try Self.distribution(expiration: asked).decide(try Self.candidate())
            #expect(decision == .send(expiresAt: Self.now + expected))
        }
        for permission in [NotificationPermission.authorized, .provisional] {
            let candidate = try Self.candidate(permission: permission, launched: -100 * Self.hour)
            #expect(try Self.distribution().decide(candidate) == .send(expiresAt: nil))
            #expect(
                try Self.distribution(expiration: epoch + 90_000).decide(candidate)
                    == .send(expiresAt: Self.now + 90_000))
        }
    }

    @Test func fullAppHasNoBusinessGateAndNoWindow() throws {
        let candidate = try Self.candidate(
            app: .full, permission: .authorized, launched: -100 * Self.hour, launchedAtBusiness: nil)
        #expect(try Self.distribution().decide(candidate) == .send(expiresAt: nil))
    }

    /// This is usual after the full app has replaced the clip.
    @Test func undeterminedPermissionIsSkippedWithOwnReason() throws {
        let candidate = try Self.candidate(
            app: .full, permission: .notDetermined, launched: -100 * Self.hour, launchedAtBusiness: nil)
        #expect(try Self.distribution().decide(candidate) == .skip(.permissionNotDetermined))
        #expect(SkipReason.permissionNotDetermined.rawValue == "permission_not_determined")
    }

    @Test func liveActivitiesNeedTokenButNoPermission() throws {
        let distribution = try Self.distribution(receiver: .token(.activity("A")))
        for permission in [NotificationPermission.denied, .notDetermined] {
            let candidate = try Self.candidate(permission: permission, launched: -9 * Self.hour)
            #expect(distribution.decide(candidate) == .send(expiresAt: nil))
        }
        #expect(
            distribution.decide(try Self.candidate(permission: .denied, token: .none))
                == .skip(.noToken))
    }

    /// Compares every combination of reasons with independent rules: a list of the reasons that apply.
    @Test func firstApplicableSkipReasonIsGiven() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<20_000 {
            let times = [-30.0, -7 * Self.hour, -8 * Self.hour, -9 * Self.hour]
            let clip = random.oneIn(5) ? "com.example.Other.Clip" : "com.example.MyApp.Clip"
            let app = random.pick(InstalledApp.allCases)
            let environment = random.pick(APNsEnvironment.allCases)
            let permission = random.pick(NotificationPermission.allCases)
            let launched = random.pick(times)
            let atBusiness = random.oneIn(3) ? nil : random.pick(times)
            let confirmed = random.oneIn(3) ? nil : random.pick(times)
            let token = random.pick([Candidate.Token.good, .good, .none, .dead])
            let isMultiBusiness = random.oneIn(2)
            let confirmedOnly = random.oneIn(2)
            let wanted = random.pick([nil, APNsEnvironment.production])
            let isDevice = !random.oneIn(4)
            let distribution = try Self.distribution(
                isMultiBusiness: isMultiBusiness,
                receiver: isDevice ? .device : .token(.start(attributesType: "Order")),
                confirmedOnly: confirmedOnly, environment: wanted)
            let candidate = try Self.candidate(
                clip: clip, app: app, environment: environment, permission: permission, launched: launched,
                launchedAtBusiness: atBusiness, confirmed: confirmed, token: token)

            let isLate = { (time: TimeInterval) in time <= -8 * Self.hour }
            let holds: [(SkipReason, Bool)] = [
                (
                    .otherBusiness,
                    clip.contains("Other") || (isMultiBusiness && app == .clip && atBusiness == nil)
                ),
                (.wrongEnvironment, wanted == .production && environment == .sandbox),
                (.notConfirmed, confirmedOnly && (confirmed.map(isLate) ?? true)),
                (.permissionDenied, isDevice && permission == .denied),
                (.permissionNotDetermined, isDevice && permission == .notDetermined),
                (.noToken, token == .none),
                (.tokenDead, token == .dead),
                (
                    .windowClosed,
                    isDevice && app == .clip && permission == .ephemeral && isLate(launched)
                ),
            ]
            let expected = holds.first(where: \.1)?.0
            switch distribution.decide(candidate) {
            case .skip(let reason): #expect(reason == expected, "seed \(seed): \(candidate) \(distribution)")
            case .send: #expect(expected == nil, "seed \(seed): \(candidate) \(distribution)")
            }
        }
    }
}

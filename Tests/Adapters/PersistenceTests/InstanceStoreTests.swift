import APNsPayload
import Foundation
import Invocation
import Notifications
import PostgreSQL
import PropertyTesting
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Instances, stored with the server's role.
@Suite(.timeLimit(.minutes(30))) struct InstanceStoreTests {
    private typealias Instances = RegisteredInstances
    private static let now = RegisteredInstances.now
    private let id = InstanceID(UUID())

    @Test func repeatedReportChangesNothing() async throws {
        try await Instances.with { instances in
            let registration = try Instances.registration(
                id, confirmedAt: Self.now, tokens: [.device: Instances.token(1)])
            let first = try await instances.register(registration)
            #expect(first.isNew)
            #expect(first.instance.hasToken && first.instance.launchedAt == Self.now)
            #expect(first.instance.reachableUntil == Self.now.addingTimeInterval(8 * 3_600))
            #expect(first.instance.launches == [try #require(registration.launch)])
            let rows: Query = """
                SELECT count(*) FROM doorstep.instances AS i JOIN doorstep.launches AS l USING (tenant_id, instance_id)
                WHERE i.xmin = l.xmin AND i.updated_at = i.created_at
                """
            let second = try await instances.register(registration, at: Self.now.addingTimeInterval(60))
            #expect(!second.isNew && second.instance == first.instance)
            #expect(try await instances.stores.count(rows) == 1)
            #expect(try await instances.tokens(of: id) == ["device "])
        }
    }

    /// Statistics count a launch once: repeated reports, and reports of earlier launches by the same URL, are no new launch.
    @Test func launchIsNewAtItsFirstReport() async throws {
        try await Instances.with { instances in
            func isNewLaunch(_ url: String, _ seconds: TimeInterval) async throws -> Bool {
                let registration = try Instances.registration(
                    id, url: url, at: Self.now.addingTimeInterval(seconds))
                let result = try await instances.store.register(
                    registration, of: instances.tenant, at: Self.now)
                guard case .registered(_, _, let isNewLaunch, _) = result else { return false }
                return isNewLaunch
            }
            let (a, b) = ("https://example.com/a", "https://example.com/b")
            for (url, seconds, isExpected) in [
                (a, 0, true), (a, 0, false), (a, -60, false), (b, -60, true), (b, -60, false), (a, 60, true),
                (a, 60, false),
            ] as [(String, TimeInterval, Bool)] {
                let isNew = try await isNewLaunch(url, seconds)
                #expect(isNew == isExpected, "\(url) \(seconds)")
            }
        }
    }

    @Test func newerReportWinsOverOlder() async throws {
        try await Instances.with { instances in
            try await instances.register(
                Instances.registration(id, tokens: [.device: Instances.token(1)]))
            let later = Self.now.addingTimeInterval(100)
            let second = try await instances.register(
                Instances.registration(
                    id, url: "https://example.com/b", location: "b", at: later, permission: .denied,
                    tokens: [.device: Instances.token(2)]))
            #expect(second.instance.permission == .denied && second.instance.launchedAt == later)
            #expect(second.instance.reachableUntil == nil)
            #expect(
                second.instance.launches.map(\.url) == ["https://example.com/b", "https://example.com/a"])

            // Reports that were sent earlier and arrive later add their launch and change nothing else.
            let earlier = Self.now.addingTimeInterval(50)
            let third = try await instances.register(
                Instances.registration(
                    id, url: "https://example.com/c", location: nil, at: earlier, permission: .authorized,
                    tokens: [.device: Instances.token(1), .start(attributesType: "X"): Instances.token(3)]))
            #expect(third.instance.permission == .denied && third.instance.launchedAt == later)
            #expect(third.instance.launches.map { String($0.url.last ?? " ") } == ["b", "c", "a"])
            #expect(third.instance.startableTypes == [])

            // Nor does the late report set an existing launch of the same URL to an earlier time.
            let fourth = try await instances.register(
                Instances.registration(id, url: "https://example.com/b", location: "z", at: earlier))
            #expect(fourth.instance.launches == third.instance.launches)
        }
    }

    @Test func instanceBelongsToItsFirstKey() async throws {
        try await Instances.with { instances in
            let (store, tenant) = (instances.store, instances.tenant)
            let keys = (1...2).map { [UInt8](repeating: $0, count: 32) }
            let other = InstanceID(UUID())
            func register(_ id: InstanceID, by key: [UInt8]?) async throws {
                let given = try Instances.registration(id)
                try await instances.register(
                    InstanceRegistration(
                        id: id, clip: given.clip, app: given.app, environment: given.environment,
                        permission: given.permission, launchedAt: given.launchedAt, launch: given.launch,
                        tokens: [:], attestKey: key))
            }
            #expect(try await store.owner(of: id, of: tenant) == nil)
            try await register(id, by: nil)
            let clip = try #require(try await store.owner(of: id, of: tenant)).clip
            #expect(
                try await store.owner(of: id, of: tenant) == InstanceOwner(clip: clip, attestKey: nil))
            try await register(other, by: keys[1])
            // Repeats the report of each key. Only the owner changes.
            for key in [keys[0], keys[1], nil] { try await register(id, by: key) }
            for (id, key) in [(id, keys[0]), (other, keys[1])] {
                #expect(
                    try await store.owner(of: id, of: tenant) == InstanceOwner(clip: clip, attestKey: key))
            }
            #expect(try await store.owner(of: id, of: TenantID(UUID())) == nil)
        }
    }

    private static func attested(
        _ id: InstanceID, by key: [UInt8], at launchedAt: Date = now, isHeldToKey: Bool = true
    ) throws -> InstanceRegistration {
        let number = Int(key[0])
        let given = try Instances.registration(
            id, url: "https://example.com/a/\(number)", at: launchedAt,
            tokens: [.device: Instances.token(number)])
        return InstanceRegistration(
            id: id, clip: given.clip, app: given.app, environment: given.environment,
            permission: given.permission, launchedAt: given.launchedAt, launch: given.launch,
            tokens: given.tokens, attestKey: key, isHeldToKey: isHeldToKey)
    }

    /// Two servers register one instance with two keys at once. One key becomes its owner. The other request writes nothing,
    /// whether the instance exists or both requests would create it.
    @Test(.timeLimit(.minutes(30)), arguments: [false, true])
    func instanceHasOneKeyDespiteConcurrentRegistrations(isThere: Bool) async throws {
        try await Instances.with { instances in
            let (stores, tenant) = (instances.stores, instances.tenant)
            let keys = (1...2).map { [UInt8](repeating: $0, count: 32) }
            try await stores.database.withPool(as: .app) { otherPool in
                let secrets = try #require(SealingKeys(secrets: [Instances.secret]))
                let servers = [instances.store, PostgresInstanceStore(otherPool, keys: secrets)]
                for round in 0..<100 {
                    let id = InstanceID(UUID())
                    if isThere { try await instances.register(Instances.registration(id, url: nil)) }
                    let results = try await withThrowingTaskGroup(of: (Int, Registration).self) { group in
                        // The first server of the loop alternates.
                        for index in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                            let report = try Self.attested(
                                id, by: keys[index], at: Self.now.addingTimeInterval(1))
                            group.addTask {
                                (
                                    index,
                                    try await servers[index].register(
                                        report, mayBeNew: true, of: tenant, at: Self.now)
                                )
                            }
                        }
                        return try await group.reduce(into: [Int: Registration]()) { $0[$1.0] = $1.1 }
                    }
                    let losers = results.filter { $0.value == .refused(.otherKey) }.map(\.key)
                    let loser = try #require(losers.first)
                    #expect(losers.count == 1)
                    let kept = try #require(try await instances.store.instance(id, of: tenant))
                    #expect(kept.launches.map(\.url) == ["https://example.com/a/\(2 - loser)"])
                    #expect(
                        try await instances.store.owner(of: id, of: tenant)?.attestKey == keys[1 - loser])
                    #expect(try await instances.tokens(of: id) == ["device "])
                    let digests = secrets.of(tenant).digests(of: try Instances.token(2 - loser))
                    #expect(
                        try await stores.count(
                            """
                            SELECT count(*) FROM doorstep.push_tokens
                            WHERE instance_id = \(id.uuid) AND digest = \(digests[0])
                            """) == 1)
                    // The loser registers another instance. The next round uses other tokens.
                    try await instances.execute(
                        "DELETE FROM doorstep.instances WHERE tenant_id = \(tenant.uuid)")
                }
            }
        }
    }

    /// Concurrent registrations do not exceed the limit. Instances of other keys and tenants do not count.
    @Test(.timeLimit(.minutes(30))) func instancesPerKeyAreLimited() async throws {
        try await Instances.with { instances in
            let (store, tenant) = (instances.store, instances.tenant)
            let keys = (1...2).map { [UInt8](repeating: $0, count: 32) }
            let ids = (0..<2 * Instance.maximumOfKey).map { _ in InstanceID(UUID()) }
            let results = try await withThrowingTaskGroup(of: Registration.self) { group in
                for id in ids {
                    let report = try Self.attested(id, by: keys[0])
                    group.addTask { try await store.register(report, of: tenant, at: Self.now) }
                }
                return try await group.reduce(into: [Registration]()) { $0.append($1) }
            }
            let refused = results.filter { $0 == .refused(.tooManyOfKey) }
            #expect(refused.count == Instance.maximumOfKey)
            #expect(
                try await instances.stores.count("SELECT count(*) FROM doorstep.instances")
                    == Instance.maximumOfKey)
            let other = InstanceID(UUID())
            try await instances.register(Self.attested(other, by: keys[1]))
            // Existing instances stay usable. A deletion makes room for another one.
            var own: [InstanceID] = []
            for id in ids where try await store.owner(of: id, of: tenant) != nil { own.append(id) }
            try await instances.register(
                Self.attested(own[0], by: keys[0], at: Self.now.addingTimeInterval(1)))
            #expect(try await store.delete(own[0], of: tenant))
            try await instances.register(Self.attested(InstanceID(UUID()), by: keys[0]))
            #expect(
                try await store.register(
                    Self.attested(InstanceID(UUID()), by: keys[0]), of: tenant, at: Self.now)
                    == .refused(.tooManyOfKey))
        }
    }

    /// In the mode `monitor`, violations are reported and nothing is refused.
    @Test func monitoringStoresAndReportsViolations() async throws {
        try await Instances.with { instances in
            let (store, tenant) = (instances.store, instances.tenant)
            let keys = (1...2).map { [UInt8](repeating: $0, count: 32) }
            /// Whether the instance is new, and its violations; nil for a refusal.
            func register(
                _ id: InstanceID, by key: [UInt8]
            ) async throws -> (isNew: Bool, despite: RegistrationRefusal?)? {
                let registration = try await store.register(
                    Self.attested(id, by: key, isHeldToKey: false), of: tenant, at: Self.now)
                guard case .registered(_, let isNew, _, let despite) = registration else { return nil }
                return (isNew, despite)
            }
            let ids = (0...Instance.maximumOfKey).map { _ in InstanceID(UUID()) }
            for (number, id) in ids.enumerated() {
                let registered = try #require(try await register(id, by: keys[0]))
                #expect(registered.isNew)
                #expect(registered.despite == (number < Instance.maximumOfKey ? nil : .tooManyOfKey))
                #expect(try await store.owner(of: id, of: tenant)?.attestKey == keys[0])
            }
            let reached = try #require(try await register(ids[0], by: keys[1]))
            #expect(!reached.isNew && reached.despite == .otherKey)
            #expect(try await store.owner(of: ids[0], of: tenant)?.attestKey == keys[0])
            // When attestation is required, bound instances stay usable and no others are added.
            try await instances.register(
                Self.attested(ids[Instance.maximumOfKey], by: keys[0], at: Self.now.addingTimeInterval(1)))
            #expect(
                try await store.register(
                    Self.attested(InstanceID(UUID()), by: keys[0]), of: tenant, at: Self.now)
                    == .refused(.tooManyOfKey))
        }
    }

    /// Two devices choose instance IDs that begin like the other device's key, and two instances report each other's tokens. No
    /// deadlock (40P01) occurs.
    @Test(.timeLimit(.minutes(30)), arguments: [false, true])
    func crossedRegistrationsDoNotDeadlock(haveTokensInCommon: Bool) async throws {
        try await Instances.with { instances in
            let (stores, tenant) = (instances.stores, instances.tenant)
            let keys = (1...2).map { [UInt8](repeating: $0, count: 32) }
            let tokens = try (1...2).map { try Instances.token($0) }
            try await stores.database.withPool(as: .app) { otherPool in
                let secrets = try #require(SealingKeys(secrets: [Instances.secret]))
                let servers = [instances.store, PostgresInstanceStore(otherPool, keys: secrets)]
                for round in 0..<200 {
                    let reports = try (0..<2).map { index in
                        let id = InstanceID(
                            haveTokensInCommon
                                ? UUID() : Self.uuid(beginningAs: keys[1 - index], round: round))
                        let plain = try Self.attested(id, by: keys[index], isHeldToKey: !haveTokensInCommon)
                        guard haveTokensInCommon else { return plain }
                        return InstanceRegistration(
                            id: id, clip: plain.clip, app: plain.app, environment: plain.environment,
                            permission: plain.permission, launchedAt: plain.launchedAt, launch: plain.launch,
                            tokens: [
                                .device: tokens[index], .start(attributesType: "Order"): tokens[1 - index],
                            ])
                    }
                    if haveTokensInCommon {
                        // Both instances exist already, each with its own token.
                        for (index, report) in reports.enumerated() {
                            try await instances.register(
                                Instances.registration(
                                    report.id, url: nil, at: Self.now.addingTimeInterval(-1),
                                    tokens: [.device: tokens[index]]))
                        }
                    }
                    try await withThrowingTaskGroup(of: Registration.self) { group in
                        for index in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                            group.addTask {
                                try await servers[index].register(
                                    reports[index], mayBeNew: true, of: tenant, at: Self.now)
                            }
                        }
                        for try await result in group { #expect(result.stored != nil) }
                    }
                    try await instances.execute(
                        "DELETE FROM doorstep.instances WHERE tenant_id = \(tenant.uuid)")
                }
            }
        }
    }

    private static func uuid(beginningAs bytes: [UInt8], round: Int) -> UUID {
        let (first, last) = (bytes[0], UInt8(round))
        return UUID(
            uuid: (
                first, first, first, first, first, first, first, first, 0, 0, 0, 0, 0, 0, 0, last
            ))
    }

    /// A launch from a notification or the App Switcher renews the 8 hours, but is at no location.
    @Test func launchWithoutURLRenewsWindowWithoutLaunchRecord() async throws {
        try await Instances.with { instances in
            let unknown = try Instances.registration(id, url: nil, clip: nil)
            #expect(
                try await instances.store.register(unknown, of: instances.tenant, at: Self.now)
                    == .refused(.unknownInstance))
            let token = try Instances.token(1)
            let first = try await instances.register(
                Instances.registration(id, confirmedAt: Self.now, tokens: [.device: token]))
            for (number, clip) in [nil, Instances.clip].enumerated() {
                let later = Self.now.addingTimeInterval(Double(number + 1) * 3_600)
                let renewed = try await instances.register(
                    Instances.registration(
                        id, url: nil, at: later, clip: clip, permission: .provisional))
                #expect(!renewed.isNew && renewed.instance.launchedAt == later)
                #expect(renewed.instance.clip.text == Instances.clip)
                #expect(renewed.instance.permission == .provisional && renewed.instance.hasToken)
                #expect(renewed.instance.launches == first.instance.launches)
            }
            // An earlier report changes nothing.
            let late = try await instances.register(
                Instances.registration(id, url: nil, clip: nil, permission: .notDetermined))
            #expect(late.instance.permission == .provisional)
            #expect(late.instance.launchedAt == Self.now.addingTimeInterval(7_200))
            // The full app replaces the clip, whose tokens become useless.
            let full = try await instances.register(
                Instances.registration(
                    id, url: nil, at: Self.now.addingTimeInterval(9_000), clip: nil, app: .full,
                    permission: .notDetermined))
            #expect(full.instance.app == .full && !full.instance.hasToken)
            #expect(full.instance.permission == .notDetermined)
        }
    }

    @Test func newInstanceWithoutURLRequiresItsClip() async throws {
        try await Instances.with { instances in
            let registration = try Instances.registration(
                id, url: nil, tokens: [.device: Instances.token(1)])
            let first = try await instances.register(registration)
            #expect(first.isNew && first.instance.launches == [] && first.instance.hasToken)
            #expect(first.instance.reachableUntil == Self.now.addingTimeInterval(8 * 3_600))
            #expect(try await !instances.register(registration).isNew)
            let other = try Instances.registration(
                InstanceID(UUID()), url: nil, clip: "com.example.Other.Clip")
            #expect(
                try await instances.store.register(other, of: instances.tenant, at: Self.now)
                    == .refused(.unknownClip))
            #expect(try await instances.stores.count("SELECT count(*) FROM doorstep.instances") == 1)
            #expect(try await instances.stores.count("SELECT count(*) FROM doorstep.launches") == 0)
            let listed = try await instances.latest(InstanceSelection())
            #expect(listed.map(\.launchCount) == [0])
        }
    }

    @Test func onlyKnownInstancesAreStoredIfNewOnesAreNotAllowed() async throws {
        try await Instances.with { instances in
            func register(_ registration: InstanceRegistration, mayBeNew: Bool) async throws -> Registration {
                try await instances.store.register(
                    registration, mayBeNew: mayBeNew, of: instances.tenant, at: Self.now)
            }
            let registration = try Instances.registration(id, tokens: [.device: Instances.token(1)])
            #expect(try await register(registration, mayBeNew: false) == .refused(.newNotAdmitted))
            for table in ["instances", "launches", "push_tokens"] {
                let query: Query = "SELECT count(*) FROM doorstep.\(identifier: table)"
                #expect(try await instances.stores.count(query) == 0)
            }
            #expect(try await register(registration, mayBeNew: true).stored?.isNew == true)
            let later = try Instances.registration(
                id, url: "https://example.com/b", at: Self.now.addingTimeInterval(60),
                tokens: [.device: Instances.token(2)])
            let known = try #require(try await register(later, mayBeNew: false).stored)
            #expect(!known.isNew && known.instance.launches.count == 2)
        }
    }

    /// Reports that are delayed, repeated and reordered lead to the same rows.
    @Test(arguments: 1...8) func orderOfArrivalDoesNotMatter(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let reports = try (0..<24).map { number in
            let place = random.below(6)
            return try Instances.registration(
                id, url: "https://example.com/\(place)", location: place == 0 ? nil : "\(place)",
                at: Self.now.addingTimeInterval(Double(number)),
                confirmedAt: place == 0 || random.oneIn(2)
                    ? nil : Self.now.addingTimeInterval(60 * Double(random.below(5))),
                permission: random.pick(NotificationPermission.allCases))
        }
        let (shuffled, again) = (reports.shuffled(using: &random), reports.shuffled(using: &random))
        try await Instances.with { instances in
            for report in reports { try await instances.register(report) }
            let inOrder = try #require(try await instances.store.instance(id, of: instances.tenant))
            #expect(inOrder.permission == reports.last?.permission)
            _ = try await instances.store.delete(id, of: instances.tenant)
            for report in shuffled + again { try await instances.register(report) }
            let mixed = try #require(try await instances.store.instance(id, of: instances.tenant))
            #expect(mixed == inOrder, "seed \(seed)")
        }
    }

    @Test func confirmationAppliesOnlyToItsLocation() async throws {
        try await Instances.with { instances in
            let minute = Date(timeIntervalSince1970: 1_772_368_200)
            func confirmed(_ location: String?, _ seconds: Double, _ confirmedAt: Date?) async throws -> Date?
            {
                try await instances.register(
                    Instances.registration(
                        id, location: location, at: Self.now.addingTimeInterval(seconds),
                        confirmedAt: confirmedAt)
                ).instance.launches.first?.confirmedAt
            }
            let (before, after) = (minute.addingTimeInterval(-60), minute.addingTimeInterval(60))
            for (location, seconds, given, expected) in [
                ("a", 0, nil, nil), ("a", 0, minute, minute), ("a", 60, nil, minute),
                ("a", 60, before, minute), ("a", 0, after, after),
                // Another location replaces the first one.
                ("b", 120, nil, nil), (nil, 180, nil, nil),
            ] as [(String?, Double, Date?, Date?)] {
                let stored = try await confirmed(location, seconds, given)
                #expect(stored == expected, "\(location ?? "nowhere") after \(seconds) s")
            }
        }
    }

    @Test func oldestOfTooManyLaunchesAreDeleted() async throws {
        try await Instances.with { instances in
            for number in 0..<Instance.maximumLaunches + 3 {
                try await instances.register(
                    Instances.registration(
                        id, url: "https://example.com/\(number)",
                        at: Self.now.addingTimeInterval(Double(number))))
            }
            let kept = try #require(try await instances.store.instance(id, of: instances.tenant)).launches
            #expect(kept.count == Instance.maximumLaunches)
            #expect(kept.last?.url == "https://example.com/3")
            // A launch that is older than all stored ones is not stored.
            let response = try await instances.register(
                Instances.registration(
                    id, url: "https://example.com/old", at: Self.now.addingTimeInterval(-1)))
            #expect(response.instance.launches == kept)
            #expect(try await instances.stores.count("SELECT count(*) FROM doorstep.launches") == kept.count)
        }
    }

    @Test func tokenMovesToTheInstanceThatReportsIt() async throws {
        try await Instances.with { instances in
            let other = InstanceID(UUID())
            let token = try Instances.token(1)
            try await instances.register(Instances.registration(id, tokens: [.device: token]))
            let response = try await instances.register(
                Instances.registration(other, tokens: [.device: token]))
            #expect(response.isNew && response.instance.hasToken)
            #expect(try await instances.tokens(of: id) == ["-device "])
            #expect(try await instances.tokens(of: other) == ["device "])
            // The launch is stored again when the first URL is launched again.
            let back = try await instances.register(
                Instances.registration(id, at: Self.now.addingTimeInterval(1), tokens: [.device: token]))
            #expect(!back.isNew && back.instance.hasToken)
            #expect(try await instances.tokens(of: other) == ["-device "])
        }
    }

    @Test func retiredTokenIsReplacedByNewReport() async throws {
        try await Instances.with { instances in
            let registration = try Instances.registration(id, tokens: [.device: Instances.token(1)])
            try await instances.register(registration)
            try await instances.execute("UPDATE doorstep.push_tokens SET retired_at = now()")
            #expect(
                try await instances.store.instance(id, of: instances.tenant)?.hasToken == false)
            #expect(try await instances.register(registration).instance.hasToken)
            // A report without tokens deletes no tokens.
            #expect(
                try await instances.register(
                    Instances.registration(id, at: Self.now.addingTimeInterval(1), permission: .denied)
                ).instance.hasToken)
        }
    }

    @Test func activitiesAreAddedRemovedAndExpire() async throws {
        try await Instances.with { instances in
            let (store, tenant) = (instances.store, instances.tenant)
            // The time at which the store reads.
            let now = Date()
            #expect(
                try await !store.setToken(
                    Instances.token(1), ofActivity: "a", for: id, of: tenant, at: now))
            try await instances.register(
                Instances.registration(id, tokens: [.start(attributesType: "Order"): Instances.token(9)]))
            for number in 0..<Instance.maximumActivities + 2 {
                #expect(
                    try await store.setToken(
                        Instances.token(100 + number), ofActivity: "activity-\(number)", for: id, of: tenant,
                        at: now.addingTimeInterval(Double(number) - 60)))
            }
            let instance = try #require(try await store.instance(id, of: tenant))
            #expect(instance.startableTypes == ["Order"])
            #expect(
                Set(instance.activities)
                    == Set((2..<Instance.maximumActivities + 2).map { "activity-\($0)" }))
            #expect(try await store.removeActivity("activity-5", for: id, of: tenant))
            #expect(try await !store.removeActivity("activity-5", for: id, of: tenant))
            #expect(try await store.instance(id, of: tenant)?.activities.contains("activity-5") == false)
            // Expired launches are hidden before they are pruned.
            #expect(
                try await store.setToken(
                    Instances.token(7), ofActivity: "over", for: id, of: tenant,
                    at: now.addingTimeInterval(-Instance.activityLifetime - 60)))
            #expect(try await store.instance(id, of: tenant)?.activities.contains("over") == false)
        }
    }

    @Test func fullAppLosesTheClipsTokens() async throws {
        try await Instances.with { instances in
            try await instances.register(
                Instances.registration(
                    id,
                    tokens: [.device: Instances.token(1), .start(attributesType: "X"): Instances.token(2)]))
            let later = Self.now.addingTimeInterval(10)
            let full = try await instances.register(Instances.registration(id, at: later, app: .full))
            #expect(full.instance.app == .full && !full.instance.hasToken)
            #expect(full.instance.startableTypes == [])
            let given = try await instances.register(
                Instances.registration(
                    id, at: later.addingTimeInterval(1), app: .full, tokens: [.device: Instances.token(3)]))
            #expect(given.instance.hasToken)
            // A token that is reported again stays.
            let clip = try await instances.register(
                Instances.registration(
                    id, at: later.addingTimeInterval(2), tokens: [.device: Instances.token(3)]))
            #expect(clip.instance.app == .clip && clip.instance.hasToken)
        }
    }

    @Test func oldestOfTooManyStartTokensAreDeleted() async throws {
        try await Instances.with { instances in
            for number in 0..<20 {
                try await instances.register(
                    Instances.registration(
                        id, at: Self.now.addingTimeInterval(Double(number)),
                        tokens: [.start(attributesType: "T\(number)"): Instances.token(number)]),
                    at: Self.now.addingTimeInterval(Double(number)))
            }
            let types = try #require(try await instances.store.instance(id, of: instances.tenant))
                .startableTypes
            #expect(Set(types) == Set((4..<20).map { "T\($0)" }))
        }
    }

    @Test func deletedInstanceLeavesNoRows() async throws {
        try await Instances.with { instances in
            let (store, tenant) = (instances.store, instances.tenant)
            try await instances.register(
                Instances.registration(id, tokens: [.device: Instances.token(1)]))
            #expect(try await store.delete(id, of: tenant))
            #expect(try await !store.delete(id, of: tenant))
            #expect(try await store.instance(id, of: tenant) == nil)
            for table in ["instances", "launches", "push_tokens"] {
                #expect(
                    try await instances.stores.count("SELECT count(*) FROM doorstep.\(identifier: table)")
                        == 0)
            }
        }
    }

    @Test func anotherTenantsInstanceIsUnknown() async throws {
        try await Instances.with { instances in
            let (stores, store) = (instances.stores, instances.store)
            let other = try await stores.createTenant("other")
            try await stores.createClip(of: other)
            let token = try Instances.token(1)
            let registration = try Instances.registration(id, tokens: [.device: token])
            try await instances.register(registration)
            #expect(try await store.instance(id, of: other) == nil)
            #expect(try await !store.delete(id, of: other))
            #expect(try await !store.setToken(token, ofActivity: "a", for: id, of: other, at: Self.now))
            #expect(try await !store.removeActivity("a", for: id, of: other))
            // The other tenant may have the same ID and token. The first tenant's instance does not change.
            let theirs = try #require(
                try await store.register(registration, of: other, at: Self.now).stored)
            #expect(theirs.isNew)
            #expect(try await instances.tokens(of: id) == ["device ", "device "])
            #expect(try await store.delete(id, of: other))
            #expect(try await store.instance(id, of: instances.tenant)?.hasToken == true)
        }
    }

    @Test func registrationForDeletedClipOrTenantIsRejected() async throws {
        try await Instances.with { instances in
            for (clip, tenant) in [
                ("com.example.Other.Clip", instances.tenant), (Instances.clip, TenantID(UUID())),
            ] {
                let stored = try await instances.store.register(
                    Instances.registration(id, clip: clip), of: tenant, at: Self.now)
                #expect(stored == .refused(.unknownClip))
            }
            #expect(try await instances.stores.count("SELECT count(*) FROM doorstep.instances") == 0)
        }
    }

    @Test func unreachableDatabaseIsReportedUnavailable() async throws {
        try await Instances.with { instances in
            let keys = try #require(SealingKeys(secrets: [Instances.secret]))
            // No server listens at this address.
            let nowhere = PoolConfiguration(
                conninfo: "host=127.0.0.1 port=1 dbname=nothing", maximumConnections: 1,
                acquireTimeout: .seconds(5))
            try await ConnectionPool.withPool(nowhere) { pool in
                let store = PostgresInstanceStore(pool, keys: keys)
                await #expect(throws: StoreUnavailable.self) {
                    try await store.instance(id, of: instances.tenant)
                }
                await #expect(throws: StoreUnavailable.self) {
                    try await store.register(
                        Instances.registration(id), of: instances.tenant, at: Self.now)
                }
            }
        }
    }

    // MARK: Races

    @Test func concurrentReportsMakeOneInstance() async throws {
        try await Instances.with { instances in
            let new = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        try await instances.register(
                            Instances.registration(
                                id, url: "https://example.com/\(number % 10)",
                                at: Self.now.addingTimeInterval(Double(number)),
                                tokens: [.device: Instances.token(number % 3)])
                        ).isNew
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(new == 1)
            let instance = try #require(try await instances.store.instance(id, of: instances.tenant))
            #expect(instance.launchedAt == Self.now.addingTimeInterval(39))
            #expect(
                instance.launches.map(\.launchedAt)
                    == (30..<40).reversed().map { Self.now.addingTimeInterval(Double($0)) })
        }
    }

    /// In any order of arrival, one of the instances has the token in the end.
    @Test func tokenBelongsToOneInstance() async throws {
        try await Instances.with { instances in
            let ids = (0..<12).map { _ in InstanceID(UUID()) }
            let token = try Instances.token(1)
            try await withThrowingTaskGroup { group in
                for id in ids {
                    group.addTask {
                        try await instances.register(
                            Instances.registration(id, tokens: [.device: token]))
                    }
                }
                try await group.waitForAll()
            }
            #expect(
                try await instances.stores.count(
                    "SELECT count(*) FROM doorstep.push_tokens WHERE retired_at IS NULL") == 1)
            #expect(try await instances.stores.count("SELECT count(*) FROM doorstep.push_tokens") == 12)
        }
    }

    // MARK: Secrecy

    /// No row, and no log of the database, contains a token in any spelling.
    @Test func rowsContainNoPlainToken() async throws {
        try await Instances.with { instances in
            let canary = try #require(PushToken(hex: "c0ffee15bad1dea5c0ffee15bad1dea5"))
            try await instances.register(
                Instances.registration(
                    id, tokens: [.device: canary, .start(attributesType: "Order"): canary]))
            _ = try await instances.store.setToken(
                canary, ofActivity: "a", for: id, of: instances.tenant, at: Date())
            try await instances.stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    var dump = ""
                    for table in try await transaction.tenantTables() {
                        for row in try await transaction.execute(
                            "SELECT t::text FROM doorstep.\(identifier: table) AS t")
                        {
                            dump += try row.decode(at: 0, as: String.self) + "\n"
                        }
                    }
                    #expect(dump.contains(id.description) && dump.contains("Order"))
                    let base64 = Data(canary.bytes).base64EncodedString()
                    for text in [canary.hex, canary.hex.uppercased(), String(base64.prefix(16))] {
                        #expect(!dump.contains(text))
                    }
                }
            }
        }
    }

    @Test func adminRoleCannotReadTokens() async throws {
        try await Instances.with { instances in
            try await instances.register(
                Instances.registration(id, tokens: [.device: Instances.token(1)]))
            for column in ["sealed", "digest"] {
                let state = try await sqlState {
                    try await instances.stores.administer(
                        instances.tenant, "SELECT \(column) FROM doorstep.push_tokens")
                }
                #expect(state == "42501", "\(column)")
            }
        }
    }

    // MARK: Rotation

    @Test func tokensAreResealedWhileInstancesReport() async throws {
        try await Instances.with { instances in
            let (stores, tenant) = (instances.stores, instances.tenant)
            let ids = (0..<1_200).map { _ in InstanceID(UUID()) }
            for (number, id) in ids.enumerated() {
                try await instances.register(
                    Instances.registration(id, tokens: [.device: Instances.token(number)]))
            }
            let secrets = [String(repeating: "t", count: 32), Instances.secret]
            let rotated = try Instances(stores, tenant, secrets: secrets)
            // The token has a digest of another secret. The store finds it and seals it again.
            let moved = InstanceID(UUID())
            try await rotated.register(
                Instances.registration(moved, tokens: [.device: Instances.token(0)]))
            #expect(try await instances.tokens(of: ids[0]) == ["-device "])
            try await rotated.register(
                Instances.registration(ids[1], tokens: [.device: Instances.token(1)]))

            let keys = try #require(SealingKeys(secrets: secrets))
            let resealing = TokenResealing(stores.appPool, keys: keys)
            #expect(try await resealing.reseal(tenant) == .init(resealed: 1_199))
            #expect(try await resealing.reseal(tenant) == .init())
            // The old secret is no longer needed.
            let newest = try #require(SealingKeys(secrets: [secrets[0]]))
            let sealed = try await stores.appPool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                return try await transaction.execute(
                    "SELECT instance_id, sealed, digest FROM doorstep.push_tokens"
                ).map { try $0.decode(UUID.self, [UInt8].self, [UInt8].self) }
            }
            #expect(sealed.count == 1_201)
            for (id, sealed, digest) in sealed {
                let token = try #require(
                    newest.of(tenant).openToken(sealed, for: InstanceID(id), at: .device))
                #expect(newest.of(tenant).digests(of: token) == [digest])
            }
            // If no secret opens the tokens, they are counted and left.
            let stranger = try #require(SealingKeys(secrets: [String(repeating: "x", count: 32)]))
            #expect(
                try await TokenResealing(stores.appPool, keys: stranger).reseal(tenant)
                    == .init(unreadable: 1_201))
        }
    }

    /// The row is found by the digest of the old secret. When its lock is granted, it has the digest of the new one.
    @Test func tokenResealedMeanwhileStaysWithOneInstance() async throws {
        try await Instances.with { instances in
            let (stores, tenant) = (instances.stores, instances.tenant)
            let (first, second) = (InstanceID(UUID()), InstanceID(UUID()))
            let token = try Instances.token(1)
            try await instances.register(Instances.registration(first, tokens: [.device: token]))
            let secrets = [String(repeating: "t", count: 32), Instances.secret]
            let rotated = try Instances(stores, tenant, secrets: secrets)
            let digest = try #require(SealingKeys(secrets: secrets)).of(tenant).digests(of: token)[0]
            try await withThrowingTaskGroup { group in
                try await stores.appPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        "UPDATE doorstep.push_tokens SET digest = \(digest) WHERE instance_id = \(first.uuid)"
                    )
                    group.addTask {
                        try await rotated.register(
                            Instances.registration(second, tokens: [.device: token]))
                    }
                    try await stores.waitForWaiters()
                }
                try await group.waitForAll()
            }
            #expect(try await instances.tokens(of: first) == ["-device "])
            #expect(try await instances.tokens(of: second) == ["device "])
        }
    }

    /// The second report locks nothing that the first one needs before the first one ends.
    @Test(arguments: [true, false]) func concurrentReportsOfInstanceDoNotDeadlock(
        isKnown: Bool
    ) async throws {
        try await Instances.with { instances in
            let (stores, tenant) = (instances.stores, instances.tenant)
            if isKnown { try await instances.register(Instances.registration(id)) }
            let reports: [InstanceRegistration] = [
                try Instances.registration(id, tokens: [.device: Instances.token(1)]),
                try Instances.registration(
                    id,
                    tokens: [.device: Instances.token(1), .start(attributesType: "X"): Instances.token(2)]),
            ]
            try await withThrowingTaskGroup { group in
                try await stores.appPool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    // Reports wait for the row of the instance, which exists or is being inserted.
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.instances AS i
                            (tenant_id, instance_id, bundle_id, app, environment, permission, launched_at)
                        VALUES (\(tenant.uuid), \(id.uuid), \(Instances.clip), 'clip', 'production', 'ephemeral',
                            \(Self.now))
                        ON CONFLICT (tenant_id, instance_id) DO UPDATE SET launched_at = i.launched_at
                        """)
                    for (number, report) in reports.enumerated() {
                        group.addTask { try await instances.register(report) }
                        try await stores.waitForWaiters(number + 1)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await instances.tokens(of: id) == ["device ", "start X"])
        }
    }

    // MARK: Administration

    @Test func instancesAreFilteredByLaunchURL() async throws {
        try await Instances.with { instances in
            let catalogue = PostgresInstanceCatalogue(instances.stores.adminPool)
            let paths = ["a", "a/order/1", "a?x=1", "a?x=1&y=2", "ab", "b"]
            var ids: [String: InstanceID] = [:]
            for (number, path) in paths.enumerated() {
                let id = InstanceID(UUID())
                ids[path] = id
                try await instances.register(
                    Instances.registration(
                        id, url: "https://example.com/\(path)", location: path == "b" ? "b" : "a",
                        at: Self.now.addingTimeInterval(Double(number)),
                        tokens: path == "b" ? [.device: Instances.token(1)] : [:]))
            }
            func list(_ selection: InstanceSelection) async throws -> [String] {
                try await instances.latest(selection).compactMap { found in
                    ids.first { $0.value == found.id }?.key
                }
            }
            #expect(try await list(InstanceSelection()) == paths.reversed())
            #expect(try await list(InstanceSelection(location: LocationIdentifier("b"))) == ["b"])
            #expect(try await list(InstanceSelection(clip: BundleID("com.example.Other.Clip"))) == [])
            for (url, expected) in [
                ("a", ["a?x=1&y=2", "a?x=1", "a/order/1", "a"]), ("a?x=1", ["a?x=1&y=2", "a?x=1"]),
                ("a/order", ["a/order/1"]), ("ab", ["ab"]), ("c", []),
            ] {
                let selection = InstanceSelection(url: try InvocationURL("https://example.com/\(url)"))
                #expect(try await list(selection) == expected, "\(url)")
            }
            let b = try #require(
                try await instances.latest(InstanceSelection()).first)
            #expect(b.hasToken && b.launchCount == 1 && b.activityCount == 0)
            #expect(try await catalogue.delete(b.id, of: instances.tenant))
            #expect(try await !catalogue.delete(b.id, of: instances.tenant))
            #expect(try await instances.tokens(of: b.id) == [])
        }
    }
}

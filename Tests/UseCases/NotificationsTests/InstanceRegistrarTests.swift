import APNsPayload
import AppAttest
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import Receipts
import Synchronization
import Tenancy
import Testing
import ValueFixtures

/// Decisions about reports, without HTTP and without a database.
@Suite struct InstanceRegistrarTests {
    /// A store that records its calls and reports that the clip was deleted.
    private final class Recorder: InstanceStore {
        let kept = Mutex<[InstanceRegistration]>([])

        func register(
            _ registration: InstanceRegistration, mayBeNew: Bool, of tenant: TenantID, at now: Date
        ) async throws -> Registration {
            kept.withLock { $0.append(registration) }
            return .refused(.unknownClip)
        }

        func owner(of id: InstanceID, of tenant: TenantID) async throws -> InstanceOwner? { nil }
        func instance(_ id: InstanceID, of tenant: TenantID) async throws -> Instance? { nil }
        func delete(_ id: InstanceID, of tenant: TenantID) async throws -> Bool { false }
        func setToken(
            _ token: PushToken, ofActivity activity: String, for id: InstanceID, of tenant: TenantID,
            at now: Date
        ) async throws -> Bool { false }
        func removeActivity(
            _ activity: String, for id: InstanceID, of tenant: TenantID
        ) async throws -> Bool { false }
    }

    private let court: FoodCourt

    init() throws {
        court = try FoodCourt()
    }

    /// A receipt that is a minute old.
    private func receipt(
        _ location: String?, _ outcome: Receipt.Outcome = .inRegion, evidence: Receipt.Evidence = .device
    ) throws -> Receipt {
        Receipt(
            tenant: court.tenant, location: try location.map { try LocationIdentifier($0) }, outcome: outcome,
            evidence: evidence, isCertain: true, minute: court.now - 60)
    }

    /// The stored values of a report, or the reason why it is refused.
    private func decide(
        _ url: String?, clip: String? = nil, launchedAt: Date? = nil, proof: Receipt? = nil,
        in table: LookupIndex? = nil
    ) async throws -> (InstanceRegistration?, Registration) {
        let store = Recorder()
        let invocation = try url.map { try InvocationURL($0) }
        let report = LaunchReport(
            instance: InstanceID(UUID()), url: invocation, clip: try clip.map { try BundleID($0) },
            app: .clip, environment: .sandbox,
            permission: .ephemeral, token: PushToken([UInt8](repeating: 1, count: 32)),
            startTokens: ["Order": try #require(PushToken([UInt8](repeating: 2, count: 32)))],
            launchedAt: launchedAt)
        let result = try await InstanceRegistrar(store).register(
            report, proof: proof, in: (table ?? court.table).of(court.tenant), at: court.now)
        return (store.kept.withLock { $0.first }, result)
    }

    @Test func launchBelongsToExperiencesClip() async throws {
        let (kept, _) = try await decide("HTTPS://Example.com/restaurants/restaurant_a/order/1234/#top")
        let registration = try #require(kept)
        #expect(registration.clip?.text == FoodCourt.clip)
        #expect(registration.launch?.url == FoodCourt.order)
        #expect(registration.launch?.experience == "https://example.com/restaurants/restaurant_a/order")
        #expect(Set(registration.tokens.keys) == [.device, .start(attributesType: "Order")])
    }

    @Test func futureLaunchTimeCountsAsNow() async throws {
        for (offset, expected) in [(nil, 0.0), (-60, -60), (0, 0), (1, 0), (86_400, 0)] as [(Double?, Double)]
        {
            let launchedAt = offset.map { court.now.addingTimeInterval($0) }
            let (kept, _) = try await decide(FoodCourt.order, launchedAt: launchedAt)
            #expect(kept?.launch?.launchedAt == court.now.addingTimeInterval(expected))
            #expect(kept?.launchedAt == court.now.addingTimeInterval(expected))
        }
    }

    /// A launch from a notification or the App Switcher belongs to the named or known clip, and to no business.
    @Test func launchWithoutURLHasNoBusiness() async throws {
        for clip in [nil, FoodCourt.clip, "com.example.Other.Clip"] {
            let (kept, result) = try await decide(nil, clip: clip, launchedAt: court.now - 60)
            let registration = try #require(kept)
            #expect(registration.clip?.text == clip && registration.launch == nil)
            #expect(registration.launchedAt == court.now - 60)
            #expect(result == .refused(.unknownClip))
        }
        let (named, _) = try await decide(FoodCourt.order, clip: FoodCourt.clip)
        #expect(named?.clip?.text == FoodCourt.clip && named?.launch?.url == FoodCourt.order)
        let (kept, result) = try await decide(FoodCourt.order, clip: "com.example.Other.Clip")
        #expect(kept == nil && result == .refused(.otherClip))
    }

    /// Includes receipts of older servers, without the claim about evidence.
    @Test(arguments: Receipt.Evidence.allCases) func proofWithoutEvidenceConfirmsNothing(
        evidence: Receipt.Evidence
    ) async throws {
        var table = court.table
        try table.set(.locations, .location(court.tenant, "restaurant_a"))
        let url = try InvocationURL(FoodCourt.order)
        let store = Recorder()
        let report = LaunchReport(
            instance: InstanceID(UUID()), url: url, clip: nil, app: .clip, environment: .sandbox,
            permission: .ephemeral, token: nil, startTokens: [:], launchedAt: nil)
        _ = try await InstanceRegistrar(store).register(
            report,
            proof: receipt("restaurant_a", evidence: evidence),
            in: table.of(court.tenant), at: court.now)
        let launch = try #require(store.kept.withLock { $0.first }?.launch)
        #expect(launch.confirmedAt == (evidence == .none ? nil : court.now - 60))
    }

    /// A receipt does not name its clip, so the clip's policy does not matter.
    @Test(arguments: ClipAttestation.ConfirmationDemand.allCases, RequestAttestation.Grade.allCases)
    func proofCountsOnlyIfAttestedAsClipRequires(
        demand: ClipAttestation.ConfirmationDemand, grade: RequestAttestation.Grade
    ) async throws {
        for environment in AttestationEnvironment.allCases {
            var table = court.table
            try table.set(.locations, .location(court.tenant, "restaurant_a"))
            let policy = ClipAttestation(confirm: demand, environments: [.production])
            try table.set(
                .clips,
                .clip(
                    court.tenant, FoodCourt.clip, isMultiBusiness: true,
                    attestation: JSONValue.object(policy.json).text))
            let attestation =
                grade == .none ? .none : RequestAttestation(grade: grade, environment: environment)
            let proof = try Receipt(
                tenant: court.tenant, location: LocationIdentifier("restaurant_a"), outcome: .inRegion,
                evidence: .coordinate, isCertain: true, attestation: attestation, minute: court.now)
            let (kept, _) = try await decide(FoodCourt.order, proof: proof, in: table)
            let counts =
                switch (demand, grade) {
                case (.off, _), (.monitor, _): true
                case (.require, .token), (.require, .request), (.requireSigned, .request):
                    environment == .production
                default: false
                }
            #expect((kept?.launch?.confirmedAt != nil) == counts, "\(environment)")
        }
    }

    /// A device knows the experience of the scanned URL, but not the target of a short code.
    @Test func launchByShortCodeBelongsToScannedExperience() async throws {
        var table = court.table
        try table.set(.locations, .location(court.tenant, "restaurant_a"))
        let urls = [
            "own": FoodCourt.order, "others": "https://bikes.example.com/demo",
            "none": "https://nobody.example/",
        ]
        for (code, url) in urls { try table.set(.shortCodes, .shortCode(court.tenant, code, url)) }
        for (code, location) in [("own", "restaurant_a"), ("others", nil), ("none", nil), ("unknown", nil)] {
            let url = "https://example.com/hash?h=\(code)"
            let (kept, _) = try await decide(url, clip: FoodCourt.clip, in: table)
            let registration = try #require(kept, "\(code)")
            #expect(registration.clip?.text == FoodCourt.clip)
            #expect(registration.launch?.url == url)
            #expect(registration.launch?.experience == "https://example.com/hash")
            #expect(registration.launch?.location?.text == location)
        }
        let (kept, result) = try await decide(
            "https://example.com/hash?h=others", clip: "com.example.Bikes.Clip", in: table)
        #expect(kept == nil && result == .refused(.otherClip))
    }

    /// This also holds if the signature is invalid, so that no location is found.
    @Test func positionInURLIsNotStored() async throws {
        let (kept, _) = try await decide("https://example.com/place?lat=1&lon=2&sig=AAAA")
        #expect(kept?.launch?.url == "https://example.com/place")
    }

    @Test func rejectedRegistrationIsNotStored() async throws {
        let (kept, result) = try await decide("https://nobody.example/")
        #expect(kept == nil && result == .refused(.doesNotMatch))
        for (outcome, defect) in [
            (Receipt.Outcome.notInRegion, RegistrationRefusal.ProofDefect.notInRegion),
            (.inRegion, .noLocation),
        ] {
            let proof = try receipt(nil, outcome)
            let (kept, result) = try await decide(FoodCourt.order, proof: proof)
            #expect(kept == nil && result == .refused(.proof(defect)))
            // Without a URL, the proof belongs to nothing.
            let (launch, refusal) = try await decide(nil, clip: FoodCourt.clip, proof: proof)
            #expect(launch == nil && refusal == .refused(.proof(defect)))
        }
    }

    /// The store reports that the clip has just been deleted.
    @Test func deletedClipDoesNotMatch() async throws {
        #expect(try await decide(FoodCourt.order).1 == .refused(.doesNotMatch))
    }
}

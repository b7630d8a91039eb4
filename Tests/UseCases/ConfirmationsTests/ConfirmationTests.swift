import Confirmations
import Foundation
import Geodesy
import Invocation
import Lookups
import Receipts
import Testing

private typealias Evidence = ConfirmationRequest.Evidence

@Suite struct ConfirmationTests {
    private static let known = "https://example.com/bound"
    private static let unknown = "https://example.com/query?id=b"
    private let bakery: Bakery
    private let now = Date(timeIntervalSince1970: 1_772_368_245.75)

    init() throws {
        bakery = try Bakery()
    }

    private func confirm(
        _ evidence: Evidence, url: String = known, from source: InvocationSource = .nfc,
        access: ConfirmationRequest.LocationAccess = .allowed, in other: Bakery? = nil
    ) throws -> Confirmations.Confirmation {
        let request = ConfirmationRequest(
            url: try InvocationURL(url), source: source, access: access, evidence: evidence)
        let bakery = other ?? bakery
        let table = bakery.table()
        return bakery.confirmer.confirm(request, table.lookUp(request.url), in: table, at: now)
    }

    private func at(
        _ latitude: Double, _ longitude: Double, accuracy: Double? = nil
    ) throws -> Evidence {
        .coordinate(
            try Coordinate(latitude: latitude, longitude: longitude),
            horizontalAccuracy: accuracy.map { Distance(meters: $0) })
    }

    /// At the center of the location.
    private var inside: Evidence {
        .coordinate(bakery.center, horizontalAccuracy: Distance(meters: 5))
    }

    // MARK: The order

    @Test(arguments: [
        unknown, "https://example.com/unbound", "https://example.com/gone", "https://example.org",
        "http://example.com/bound",
    ])
    func confirmationWithoutLocationDoesNotMatchForAnyEvidence(url: String) throws {
        let evidence: [Evidence] = [
            .none, inside, .device(.inRegion(true)), .device(.inRegion(false)), .device(.error(code: 1)),
        ]
        for evidence in evidence {
            for source in InvocationSource.allCases {
                for access in ConfirmationRequest.LocationAccess.allCases {
                    let confirmation = try confirm(evidence, url: url, from: source, access: access)
                    #expect(confirmation.outcome == .doesNotMatch)
                    #expect(confirmation.isCertain)
                    #expect(confirmation.error == .doesNotMatch)
                    #expect(confirmation.location == nil)
                    #expect(confirmation.evidence == .none)
                }
            }
        }
    }

    @Test(arguments: InvocationSource.allCases, ConfirmationRequest.LocationAccess.allCases)
    func nonPhysicalSourceOrDeniedAccessIsDisallowed(
        source: InvocationSource, access: ConfirmationRequest.LocationAccess
    ) throws {
        let isAllowed =
            ["nfc", "app_clip_code", "qr_code", "unknown"].contains(source.rawValue) && access != .denied
        let confirmation = try confirm(inside, from: source, access: access)
        #expect(confirmation.outcome == (isAllowed ? .inRegion : .disallowed))
        #expect(confirmation.error == (isAllowed ? nil : .disallowed))
        #expect((confirmation.location == nil) == !isAllowed)
        #expect(confirmation.isCertain)
        #expect(confirmation.evidence == (isAllowed ? .coordinate : .none))
        for evidence in [Evidence.none, try at(37.334722, -122, accuracy: -1)] {
            let confirmation = try confirm(evidence, from: source, access: access)
            #expect(confirmation.outcome == (isAllowed ? .undetermined : .disallowed))
            #expect(confirmation.evidence == .none)
        }
    }

    @Test(arguments: InvocationSource.allCases, ConfirmationRequest.LocationAccess.allCases)
    func deviceResultPrecedesSourceAndAccess(
        source: InvocationSource, access: ConfirmationRequest.LocationAccess
    ) throws {
        for (result, outcome) in [
            (.inRegion(true), .inRegion), (.inRegion(false), .notInRegion), (.error(code: 1), .disallowed),
            (.error(code: 2), .doesNotMatch), (.error(code: -1), .undetermined),
        ] as [(ConfirmationRequest.DeviceResult, Confirmations.Confirmation.Outcome)] {
            let confirmation = try confirm(.device(result), from: source, access: access)
            #expect(confirmation.outcome == outcome)
            #expect(confirmation.evidence == .device)
        }
    }

    @Test func sourcesAndAccessValuesMatchContract() {
        #expect(
            InvocationSource.allCases.map(\.rawValue) == [
                "nfc", "app_clip_code", "qr_code", "maps", "messages", "mail", "safari", "spotlight", "siri",
                "app", "app_library", "notification", "unknown",
            ])
        #expect(
            ConfirmationRequest.LocationAccess.allCases.map(\.rawValue) == ["allowed", "denied", "unknown"])
    }

    // MARK: Evidence

    @Test func missingEvidenceIsUndetermined() throws {
        let withoutAccuracy = try at(37.334722, -122.008889, accuracy: -1)
        let barely = try at(37.334722, -122.008889, accuracy: -.leastNonzeroMagnitude)
        for evidence in [Evidence.none, withoutAccuracy, barely] {
            let confirmation = try confirm(evidence)
            #expect(confirmation.outcome == .undetermined)
            #expect(!confirmation.isCertain)
            #expect(confirmation.error?.code == -1)
            #expect(confirmation.location?.name == "Bakery A")
        }
    }

    @Test func deviceResultIsUsedUnchanged() throws {
        let here = try confirm(.device(.inRegion(true)))
        #expect(here.outcome == .inRegion && here.isCertain && here.error == nil)
        #expect(here.location?.identifier.text == "a")
        let away = try confirm(.device(.inRegion(false)))
        #expect(away.outcome == .notInRegion && away.isCertain && away.error == nil)
        #expect(away.location?.identifier.text == "a")
    }

    @Test(arguments: [
        (1, Confirmations.Confirmation.Outcome.disallowed, "disallowed"), (2, .doesNotMatch, "doesNotMatch"),
        (-1, .undetermined, "undetermined"), (0, .undetermined, "undetermined"),
        (77, .undetermined, "undetermined"),
    ])
    func deviceErrorDeterminesOutcome(
        code: Int, outcome: Confirmations.Confirmation.Outcome, name: String
    ) throws {
        let confirmation = try confirm(.device(.error(code: code)))
        #expect(confirmation.outcome == outcome)
        #expect(confirmation.error?.code == code)
        #expect(confirmation.error?.name == name)
        #expect(confirmation.isCertain == (outcome != .undetermined))
        #expect((confirmation.location != nil) == (outcome == .undetermined))
        #expect(ActivationError.domain == "APActivationPayloadErrorDomain")
    }

    // MARK: Distance

    @Test func boundaryBelongsToRegion() throws {
        let coordinate = try Coordinate(latitude: 37.335, longitude: -122.008)
        let distance = bakery.center.distance(to: coordinate).meters
        for (radius, outcome) in [
            (distance, Confirmations.Confirmation.Outcome.inRegion), (distance.nextDown, .notInRegion),
            (distance.nextUp, .inRegion),
        ] {
            let confirmation = try confirm(
                .coordinate(coordinate, horizontalAccuracy: Distance(meters: 0)),
                in: Bakery(radius: radius))
            #expect(confirmation.outcome == outcome)
            #expect(confirmation.isCertain)
            #expect(confirmation.error == nil)
        }
    }

    @Test func accuracyChangesCertaintyButNotOutcome() throws {
        let coordinate = try Coordinate(latitude: 37.3355, longitude: -122.008)
        let distance = bakery.center.distance(to: coordinate).meters
        let accuracies = [0, 1, distance / 2, distance, 500, 1e9, .infinity]
        for accuracy in accuracies {
            let evidence = Evidence.coordinate(coordinate, horizontalAccuracy: Distance(meters: accuracy))
            let away = try confirm(evidence, in: Bakery(radius: distance / 2))
            #expect(away.outcome == .notInRegion)
            // At half the distance, the circle touches the boundary, which counts as inside.
            #expect(away.isCertain == (accuracy < distance / 2))
            let here = try confirm(evidence, in: Bakery(radius: distance * 2))
            #expect(here.outcome == .inRegion)
            #expect(here.isCertain == (accuracy <= distance))
        }
    }

    @Test func accuracyCircleTouchingBoundaryFromInsideIsCertain() throws {
        for (accuracy, isCertain) in [(100.0, true), (100.0.nextUp, false)] {
            let confirmation = try confirm(
                .coordinate(bakery.center, horizontalAccuracy: Distance(meters: accuracy)))
            #expect(confirmation.outcome == .inRegion)
            #expect(confirmation.isCertain == isCertain)
        }
    }

    @Test func unknownAccuracyKeepsOutcome() throws {
        #expect(try confirm(.coordinate(bakery.center, horizontalAccuracy: nil)).outcome == .inRegion)
        #expect(try confirm(at(37.4, -122.008889)).outcome == .notInRegion)
    }

    /// A degree of a meridian is 111,694 m at a pole, one of the equator 111,319 m.
    @Test(arguments: [
        ((90.0, 0.0), (89.9999, 135.0), 11.17), ((90, 0), (89.9999, -180), 11.17),
        ((-90, 77), (-89.9999, 12), 11.17), ((89.9999, 0), (89.9999, 180), 22.34),
        ((0, 179.9999), (0, -179.9999), 22.26), ((0, 180), (0, -180), 0),
    ])
    func polesAndAntimeridianAreConfirmed(
        center: (Double, Double), place: (Double, Double), distance: Double
    ) throws {
        let near = try confirm(
            at(place.0, place.1), in: Bakery(center: center, radius: distance + 0.01))
        #expect(near.outcome == .inRegion)
        guard distance > 0 else { return }
        let far = try confirm(
            at(place.0, place.1), in: Bakery(center: center, radius: distance - 0.01))
        #expect(far.outcome == .notInRegion)
    }

    @Test func signedPositionIsConfirmedLikeStoredLocation() throws {
        let url = "https://example.com/place?lat=1&lon=2&sig=Z29vZA"
        #expect(try confirm(at(1.0005, 2), url: url).outcome == .inRegion)
        #expect(try confirm(at(1.001, 2), url: url).outcome == .notInRegion)
        #expect(
            try confirm(at(1, 2), url: "https://example.com/place?lat=1&lon=2&sig=YmFk").outcome
                == .doesNotMatch)
    }
}

import AppAttest
import Confirmations
import Foundation
import Geodesy
import Invocation
import Lookups
import Receipts
import Tenancy
import Testing
import ValueFixtures

@Suite struct ConfirmationRecordTests {
    private func request(
        _ url: String = "https://example.com/bound", source: InvocationSource = .nfc,
        access: ConfirmationRequest.LocationAccess = .allowed, evidence: ConfirmationRequest.Evidence = .none
    ) throws -> ConfirmationRequest {
        ConfirmationRequest(
            url: try InvocationURL(url), source: source, access: access, evidence: evidence)
    }

    /// The texts of a value in logs.
    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [dumped, String(describing: value), String(reflecting: value)]
    }

    @Test func confirmationIsRecordedOnceWithOutcomeAndSource() throws {
        let bakery = try Bakery()
        let cases: [(ConfirmationRequest, Confirmations.Confirmation.Outcome, location: String?)] = try [
            (request(evidence: .device(.inRegion(true))), .inRegion, "a"),
            (request(source: .qrCode, evidence: .device(.inRegion(false))), .notInRegion, "a"),
            (request(source: .appClipCode), .undetermined, "a"),
            (request(source: .maps), .disallowed, "a"),
            (request(access: .denied), .disallowed, "a"),
            (request(evidence: .device(.error(code: 2))), .doesNotMatch, "a"),
            (request("https://example.com/unbound"), .doesNotMatch, nil),
            (request("http://example.com/bound", source: .safari), .doesNotMatch, nil),
        ]
        for (request, _, _) in cases {
            _ = bakery.confirm(request)
        }
        let records = bakery.recorder.records
        #expect(records.map(\.record.outcome) == cases.map(\.1))
        #expect(records.map(\.record.source) == cases.map(\.0.source))
        #expect(records.map(\.record.location?.text) == cases.map(\.location))
        #expect(records.allSatisfy { $0.tenant == bakery.tenant })
    }

    @Test func lookupIsNotRecorded() throws {
        let bakery = try Bakery()
        #expect(try bakery.lookUp("https://example.com/bound").location != nil)
        #expect(bakery.recorder.records.isEmpty)
    }

    @Test(arguments: [
        (1_772_368_245.75, 1_772_368_200.0), (1_772_368_200, 1_772_368_200), (59.999, 0), (-0.5, -60),
        (-60, -60),
    ])
    func timeIsRecordedToMinute(now: Double, minute: Double) throws {
        let bakery = try Bakery()
        _ = bakery.confirm(try request(), at: Date(timeIntervalSince1970: now))
        let records = bakery.recorder.records
        #expect(records.map(\.record.minute) == [Date(timeIntervalSince1970: minute)])
    }

    @Test func descriptionsContainNoPosition() throws {
        let bakery = try Bakery(center: (12.345, 98.765), radius: 500)
        let evidence = ConfirmationRequest.Evidence.coordinate(
            try Coordinate(latitude: 12.345678, longitude: 98.765432),
            horizontalAccuracy: Distance(meters: 77.125))
        let request = try request(evidence: evidence)
        let confirmation = bakery.confirm(request)
        #expect(confirmation.outcome == .inRegion)
        let record = try #require(bakery.recorder.records.first).record
        let values: [Any] = [request, evidence, confirmation, record, ["request": request]]
        for text in values.flatMap(Self.texts) {
            for canary in ["12.345678", "98.765432", "77.125"] { #expect(!text.contains(canary)) }
        }
        // Control: the same search finds the numbers in other values.
        #expect(Self.texts(of: [12.345678]).allSatisfy { $0.contains("12.345678") })
    }

    @Test func requestDescriptionShowsSourceAndAccess() throws {
        #expect("\(try request(source: .qrCode))" == "confirmation from qr_code, access allowed")
    }

    @Test func simulatedFlagIsTrustedOnlyFromSignedRequest() throws {
        let bakery = try Bakery()
        let confirmation = bakery.confirm(try request("https://example.com/bound", evidence: .none))
        for grade in RequestAttestation.Grade.allCases {
            for isSimulated in [true, false, nil] {
                let receipt = Receipt(
                    confirmation, attested: RequestAttestation(grade: grade, environment: .production),
                    isSimulated: isSimulated, of: bakery.tenant, at: Date(timeIntervalSince1970: 119))
                #expect(receipt.isSimulated == (grade == .request ? isSimulated : nil))
            }
        }
    }

    @Test func signedPositionIsOmittedFromRecordAndReceipt() throws {
        let bakery = try Bakery()
        let url = "https://example.com/place?lat=1&lon=2&sig=Z29vZA"
        let confirmation = bakery.confirm(try request(url, evidence: .device(.inRegion(true))))
        #expect(confirmation.location?.identifier.text == "1,2")
        let record = try #require(bakery.recorder.records.first).record
        #expect(record.outcome == .inRegion)
        #expect(record.location == nil)
        let receipt = Receipt(confirmation, of: bakery.tenant, at: Date(timeIntervalSince1970: 119))
        #expect(receipt.location == nil && receipt.outcome == .inRegion && receipt.tenant == bakery.tenant)
        #expect(receipt.minute == Date(timeIntervalSince1970: 60))
    }

    @Test(arguments: [
        "http://example.com/bound", "https://example.com", "https://example.com/unbound",
        "https://example.com/gone", "https://example.com/hash?h=chain",
        "https://example.com/place?lat=1&lon=2&sig=YmFk",
    ])
    func unmatchedConfirmationIsRecordedOnceForAnyEvidence(url: String) throws {
        let bakery = try Bakery()
        let evidence: [ConfirmationRequest.Evidence] = [
            .none, .device(.inRegion(true)), .device(.error(code: 1)), .device(.error(code: 2)),
            .coordinate(bakery.center, horizontalAccuracy: nil),
        ]
        for (index, evidence) in evidence.enumerated() {
            #expect(bakery.confirm(try request(url, evidence: evidence)).outcome == .doesNotMatch)
            #expect(bakery.recorder.records.count == index + 1)
        }
        #expect(bakery.recorder.records.allSatisfy { $0.record.outcome == .doesNotMatch })
        #expect(bakery.recorder.records.allSatisfy { $0.record.location == nil })
    }

    @Test func confirmationIsRecordedForItsTenant() throws {
        let bakery = try Bakery()
        let tenants = [bakery.tenant, TenantID(number: 2), bakery.tenant]
        for tenant in tenants {
            _ = bakery.confirm(try request(evidence: .device(.inRegion(true))), of: tenant)
        }
        let records = bakery.recorder.records
        #expect(records.map(\.tenant) == tenants)
        #expect(records.map(\.record.outcome) == [.inRegion, .doesNotMatch, .inRegion])
        #expect(records.map(\.record.location?.text) == ["a", nil, "a"])
    }
}

extension Bakery {
    fileprivate func confirm(
        _ request: ConfirmationRequest, of other: TenantID? = nil,
        at now: Date = Date(timeIntervalSince1970: 0)
    ) -> Confirmations.Confirmation {
        let table = table(of: other)
        return confirmer.confirm(request, table.lookUp(request.url), in: table, at: now)
    }
}

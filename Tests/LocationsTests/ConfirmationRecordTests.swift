import Foundation
import Geodesy
import Invocation
import Locations
import Testing

@Suite struct ConfirmationRecordTests {
    private func request(
        _ url: String = "https://example.com/bound", source: InvocationSource = .nfc,
        access: ConfirmationRequest.LocationAccess = .allowed, evidence: ConfirmationRequest.Evidence = .none
    ) throws -> ConfirmationRequest {
        ConfirmationRequest(
            url: try InvocationURL(url), source: source, access: access, evidence: evidence)
    }

    /// The ways in which a value gets into a log.
    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [dumped, String(describing: value), String(reflecting: value)]
    }

    @Test func `Every confirmation is recorded once, with its outcome and source`() async throws {
        let bakery = try Bakery()
        let now = Date(timeIntervalSince1970: 0)
        let cases: [(ConfirmationRequest, Locations.Confirmation.Outcome, location: String?)] = try [
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
            _ = try await bakery.directory.confirm(request, of: bakery.tenant, at: now)
        }
        let records = await bakery.store.records.all
        #expect(records.map(\.record.outcome) == cases.map(\.1))
        #expect(records.map(\.record.source) == cases.map(\.0.source))
        #expect(records.map(\.record.location?.text) == cases.map(\.location))
        #expect(records.allSatisfy { $0.tenant == bakery.tenant })
    }

    @Test func `A look-up is not recorded`() async throws {
        let bakery = try Bakery()
        _ = try await bakery.directory.lookUp(InvocationURL("https://example.com/bound"), of: bakery.tenant)
        #expect(await bakery.store.records.all.isEmpty)
    }

    @Test(arguments: [
        (1_772_368_245.75, 1_772_368_200.0), (1_772_368_200, 1_772_368_200), (59.999, 0), (-0.5, -60),
        (-60, -60),
    ])
    func `The time is recorded to the minute`(now: Double, minute: Double) async throws {
        let bakery = try Bakery()
        _ = try await bakery.directory.confirm(
            request(), of: bakery.tenant, at: Date(timeIntervalSince1970: now))
        let records = await bakery.store.records.all
        #expect(records.map(\.record.minute) == [Date(timeIntervalSince1970: minute)])
    }

    @Test func `No number of a person's position is in any text`() async throws {
        let bakery = try Bakery(center: (12.345, 98.765), radius: 500)
        let evidence = ConfirmationRequest.Evidence.coordinate(
            try Coordinate(latitude: 12.345678, longitude: 98.765432),
            horizontalAccuracy: Distance(meters: 77.125))
        let request = try request(evidence: evidence)
        let confirmation = try await bakery.directory.confirm(request, of: bakery.tenant, at: Date())
        #expect(confirmation.outcome == .inRegion)
        let record = try #require(await bakery.store.records.all.first).record
        let values: [Any] = [request, evidence, confirmation, record, ["request": request]]
        for text in values.flatMap(Self.texts) {
            for canary in ["12.345678", "98.765432", "77.125"] { #expect(!text.contains(canary)) }
        }
        // The same search finds them where they are shown.
        #expect(Self.texts(of: [12.345678]).allSatisfy { $0.contains("12.345678") })
    }

    @Test func `A request still says what is no secret`() throws {
        #expect("\(try request(source: .qrCode))" == "confirmation from qr_code, access allowed")
    }

    @Test func `A signed place is not recorded, since its identifier is a coordinate`() async throws {
        let bakery = try Bakery()
        let url = "https://example.com/place?lat=1&lon=2&sig=Z29vZA"
        let confirmation = try await bakery.directory.confirm(
            request(url, evidence: .device(.inRegion(true))), of: bakery.tenant, at: Date())
        #expect(confirmation.location?.identifier.text == "1,2")
        let record = try #require(await bakery.store.records.all.first).record
        #expect(record.outcome == .inRegion)
        #expect(record.location == nil)
    }

    @Test(arguments: [MemoryLocationStore.Call.catalogue, .experiences, .location, .record])
    func `What the store throws is thrown, and no answer given`(call: MemoryLocationStore.Call) async throws {
        var bakery = try Bakery()
        bakery.store.failing = call
        await #expect(throws: MemoryLocationStore.Failure(call: call)) {
            try await bakery.directory.confirm(request(), of: bakery.tenant, at: Date())
        }
        #expect(await bakery.store.records.all.isEmpty)
    }

    /// A record is kept even of a URL that nothing can match, so a store that cannot keep it is no answer.
    @Test func `A confirmation that cannot be recorded is not given`() async throws {
        var bakery = try Bakery()
        bakery.store.failing = .record
        await #expect(throws: MemoryLocationStore.Failure(call: .record)) {
            try await bakery.directory.confirm(
                request("http://example.com/bound"), of: bakery.tenant, at: Date())
        }
    }
}
